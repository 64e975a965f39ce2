"""Click logs: graded judgments from them, and simulated ones for those who have none.

Mohan, Fiorini, Kim, Lu, "Deep Learning for Biomedical Information Retrieval: Learning Textual
Relevance from Click Logs" (BioNLP 2017) and "A Fast Deep Learning Model for Textual Relevance in
Biomedical Information Retrieval" (WWW 2018).
"""
