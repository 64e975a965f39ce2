"""The retriever `sparse-encoder`: exact search of learned sparse vectors.

Vectors of documents are the model's, or were made elsewhere (`vectors`); so are those of topics
(`queries`).
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads it
from typing import IO, TYPE_CHECKING, ClassVar, Literal

import numpy as np

from irplatform.plugin import (
    Field,
    InputError,
    Reads,
    Resources,
    Retriever,
    Run,
    Topic,
    Traits,
)
from irplatform_encoders.pretrained import PACKAGES
from irplatform_encoders.sparse import indexing
from irplatform_encoders.sparse.json_vectors import read_queries
from irplatform_encoders.sparse.options import SparseEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy.sparse import csr_matrix

    from irplatform.kit import SparseIndex
    from irplatform_encoders.sparse.model import SparseTextEncoder


class SparseSearchOptions(SparseEncoderOptions):
    """Options of the retriever: those of the model, and what is searched."""

    weights: Literal["float32", "8-bit"] = Field(
        "float32",
        description="of documents' words in the index; 8-bit ones are multiples of 1/255 of the "
        "largest",
    )
    vectors: Path | None = Field(
        None,
        description="documents' vectors of another program: CIFF (.ciff), or JSON vectors of "
        "Anserini and Pyserini, a file or a folder of files",
    )
    queries: Path | None = Field(
        None,
        description="topics' vectors of another program: JSON vectors, or lines of a topic's id, a "
        "tab, and words that are repeated as often as they weigh",
    )


class SparseEncoderSearch(Retriever):
    """Documents with the largest inner products of sparse vectors, exactly."""

    Options = SparseSearchOptions
    citation: ClassVar[str] = (
        "Thibault Formal, Carlos Lassance, Benjamin Piwowarski, Stéphane Clinchant. From "
        "Distillation to Hard Negative Sampling: Making Sparse Neural IR Models More Effective. "
        "SIGIR 2022."
    )
    options: SparseSearchOptions
    _opened: tuple[Resources, SparseIndex] | None = None
    _encoders: tuple[Resources, SparseTextEncoder] | None = None

    @property
    def _encodes(self) -> bool:
        """A model is needed."""
        return self.options.vectors is None or self.options.queries is None

    def traits(self) -> Traits:
        packages = PACKAGES if self._encodes else ()
        if self.options.vectors is not None and indexing.is_ciff(self.options.vectors.name):
            packages = (*packages, "google.protobuf")
        return Traits(packages=packages, on_device=self._encodes, seeded=False)

    def reads(self) -> Reads:
        if not self._encodes:
            return Reads()
        from irplatform_encoders.sparse.model import depends_on

        return Reads(more=depends_on(self.options))

    def check_topics(self, topics: Sequence[Topic]) -> None:
        if self.options.queries is not None:
            self._read_queries(topics)

    def _read_queries(self, topics: Sequence[Topic]) -> list[dict[str, float]]:
        """The vectors of topics in the file; InputError if one is missing."""
        assert self.options.queries is not None
        queries = read_queries(self.options.queries)
        if missing := [topic.id for topic in topics if topic.id not in queries]:
            raise InputError(
                f"has no vector of {len(missing):,} of {len(topics):,} topics, such as "
                f"'{missing[0]}'. Words and other topics need a model (sparse-encoder.model), not "
                "sparse-encoder.queries.",
                path=self.options.queries,
            )
        return [queries[topic.id] for topic in topics]

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        index = self._index(resources)
        queries = self._queries(topics, index, resources)
        with resources.progress("searching sparse vectors", len(topics), "topics") as advance:
            rankings = index.search(queries, depth, threads=resources.threads, done=advance)
        return Run(
            "sparse-encoder",
            {topic.id: ranking for topic, ranking in zip(topics, rankings, strict=True)},
        )

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        """The weights of the query's words, and of those that the model adds, largest first."""
        index = self._index(resources)
        query = self._queries([topic], index, resources)
        order = np.argsort(-query.data, kind="stable")
        weights = [
            (index.words[column], round(float(weight), 4))
            for column, weight in zip(query.indices[order].tolist(), query.data[order], strict=True)
        ]
        if self.options.queries is not None:
            return {"words": dict(weights)}
        encoder = self._encoder(resources)
        query_words = {encoder.words[column] for column in encoder.read_words(topic.query)}
        return {
            "words": {word: weight for word, weight in weights if word in query_words},
            "added words": {word: weight for word, weight in weights if word not in query_words},
        }

    def export(self, name: str, file: IO[bytes], resources: Resources) -> Mapping[str, object]:
        from irplatform_encoders.sparse.export import check_name, export

        check_name(name)
        return export(self._index(resources), name, file)

    def _index(self, resources: Resources) -> SparseIndex:
        if self._opened is None or self._opened[0] is not resources:
            rounded = self.options.weights == "8-bit"
            if self.options.vectors is None:
                index = indexing.of_model(self._encoder(resources), resources, rounded=rounded)
            else:
                index = indexing.of_file(self.options.vectors, resources, rounded=rounded)
            self._opened = resources, index
        return self._opened[1]

    def _encoder(self, resources: Resources) -> SparseTextEncoder:
        from irplatform_encoders.on_cpu import passes_at_a_time
        from irplatform_encoders.sparse.model import SparseTextEncoder

        if self._encoders is None or self._encoders[0] is not resources:
            encoder = SparseTextEncoder(self.options, resources.device, passes_at_a_time(resources))
            self._encoders = resources, encoder
        return self._encoders[1]

    def _queries(
        self, topics: Sequence[Topic], index: SparseIndex, resources: Resources
    ) -> csr_matrix:
        """The topics' vectors over the index's words: float32 [topics, words]."""
        from scipy.sparse import csr_matrix

        if self.options.queries is None:
            encoder = self._encoder(resources)
            encoded = encoder.queries([topic.query for topic in topics])
            if self.options.vectors is None:
                return encoded
            words = encoder.words
            vectors = [
                {
                    words[column]: weight
                    for column, weight in zip(row.indices, row.data, strict=True)
                }
                for row in encoded
            ]
        else:
            vectors = self._read_queries(topics)
        distinct = list(dict.fromkeys(word for vector in vectors for word in vector))
        columns = dict(zip(distinct, index.words.find(distinct).tolist(), strict=True))
        rows = [
            [(columns[word], weight) for word, weight in vector.items() if columns[word] >= 0]
            for vector in vectors
        ]
        if any(vectors) and not any(rows):
            raise InputError(
                f"no word of the topics is in {self.options.vectors}, which was made with another "
                f"vocabulary. Words of topics are, for instance, {', '.join(distinct[:5])}.",
                path=self.options.queries or self.options.model,
            )
        pairs = [pair for row in rows for pair in row]
        parts = (
            np.array([weight for _, weight in pairs], dtype=np.float32),
            np.array([column for column, _ in pairs], dtype=np.int64),
            np.cumsum([0, *map(len, rows)]),
        )
        return csr_matrix(parts, shape=(len(rows), len(index.words)))
