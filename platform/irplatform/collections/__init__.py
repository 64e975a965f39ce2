"""What to search and judge: documents, topics and relevance judgments."""

from irplatform.collections.collection import Collection, Corpus, Qrels

__all__ = ["Collection", "Corpus", "Qrels"]
