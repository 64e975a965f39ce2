"""Side features (equation 15): lexical matches, and what the fields of documents say.

The paper lists publication year, article type, journal impact factor and citation count. A field is
used where the collection has it. A count x becomes log(1 + x); a missing number, the mean; a
category, a column of 0 and 1 for each frequent value. Fields are read once and stored.
"""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.kit import (
    Float32,
    Int64,
    content_words,
    lexical_features,
    new_matrix,
    read_json,
    tokenize,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.kit import ForwardIndex
    from irplatform.plugin import Document, Resources, Topic
    from irplatform_deepsense.options import DeepSenSeOptions

VALUES = 31  # values of a category with a column of their own, at most [program: 31, and others]
_BATCH = 1000  # documents that are read, and written, at once
_WAITING = "numbers.npy"
FORMAT = 3
SAMPLE = 200  # documents that are looked at to see which fields a collection has
_COLUMNS = "columns.json"
_VALUES = "values.npy"


@dataclass(frozen=True)
class FieldFeatures:
    """Computes the side features of documents for a topic."""

    index: ForwardIndex  # the collection's forward index
    lexical: tuple[str, ...]  # names of lexical match features
    columns: Columns  # the features that come from documents' fields
    values: Float32  # float32 [documents of the collection, fields], memory-mapped

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.lexical, *self.columns.names)

    def __call__(self, topic: Topic, doc_ids: Sequence[str]) -> Float32:
        rows, fields = self.index.rows(doc_ids), self.of_fields(doc_ids)
        lexical = lexical_features(self.index, self.matched(topic), rows, self.lexical)
        return np.concatenate([lexical, fields], axis=1)

    def of_fields(self, doc_ids: Sequence[str]) -> Float32:
        """The features that no query changes: float32 [documents, fields]."""
        if (texts := self.index.given_texts()) is not None:
            return self.columns.of([texts.documents[doc_id] for doc_id in doc_ids])
        return self.values[self.index.rows(doc_ids)]

    def matched(self, topic: Topic) -> npt.NDArray[np.int32]:
        """The word ids that lexical features match: int32 [words]."""
        words = content_words(topic.query) or tokenize(topic.query)
        return self.index.vocabulary.ids(list(dict.fromkeys(words)))


def field_features(
    resources: Resources, options: DeepSenSeOptions, model_columns: Columns | None = None
) -> FieldFeatures:
    """The side features that a collection has; `model_columns` are those that a model learned."""
    index = resources.forward_index()
    if model_columns is None:
        numbers, categories = _present(resources, index, options)
    else:
        numbers, categories = list(model_columns.numbers), list(model_columns.categories)
    if not index.held or not (numbers or categories):
        columns = model_columns or Columns({}, {})
        values = np.empty((index.held, len(columns.names)), dtype=np.float32)
        return FieldFeatures(index, options.lexical, columns, values)

    def build(folder: Path) -> None:
        columns = write_fields(folder / _VALUES, resources, numbers, categories, model_columns)
        (folder / _COLUMNS).write_text(json.dumps(columns.as_json()), encoding="utf-8")

    depends_on: dict[str, object] = {
        "format": FORMAT,
        "numbers": numbers,
        "categories": categories,
        "values": VALUES,
    }
    if model_columns is not None:
        depends_on["given"] = model_columns.as_json()
    folder = resources.artifact("deepsense-fields", depends_on, build, of_vectors=False)
    content = read_json(folder / _COLUMNS)
    values = np.load(folder / _VALUES, mmap_mode="r", allow_pickle=False)
    return FieldFeatures(index, options.lexical, Columns.of_json(content), np.asarray(values))


def _present(
    resources: Resources, index: ForwardIndex, options: DeepSenSeOptions
) -> tuple[list[str], list[str]]:
    if not (options.numbers or options.categories) or not index.held:
        return [], []
    rows = np.unique(np.linspace(0, index.count - 1, SAMPLE).astype(np.int64))
    names: set[str] = set()
    for document in resources.documents(index.doc_ids(rows)):
        names.update(document.fields)
    return (
        [name for name in options.numbers if name in names],
        [name for name in options.categories if name in names],
    )


@dataclass(frozen=True)
class Columns:
    """The columns of the matrix of fields.

    Attributes:
        numbers: fields that are numbers, to what a document without one has.
        categories: fields that are categories, to the values with a column.
    """

    numbers: Mapping[str, float]
    categories: Mapping[str, Sequence[str]]

    @property
    def names(self) -> tuple[str, ...]:
        pairs = ((name, value) for name, values in self.categories.items() for value in values)
        return (*self.numbers, *(f"{name}: {value}" for name, value in pairs))

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.numbers, *self.categories)

    def of(self, documents: Sequence[Document]) -> Float32:
        """The columns of documents: float32 [documents, names]."""
        numbers = _numbers(documents, list(self.numbers))
        mean = np.array(list(self.numbers.values()), dtype=np.float32)
        has = [
            [value in document.values(name) for name, of in self.categories.items() for value in of]
            for document in documents
        ]
        columns = [np.where(np.isnan(numbers), mean, numbers), np.array(has)]
        shaped = [values.reshape(len(documents), -1).astype(np.float32) for values in columns]
        return np.concatenate(shaped, axis=1)

    def as_json(self) -> dict[str, Any]:
        """As lists, since the order counts."""
        return {
            "numbers": [[name, mean] for name, mean in self.numbers.items()],
            "categories": [[name, list(values)] for name, values in self.categories.items()],
        }

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Columns:
        return cls(dict(content["numbers"]), {n: list(v) for n, v in content["categories"]})


def write_fields(
    path: Path,
    resources: Resources,
    numbers: Sequence[str],
    categories: Sequence[str],
    model_columns: Columns | None = None,
) -> Columns:
    """Write the matrix: float32 [documents of the collection, names], as .npy.

    Means and categories' columns are known after the last document only: until then numbers wait
    in a file beside the matrix, and values of categories in memory.
    """
    index = resources.forward_index()
    waiting = path.with_name(_WAITING)
    raw_numbers = new_matrix(waiting, (index.count, len(numbers)))
    category_values = [_Values() for _ in categories]
    total, counts = np.zeros(len(numbers)), np.zeros(len(numbers), dtype=np.int64)
    with resources.progress("reading fields", index.count, "documents") as advance:
        for rows in _batches(index):
            documents = resources.documents(index.doc_ids(rows))
            for row, document in zip(rows.tolist(), documents, strict=True):
                for values, name in zip(category_values, categories, strict=True):
                    values.add(row, document.values(name))
            batch = _numbers(documents, numbers)
            total += np.nansum(batch, axis=0)
            counts += (~np.isnan(batch)).sum(axis=0)
            raw_numbers[rows] = batch
            advance(len(rows))
    means = (total / np.maximum(counts, 1)).astype(np.float32).tolist()
    most_frequent = [values.most_frequent() for values in category_values]
    columns = model_columns or Columns(
        dict(zip(numbers, means, strict=True)), dict(zip(categories, most_frequent, strict=True))
    )
    mean = np.array(list(columns.numbers.values()), dtype=np.float32)
    matrix = new_matrix(path, (index.count, len(columns.names)))
    for rows in _batches(index):
        stored = raw_numbers[rows]
        indicators = [
            values.has(rows, column_values)
            for values, column_values in zip(
                category_values, columns.categories.values(), strict=True
            )
        ]
        matrix[rows] = np.concatenate(
            [np.where(np.isnan(stored), mean, stored), *indicators], axis=1
        )
    matrix.flush()
    waiting.unlink()
    return columns


def _batches(index: ForwardIndex) -> Iterator[Int64]:
    for start in range(0, index.count, _BATCH):
        yield np.arange(start, min(start + _BATCH, index.count))


def _numbers(documents: Sequence[Document], names: Sequence[str]) -> npt.NDArray[np.float64]:
    values = np.array([[_number(document, name) for name in names] for document in documents])
    for column, name in enumerate(names):
        if name != "year":
            values[:, column] = np.log1p(np.maximum(values[:, column], 0))
    return values


def _number(document: Document, name: str) -> float:
    values = [document.year] if name == "year" else document.values(name)
    try:
        number = float(values[0])
    except (IndexError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


class _Values:
    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows, self._values = array("i"), array("i")

    def add(self, row: int, values: Sequence[str]) -> None:
        for value in values:
            self._rows.append(row)
            self._values.append(self._numbers.setdefault(value, len(self._numbers)))

    def most_frequent(self) -> list[str]:
        frequency = np.bincount(np.asarray(self._values), minlength=len(self._numbers))
        frequent = sorted(self._numbers.items(), key=lambda v: (-frequency[v[1]], v[0]))[:VALUES]
        return [value for value, _ in frequent]

    def has(self, rows: Int64, values: Sequence[str]) -> Float32:
        place = np.full(len(self._numbers), -1)
        for column, value in enumerate(values):
            if value in self._numbers:
                place[self._numbers[value]] = column
        owner, number = np.asarray(self._rows), np.asarray(self._values)
        start, end = np.searchsorted(owner, [rows[0], rows[-1] + 1])
        places = place[number[start:end]]
        present = places >= 0
        columns = np.zeros((len(rows), len(values)), dtype=np.float32)
        columns[owner[start:end][present] - rows[0], places[present]] = 1
        return columns
