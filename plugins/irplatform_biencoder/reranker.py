"""The reranker that the harness sees: similarity of a query's and a document's vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform.plugin import Documents, Reranker, Resources, Topic
from irplatform_biencoder.options import BiEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform_biencoder.encoder import Encoder
    from irplatform_biencoder.vector_store import VectorStore

_SENTENCES = 3
"""Sentences of a document that an explanation has."""


class BiEncoder(Reranker):
    """A sentence-transformers model of the user's.

    It is used as it is: nothing is trained, and nothing is downloaded without being asked for.
    Document vectors do not depend on the query: they are computed once and stored.
    """

    Options = BiEncoderOptions
    needs = ("torch", "transformers", "sentence_transformers", "safetensors")
    citation: ClassVar[str] = (
        "Nils Reimers, Iryna Gurevych. Sentence-BERT: Sentence Embeddings using Siamese "
        "BERT-Networks. EMNLP 2019."
    )
    options: BiEncoderOptions

    _encoder: Encoder
    _store: VectorStore

    def prepare(self, resources: Resources) -> None:
        """Open the model."""
        from irplatform.training.in_threads import passes_at_a_time
        from irplatform_biencoder.encoder import Encoder
        from irplatform_biencoder.vector_store import VectorStore

        self._encoder = Encoder(self.options, resources.device, passes_at_a_time(resources))
        self._store = VectorStore(resources, self._encoder)

    def depends_on(self) -> Mapping[str, object]:
        """The model's files."""
        from irplatform_biencoder.encoder import depends_on

        return depends_on(self.options)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Score documents: cosines, or inner products where the model compares by them.

        It is 0 where a query or a document has no text. Each document is encoded once.
        """
        queries = self._encoder.queries([topic.query for topic, _ in batch])
        distinct = list(dict.fromkeys(i for _, documents in batch for i in documents.ids))
        place = {doc_id: number for number, doc_id in enumerate(distinct)}
        vectors = self._store.of(distinct)
        # A matrix product's last digit depends on how many documents there are.
        return [
            np.einsum("nd,d->n", vectors[[place[i] for i in documents.ids]], query).tolist()
            for (_, documents), query in zip(batch, queries, strict=True)
        ]

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        """The sentences of each document that are nearest to the query, read alone."""
        from irplatform.text.sentence_splitter import sentences as split

        (query,) = self._encoder.queries([topic.query])
        explanations = []
        for document, score in zip(documents, self.score(topic, documents), strict=True):
            sentences = [document.title, *split(document.abstract)]
            sentences = [sentence for sentence in sentences if sentence]
            similarities = self._encoder.documents(sentences) @ query
            best = np.argsort(-similarities, kind="stable")[:_SENTENCES]
            explanations.append(
                {
                    "score": score,
                    "sentences": [
                        {"score": float(similarities[i]), "sentence": sentences[i]} for i in best
                    ],
                }
            )
        return explanations
