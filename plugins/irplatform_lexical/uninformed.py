"""Rankers that read neither topic nor document: what every other has to beat."""

from __future__ import annotations

from hashlib import blake2b
from typing import ClassVar

from irplatform.plugin import Documents, Reranker, Resources, Topic


class ReverseDocumentId(Reranker):
    """Ranks by decreasing document id, the uninformed ranker that every other has to beat."""

    citation: ClassVar[str] = (
        "“rev DocID” of Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. A Fast Deep Learning "
        "Model for Textual Relevance in Biomedical Information Retrieval. WWW 2018, table 2."
    )

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """The same score for all: every run breaks ties by decreasing document id, as text."""
        del topic
        return [0.0] * len(documents)


class RandomOrder(Reranker):
    """Ranks in a random order, which the seed draws; a document's place depends on no other."""

    def prepare(self, resources: Resources) -> None:
        self._seed = resources.seed

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """Numbers from 0 to 1, from a digest of seed, topic and document."""
        names = (f"{self._seed}\t{topic.id}\t{name}" for name in documents.ids)
        digests = (blake2b(name.encode(), digest_size=6).digest() for name in names)
        return [int.from_bytes(digest) / 2**48 for digest in digests]
