"""Bi-encoders as rerankers and retrievers: cosines of a query's and documents' vectors.

The user brings the model (Reimers and Gurevych, EMNLP 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.kit import ForwardIndex
from irplatform.plugin import Documents, Reads, Reranker, Resources, Retriever, Run, Topic, Traits
from irplatform_encoders.options import BiEncoderOptions, BiEncoderSearchOptions
from irplatform_encoders.pretrained import PACKAGES
from irplatform_encoders.records import DocumentRecords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from irplatform.kit import Float32, Int64
    from irplatform_encoders.biencoder_model import Encoder


_SENTENCES = 3  # sentences of a document that an explanation has


class BiEncoder(Reranker):
    """A sentence-transformers model of the user's, used as it is.

    Document vectors do not depend on the query: they are computed once and stored.
    """

    Options = BiEncoderOptions
    citation: ClassVar[str] = (
        "Nils Reimers, Iryna Gurevych. Sentence-BERT: Sentence Embeddings using Siamese "
        "BERT-Networks. EMNLP 2019."
    )
    options: BiEncoderOptions

    _encoder: Encoder
    _store: VectorStore

    def prepare(self, resources: Resources) -> None:
        from irplatform_encoders.biencoder_model import Encoder
        from irplatform_encoders.on_cpu import passes_at_a_time

        self._encoder = Encoder(self.options, resources.device, passes_at_a_time(resources))
        self._store = VectorStore(resources, self._encoder)

    def traits(self) -> Traits:
        return Traits(packages=PACKAGES)

    def reads(self) -> Reads:
        from irplatform_encoders.biencoder_model import depends_on

        return Reads(more=depends_on(self.options))

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Cosines or inner products, as the model compares; 0 for a text without words."""
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
        from irplatform.kit import sentences as split

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


class BiEncoderSearch(Retriever):
    """Nearest documents by a bi-encoder's vectors, through FAISS."""

    Options = BiEncoderSearchOptions
    citation: ClassVar[str] = (
        f"{BiEncoder.citation} The index: Jeff Johnson, Matthijs Douze, Hervé Jégou. "
        "Billion-scale similarity search with GPUs. IEEE Transactions on Big Data 7, 2021."
    )
    options: BiEncoderSearchOptions
    _opened: tuple[Resources, Encoder, Any] | None = None

    def traits(self) -> Traits:
        return Traits(packages=(*PACKAGES, "faiss"), on_device=True, seeded=False)

    def reads(self) -> Reads:
        from irplatform_encoders.biencoder_model import depends_on

        return Reads(more=depends_on(self.options))

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
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
        from irplatform_encoders.biencoder_model import Encoder
        from irplatform_encoders.nearest import indexed, open_index
        from irplatform_encoders.on_cpu import passes_at_a_time

        if self._opened is None or self._opened[0] is not resources:
            encoder = Encoder(self.options, resources.device, passes_at_a_time(resources))
            store = VectorStore(resources, encoder)
            store.fill("encoding documents")
            folder = indexed(
                resources,
                "bi-encoder-index",
                {"rows": ForwardIndex.FORMAT, "of": dict(encoder.identity)},
                store.count,
                encoder.width,
                store.rows,
                exact=self.options.compares_all(store.count),
                of_vectors=False,
            )
            self._opened = resources, encoder, open_index(folder, self.options.probes)
        return self._opened[1:]


class VectorStore:
    """Vectors of a collection's documents in the cache, each encoded when it is first asked for."""

    def __init__(self, resources: Resources, encoder: Encoder) -> None:
        self._resources = resources
        self._encoder = encoder
        for note in encoder.notes:
            resources.notice(note)
        identity = {**encoder.identity, "width": encoder.width}
        self._records = DocumentRecords(resources, "bi-encoder", identity, self._encoded)
        self.count = self._records.count

    def of(self, doc_ids: Sequence[str]) -> Float32:
        """Vectors of documents: float32 [n, width]."""
        return self.rows(self._records.rows(doc_ids))

    def rows(self, rows: Int64) -> Float32:
        """The same by the documents' numbers."""
        vectors = np.empty((len(rows), self._encoder.width), "<f4")
        for block in self._records.get(rows):
            numbers = block.data[: len(block.data) // 4 * 4].view("<f4")  # records are aligned
            begins = block.begins[:, None] // 4
            vectors[block.places] = numbers[begins + np.arange(vectors.shape[1])]
        return vectors

    def fill(self, label: str) -> None:
        """Encode all documents that are not there."""
        self._records.fill(label=label)

    def _encoded(self, texts: Iterable[list[str]]) -> Iterator[Sequence[bytes]]:
        from irplatform_encoders.sending import encoded

        encode = type(self._encoder).documents
        for vectors in encoded(self._encoder, encode, self._resources, texts):
            yield [vector.tobytes() for vector in vectors.astype("<f4")]
