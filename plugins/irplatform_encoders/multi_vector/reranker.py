"""Late interaction as a reranker: each word of the query looks for its nearest word (ColBERT)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform.plugin import Documents, Reads, Reranker, Resources, Topic, Traits
from irplatform_encoders.multi_vector.model import NAME
from irplatform_encoders.multi_vector.options import MultiVectorOptions
from irplatform_encoders.pretrained import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.kit import Float32
    from irplatform_encoders.multi_vector.model import TokenEncoder
    from irplatform_encoders.multi_vector.vectors import PartsOfDocuments, TokenVectorStore


class MultiVector(Reranker):
    """A model of late interaction of the user's, used as it is.

    Vectors of documents do not depend on the query: they are computed once and stored.
    """

    Options = MultiVectorOptions
    citation: ClassVar[str] = (
        "Omar Khattab, Matei Zaharia. ColBERT: Efficient and Effective Passage Search via "
        "Contextualized Late Interaction over BERT. SIGIR 2020."
    )
    options: MultiVectorOptions

    _resources: Resources
    _encoder: TokenEncoder
    _store: TokenVectorStore
    _threads: int

    def prepare(self, resources: Resources) -> None:
        from irplatform_encoders.multi_vector.model import TokenEncoder
        from irplatform_encoders.multi_vector.vectors import TokenVectorStore
        from irplatform_encoders.on_cpu import passes_at_a_time

        self._resources = resources
        self._threads = passes_at_a_time(resources)
        self._encoder = TokenEncoder(self.options, resources.device, self._threads)
        for note in self._encoder.notes:
            resources.notice(note)
        self._store = TokenVectorStore(resources, self._encoder)

    def traits(self) -> Traits:
        return Traits(packages=PACKAGES)

    def reads(self) -> Reads:
        from irplatform_encoders.multi_vector.model import depends_on

        return Reads(more=depends_on(self.options))

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Sums of the largest inner products; 0 for a text without words."""
        texts = [topic.query for topic, _ in batch]
        if self._encoder.cuts(texts):
            self._resources.notice(
                f"Queries are longer than the {self._encoder.longest_query} tokens that the model "
                f"reads of one: their ends are cut ({NAME}.query_length)"
            )
        queries = self._encoder.queries(texts)
        self._store.fill(list(dict.fromkeys(i for _, documents in batch for i in documents.ids)))
        return [
            self._scores(query, documents.ids).tolist()
            for (_, documents), query in zip(batch, queries, strict=True)
        ]

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        from irplatform_encoders.multi_vector.explanation import Explainer

        (query,) = self._encoder.queries([topic.query])
        explainer = Explainer(self._encoder, topic.query, query)
        explanations = []
        for document in documents:
            blocks = self._store.of([document.id])
            scores = [self._part_scores(query, parts) for parts in blocks] if len(query) else []
            if not scores or not len(scores[0]):
                explanations.append({"score": 0.0})
                continue
            part = int(np.argmax(scores[0]))
            vectors = blocks[0].vectors.of_text(part, self._encoder.width)
            explanations.append(
                {
                    "score": float(scores[0][part]),
                    **explainer.explain(document.text, part, vectors),
                }
            )
        return explanations

    def _scores(self, query: Float32, doc_ids: Sequence[str]) -> Float32:
        best = np.full(len(doc_ids), -np.inf)
        if len(query):
            for parts in self._store.of(doc_ids):
                np.maximum.at(best, parts.places, self._part_scores(query, parts))
        return np.where(np.isfinite(best), best, 0).astype(np.float32)

    def _part_scores(self, query: Float32, parts: PartsOfDocuments) -> Float32:
        from irplatform_encoders.multi_vector.maxsim import maxsim

        scores = maxsim(query, parts.vectors, self._resources.device, self._threads)
        return (scores / len(query) if self._encoder.mean else scores).astype(np.float32)
