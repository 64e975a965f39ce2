"""What the fields of all documents say, as a matrix on disk that is written batch by batch.

A number becomes log(1 + x) where it is a count, and the mean of the others where a document has
none; a category becomes one column of 0 and 1 for each of its most frequent values.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.lucene.dates import YEAR, year_of
from irplatform.text.arrays import new_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Document, Resources
    from irplatform.text import ForwardIndex

VALUES = 31
"""Most values of a category that have a column of their own [program: 31, and others]."""
_BATCH = 1000
"""Documents that are read, and written, at once."""
_WAITING = "numbers.npy"


@dataclass(frozen=True)
class Columns:
    """What the columns of the matrix are.

    Attributes:
        numbers: fields that are numbers, to what a document without one has.
        categories: fields that are categories, to the values with a column of their own.
    """

    numbers: Mapping[str, float]
    categories: Mapping[str, Sequence[str]]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in their order."""
        pairs = ((name, value) for name, values in self.categories.items() for value in values)
        return (*self.numbers, *(f"{name}: {value}" for name, value in pairs))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are read."""
        return (*self.numbers, *self.categories)

    def as_json(self) -> dict[str, Any]:
        """As lists, since the order counts."""
        return {
            "numbers": [[name, mean] for name, mean in self.numbers.items()],
            "categories": [[name, list(values)] for name, values in self.categories.items()],
        }

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Columns:
        """What `as_json` gave."""
        return cls(dict(content["numbers"]), {n: list(v) for n, v in content["categories"]})


def write_fields(
    path: Path,
    resources: Resources,
    numbers: Sequence[str],
    categories: Sequence[str],
    given: Columns | None = None,
) -> Columns:
    """Write the matrix: float32 [documents of the collection, names], as .npy.

    Documents are read once. The means and the columns of categories are known only after the last
    one: until then numbers wait in a file beside it, and values of categories in memory.

    Returns:
        The columns.
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
    columns = given or Columns(
        dict(zip(numbers, means, strict=True)), dict(zip(categories, most_frequent, strict=True))
    )
    mean = np.array(list(columns.numbers.values()), dtype=np.float32)
    matrix = new_matrix(path, (index.count, len(columns.names)))
    for rows in _batches(index):
        stored = raw_numbers[rows]
        indicators = [
            values.has(rows, which)
            for values, which in zip(category_values, columns.categories.values(), strict=True)
        ]
        matrix[rows] = np.concatenate(
            [np.where(np.isnan(stored), mean, stored), *indicators], axis=1
        )
    matrix.flush()
    waiting.unlink()
    return columns


def _batches(index: ForwardIndex) -> Iterator[npt.NDArray[np.int64]]:
    for start in range(0, index.count, _BATCH):
        yield np.arange(start, min(start + _BATCH, index.count))


def _numbers(documents: Sequence[Document], names: Sequence[str]) -> npt.NDArray[np.float64]:
    values = np.array([[_number(document, name) for name in names] for document in documents])
    for column, name in enumerate(names):
        if name != "year":
            values[:, column] = np.log1p(np.maximum(values[:, column], 0))
    return values


class _Values:
    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows, self._values = array("i"), array("i")

    def add(self, row: int, values: Sequence[str]) -> None:
        """Add the values of a document; documents come in order."""
        for value in values:
            self._rows.append(row)
            self._values.append(self._numbers.setdefault(value, len(self._numbers)))

    def most_frequent(self) -> list[str]:
        frequency = np.bincount(np.asarray(self._values), minlength=len(self._numbers))
        frequent = sorted(self._numbers.items(), key=lambda v: (-frequency[v[1]], v[0]))[:VALUES]
        return [value for value, _ in frequent]

    def has(self, rows: npt.NDArray[np.int64], chosen: Sequence[str]) -> npt.NDArray[np.float32]:
        place = np.full(len(self._numbers), -1)
        for column, value in enumerate(chosen):
            if value in self._numbers:
                place[self._numbers[value]] = column
        owner, number = np.asarray(self._rows), np.asarray(self._values)
        start, end = np.searchsorted(owner, [rows[0], rows[-1] + 1])
        places = place[number[start:end]]
        present = places >= 0
        columns = np.zeros((len(rows), len(chosen)), dtype=np.float32)
        columns[owner[start:end][present] - rows[0], places[present]] = 1
        return columns


def _number(document: Document, name: str) -> float:
    """The number in a field, the year of a date; NaN where there is none."""
    values = [year_of(document)] if name == YEAR else document.values(name)
    try:
        number = float(values[0])
    except (IndexError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan
