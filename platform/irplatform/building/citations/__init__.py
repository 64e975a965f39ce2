"""Judgments from citations: a sentence that cites an article is a query, the article is relevant.

Lo, Tian, Tao, Hao, Zhang (DeepSenSe): sentences with citations are taken from open-access full
text, cleaned, and split by citing article. Input is JATS XML, as PubMed Central distributes it.
"""
