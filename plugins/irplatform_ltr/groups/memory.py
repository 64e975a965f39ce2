"""Training queries as text of the documents that they found relevant.

The training queries that a document is relevant for describe it (document expansion with real
queries, where doc2query generates them: Nogueira et al., 2019). These features remember and do not
read: they say nothing about a document that no training query is about.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.kit import read_json
from irplatform.plugin import (
    Documents,
    Field,
    InputError,
    Options,
    Resources,
    Topic,
    TrainableFeatureGroup,
    TrainingData,
    Traits,
)
from irplatform_ltr.matching import StemmedIndex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.kit import Float32

_FILE = "memory.json"
_NAMES = (
    "popularity", "grades", "nearest", "sum", "cubes", "mean", "overlap", "text_cosine",
    "nearest_grade",
)  # fmt: skip


class MemoryOptions(Options):
    """Options of the memory of training queries."""

    idf_power: float = Field(1.0, ge=0, description="power of the IDF that weighs a word")


class CitingText(TrainableFeatureGroup):
    """Similarity of a topic to the training queries that a document is relevant for.

    Their number, the nearest one, sums and means of similarities (cosine of stems weighted by IDF),
    overlap and cosine with the text of all of them.
    """

    Options = MemoryOptions
    options: MemoryOptions
    _stems: StemmedIndex

    def traits(self) -> Traits:
        return Traits(packages=("gensim",), remembers_documents=True)

    def prepare(self, resources: Resources) -> None:
        self._stems = StemmedIndex.of(resources)
        self._learn([], {})

    def names(self) -> tuple[str, ...]:
        return _NAMES

    def fit(self, data: TrainingData) -> None:
        labelled_topics = [t for t in data.training if any(g > 0 for g in t.judgments.values())]
        highest = [max(t.judgments.values()) for t in labelled_topics]
        about: dict[str, list[tuple[int, float]]] = {}
        for number, (labelled, best) in enumerate(zip(labelled_topics, highest, strict=True)):
            for doc_id, grade in labelled.judgments.items():
                if grade > 0:
                    about.setdefault(doc_id, []).append((number, grade / best))
        self._learn([t.topic.query for t in labelled_topics], about)

    def _learn(
        self, queries: Sequence[str], about: Mapping[str, Sequence[tuple[int, float]]]
    ) -> None:
        from scipy.sparse import csr_matrix

        self._queries, self._about = list(queries), {d: list(pairs) for d, pairs in about.items()}
        idf = self._stems.idf("text") ** self.options.idf_power
        rows, columns = [], []
        for number, query in enumerate(queries):
            ids = np.unique(self._word_ids(query))
            rows.append(np.full(len(ids), number))
            columns.append(ids)
        row = np.concatenate([*rows, np.empty(0, np.int64)]).astype(np.int64)
        column = np.concatenate([*columns, np.empty(0, np.int64)]).astype(np.int64)
        matrix: Any = csr_matrix((idf[column], (row, column)), shape=(len(queries), len(idf)))
        norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        self._idf, self._matrix, self._norms = idf, matrix, np.maximum(norms, 1e-12)

    def _word_ids(self, query: str) -> npt.NDArray[np.int32]:
        ids = self._stems.query_ids(query)
        return ids[ids >= 0]

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        """The features; all 0 for a document that no training query is about."""
        values = np.zeros((len(documents), len(_NAMES)), dtype=np.float32)
        ids = np.unique(self._word_ids(topic.query))
        if not len(self._queries) or not len(ids):
            return values
        query = np.zeros(len(self._idf))
        query[ids] = self._idf[ids]
        norm = float(np.sqrt((self._idf[ids] ** 2).sum()))
        near = np.asarray(self._matrix @ query) / self._norms / max(norm, 1e-12)
        for place, doc_id in enumerate(documents.ids):
            if graded := self._about.get(doc_id):
                values[place] = self._of(graded, near, ids, query, norm)
        return values

    def _of(
        self,
        graded: Sequence[tuple[int, float]],
        near: npt.NDArray[np.float64],
        ids: npt.NDArray[np.int32],
        query: npt.NDArray[np.float64],
        norm: float,
    ) -> list[float]:
        numbers = np.array([number for number, _ in graded])
        grades = np.array([grade for _, grade in graded])
        similar = near[numbers]
        words, times = np.unique(
            np.concatenate([self._matrix[n].indices for n in numbers]), return_counts=True
        )
        weights = self._idf[words] * (1 + np.log(times))
        shared = np.isin(words, ids)
        overlap = self._idf[words[shared]].sum() / max(self._idf[ids].sum(), 1e-12)
        cosine = (weights[shared] * query[words[shared]]).sum() / max(
            norm * float(np.sqrt((weights**2).sum())), 1e-12
        )
        nearest = int(similar.argmax())
        return [
            float(np.log1p(len(graded))),
            float(np.log1p(grades.sum())),
            float(similar[nearest]),
            float((similar * grades).sum()),
            float((similar**3 * grades).sum()),
            float(similar.mean()),
            float(overlap),
            float(cosine),
            float(grades[nearest] * similar[nearest]),
        ]

    def save(self, folder: Path) -> None:
        content = {"queries": self._queries, "about": self._about}
        (folder / _FILE).write_text(json.dumps(content), encoding="utf-8")

    def load(self, folder: Path) -> None:
        path = folder / _FILE
        try:
            content = read_json(path)
            queries = [str(query) for query in content["queries"]]
            about = {
                str(doc_id): [(int(number), float(grade)) for number, grade in pairs]
                for doc_id, pairs in content["about"].items()
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"this is not a memory of training queries: {error}.", path=path
            ) from error
        self._learn(queries, about)
