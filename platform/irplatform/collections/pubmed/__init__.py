"""Articles in the XML of PubMed and MEDLINE, from NLM's files or its web service."""

from irplatform.collections.pubmed.articles import read_articles
from irplatform.collections.pubmed.record import Article, Deleted

__all__ = ["Article", "Deleted", "read_articles"]
