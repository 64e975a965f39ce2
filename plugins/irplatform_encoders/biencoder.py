"""Bi-encoders as rerankers and retrievers: cosines of a query's and documents' vectors.

The user brings the model (Reimers and Gurevych, EMNLP 2019).
"""

from __future__ import annotations

import errno
import os
import zlib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from irplatform.kit import ForwardIndex
from irplatform.plugin import Documents, Reads, Reranker, Resources, Retriever, Run, Topic, Traits
from irplatform_encoders.options import BiEncoderOptions, BiEncoderSearchOptions
from irplatform_encoders.pretrained import PACKAGES, tell_how_slow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

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


_BLOCK, _GPU_BLOCK = 128, 4096  # documents that are encoded before they are kept
_VECTORS = "vectors.float32"
_PRESENT = "present.uint8"
_CHECKS = "checks.uint32"


class VectorStore:
    """Vectors of a collection's documents in the cache, each encoded when it is first asked for.

    A transformer takes hours for millions of documents. The file is sparse: it takes up the space
    of the vectors that are there. An interruption keeps what was encoded, and several processes may
    fill one store. Each vector has a checksum.
    """

    def __init__(self, resources: Resources, encoder: Encoder) -> None:
        self._resources = resources
        self._encoder = encoder
        for note in encoder.notes:
            resources.notice(note)
        self._index = resources.forward_index()
        self.count = self._index.count
        self._folder = resources.artifact(
            "bi-encoder",
            {**encoder.identity, "width": encoder.width, "rows": ForwardIndex.FORMAT},
            self._make,
            of_vectors=False,
            filled_later=True,
        )
        self._vectors = np.memmap(
            self._folder / _VECTORS, np.float32, "r", shape=(self.count, encoder.width)
        )
        self._present = np.memmap(self._folder / _PRESENT, np.uint8, "r", shape=(self.count,))
        self._checks = np.memmap(self._folder / _CHECKS, np.uint32, "r", shape=(self.count,))

    def of(self, doc_ids: Sequence[str]) -> Float32:
        return self.rows(self._index.rows(doc_ids))

    def rows(self, rows: Int64) -> Float32:
        if self._index.given_texts() is not None:  # scored in place of documents
            return self._encoder.documents(self._texts(rows))
        # In this order: another process may be adding vectors.
        present = self._present[rows] != 0
        vectors: Float32 = np.array(self._vectors[rows])
        damaged = present & (self._checks[rows] != _checksums(vectors))
        if damaged.any():
            self._resources.notice(
                f"{damaged.sum():,} vectors of documents are damaged, and made again"
            )
            present &= ~damaged
        missing = np.flatnonzero(~present)
        for places, encoded in self._encoded(rows, missing, "encoding documents"):
            vectors[places] = encoded
        return vectors

    def fill(self, label: str) -> None:
        missing = np.flatnonzero(self._present == 0)
        for _ in self._encoded(np.arange(self.count), missing, label):
            pass

    def _encoded(self, rows: Int64, missing: Int64, label: str) -> Iterator[tuple[Int64, Float32]]:
        if not len(missing):
            return
        from irplatform_encoders.sending import encoded

        tell_how_slow(self._resources, len(missing))
        size = _BLOCK if self._resources.device == "cpu" else _GPU_BLOCK
        try:
            with self._resources.progress(label, len(missing), "documents") as advance:
                blocks = [missing[at : at + size] for at in range(0, len(missing), size)]
                texts = (self._texts(rows[places]) for places in blocks)
                vectors_of_blocks = encoded(self._encoder, self._resources, texts)
                for places, vectors in zip(blocks, vectors_of_blocks, strict=True):
                    self._keep(rows[places], vectors)
                    yield places, vectors
                    advance(len(places))
        except KeyboardInterrupt as error:
            error.add_note("The vectors of documents that were encoded are kept.")
            raise

    def _texts(self, rows: Int64) -> list[str]:
        return [document.text for document in self._resources.documents(self._index.doc_ids(rows))]

    def _make(self, folder: Path) -> None:
        for name, size in (
            (_VECTORS, self.count * self._encoder.width * 4),
            (_PRESENT, self.count),
            (_CHECKS, self.count * 4),
        ):
            with (folder / name).open("wb") as file:
                file.truncate(size)  # takes up no space yet

    def _keep(self, rows: Int64, vectors: Float32) -> None:
        try:
            self._write(_VECTORS, rows, np.ascontiguousarray(vectors))
            self._write(_CHECKS, rows, _checksums(vectors)[:, None])
            self._write(_PRESENT, rows, np.ones((len(rows), 1), np.uint8))
        except OSError as error:  # another user's cache cannot be added to
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise

    def _write(self, name: str, rows: Int64, values: npt.NDArray[np.generic]) -> None:
        # Written and not mapped: a full disk is an error then, and no signal.
        path = self._folder / name
        file = os.open(path, os.O_WRONLY)
        try:
            gaps = np.flatnonzero(np.diff(rows) != 1) + 1  # neighbours are written together
            for first, part in zip(rows[[0, *gaps]].tolist(), np.split(values, gaps), strict=True):
                # A nearly full disk takes a part without an error.
                if os.pwrite(file, part.tobytes(), first * part[0].nbytes) < part.nbytes:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file)
        finally:
            os.close(file)


def _checksums(vectors: Float32) -> npt.NDArray[np.uint32]:
    return np.array([zlib.crc32(vector.tobytes()) for vector in vectors], np.uint32)
