"""Topics with a treatment, made of judged topics without one.

TREC Precision Medicine asks for a disease and a gene, and from 2020 on for a drug too. What learns
on the years before cannot learn what the drug is worth: topics are made here that name one.
"""
