"""The reranker that the harness sees: similarity of a query's and a document's vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.plugin import Documents, Reranker, Resources, Retriever, Topic
from irplatform.runs import Run
from irplatform.text.forward_index import FORWARD_INDEX_FORMAT
from irplatform_encoders.biencoder_options import BiEncoderOptions, RetrieverOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform_encoders.biencoder_model import Encoder
    from irplatform_encoders.vector_store import VectorStore


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
        from irplatform_encoders.biencoder_model import Encoder
        from irplatform_encoders.on_cpu import passes_at_a_time
        from irplatform_encoders.vector_store import VectorStore

        self._encoder = Encoder(self.options, resources.device, passes_at_a_time(resources))
        self._store = VectorStore(resources, self._encoder)

    def depends_on(self) -> Mapping[str, object]:
        """The model's files."""
        from irplatform_encoders.biencoder_model import depends_on

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
        from irplatform.text.vector_training import sentences as split

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


# The retriever: the documents whose vectors are nearest to the query's, through an index.


class BiEncoderSearch(Retriever):
    """Nearest documents by a bi-encoder's vectors, through FAISS."""

    Options = RetrieverOptions
    needs = (*BiEncoder.needs, "faiss")
    on_device = True
    seeded = False
    citation: ClassVar[str] = (
        f"{BiEncoder.citation} The index: Jeff Johnson, Matthijs Douze, Hervé Jégou. "
        "Billion-scale similarity search with GPUs. IEEE Transactions on Big Data 7, 2021."
    )
    options: RetrieverOptions
    _opened: tuple[Resources, Encoder, Any] | None = None

    def depends_on(self) -> Mapping[str, object]:
        """The model's files."""
        from irplatform_encoders.biencoder_model import depends_on

        return depends_on(self.options)

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank the documents nearest to each topic's query; an empty query finds nothing."""
        from irplatform_encoders.nearest import nearest

        encoder, index = self._open(resources)
        queries = encoder.queries([topic.query for topic in topics])
        doc_ids = resources.forward_index().doc_ids
        rankings = nearest(index, queries, depth, resources.threads, doc_ids)
        return Run(
            "bi-encoder",
            {topic.id: ranking for topic, ranking in zip(topics, rankings, strict=True)},
        )

    def _open(self, resources: Resources) -> tuple[Encoder, Any]:
        """The model and the index of all documents; features ask for a few topics at a time."""
        from irplatform_encoders.biencoder_model import Encoder
        from irplatform_encoders.nearest import open_index
        from irplatform_encoders.on_cpu import passes_at_a_time
        from irplatform_encoders.vector_store import VectorStore

        if self._opened is None or self._opened[0] is not resources:
            encoder = Encoder(self.options, resources.device, passes_at_a_time(resources))
            folder = self._index(VectorStore(resources, encoder), encoder, resources)
            self._opened = resources, encoder, open_index(folder, self.options.probes)
        return self._opened[1:]

    def _index(self, store: VectorStore, encoder: Encoder, resources: Resources) -> Path:
        from irplatform_encoders.nearest import FORMAT, build_index

        count, exact = store.count, self.options.compares_all(store.count)

        def build(folder: Path) -> None:
            with resources.progress("indexing vectors", count, "documents") as advance:
                build_index(folder, count, encoder.width, store.rows, exact=exact, advance=advance)

        store.fill("encoding documents")
        depends_on = {"exact": exact, "rows": FORWARD_INDEX_FORMAT, "of": dict(encoder.identity)}
        return resources.artifact(
            "bi-encoder-index", {"format": FORMAT, **depends_on}, build, of_vectors=False
        )
