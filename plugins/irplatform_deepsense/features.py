"""Side features (equation 15): lexical matches, and what the fields of documents say.

The paper lists publication year, article type, journal impact factor and citation count; the
authors' program adds how much of the sentence title and abstract cover, of which the 18 lexical
match features are the fuller form. A field is used where the collection has it; a number becomes
log(1 + x) where it is a count (1 to any), and a category one feature for each of its most frequent
values. Fields do not depend on the topic: they are read once and stored.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.text import content_words, lexical_features, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.plugin import Document, Resources, Topic
    from irplatform.text import ForwardIndex
    from irplatform_deepsense.options import DeepSenSeOptions

FORMAT = 1
SAMPLE = 200
"""Documents that are looked at to see which fields a collection has."""
VALUES = 31
"""Most values of a category that have a feature of their own [program: 31, and others]."""
_BATCH = 1000
_NAMES = "names.json"
_VALUES = "values.npy"


@dataclass(frozen=True)
class FieldFeatures:
    """Computes the side features of documents for a topic.

    Attributes:
        index: the collection's forward index.
        lexical: names of lexical match features.
        fields: names of the features that come from documents' fields.
        values: float32 [documents of the collection, fields].
    """

    index: ForwardIndex
    lexical: tuple[str, ...]
    fields: tuple[str, ...]
    values: npt.NDArray[np.float32]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all features, in their order."""
        return (*self.lexical, *self.fields)

    def __call__(self, topic: Topic, doc_ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32 [len(doc_ids), len(names)]."""
        rows = self.index.rows(doc_ids)
        parts = [self.values[rows]]
        if self.lexical:
            words = content_words(topic.query) or tokenize(topic.query)
            query = self.index.vocabulary.ids(list(dict.fromkeys(words)))
            parts.insert(0, lexical_features(self.index, query, rows, self.lexical))
        return np.concatenate(parts, axis=1)


def field_features(resources: Resources, options: DeepSenSeOptions) -> FieldFeatures:
    """The side features that a collection has."""
    index = resources.forward_index()
    numbers, categories = _present(resources, index, options)
    if not numbers and not categories:
        return FieldFeatures(
            index, options.lexical, (), np.empty((index.count, 0), dtype=np.float32)
        )

    def build(folder: Path) -> None:
        names, values = _read_fields(resources, index, numbers, categories)
        (folder / _NAMES).write_text(json.dumps(names), encoding="utf-8")
        np.save(folder / _VALUES, values, allow_pickle=False)

    wanted = {"format": FORMAT, "numbers": numbers, "categories": categories, "values": VALUES}
    folder = resources.artifact("deepsense-fields", wanted, build, of_vectors=False)
    names = tuple(json.loads((folder / _NAMES).read_text(encoding="utf-8")))
    values = np.load(folder / _VALUES, mmap_mode="r", allow_pickle=False)
    return FieldFeatures(index, options.lexical, names, np.asarray(values))


def _present(
    resources: Resources, index: ForwardIndex, options: DeepSenSeOptions
) -> tuple[list[str], list[str]]:
    """Which of the fields a sample of the documents has."""
    if not (options.numbers or options.categories) or not index.count:
        return [], []
    rows = np.unique(np.linspace(0, index.count - 1, SAMPLE).astype(np.int64))
    found: set[str] = set()
    for document in resources.documents(index.doc_ids(rows)):
        found.update(document.fields)
    return (
        [name for name in options.numbers if name in found],
        [name for name in options.categories if name in found],
    )


def _documents(resources: Resources, index: ForwardIndex) -> Iterator[Document]:
    for start in range(0, index.count, _BATCH):
        stop = min(start + _BATCH, index.count)
        yield from resources.documents(index.doc_ids(np.arange(start, stop)))


def _read_fields(
    resources: Resources, index: ForwardIndex, numbers: list[str], categories: list[str]
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Features of all documents; a missing number is the mean of the others."""
    given = np.full((index.count, len(numbers)), np.nan)
    found = [_Values() for _ in categories]
    with resources.progress("reading fields of documents", index.count) as advance:
        for row, document in enumerate(_documents(resources, index)):
            for column, name in enumerate(numbers):
                given[row, column] = _number(document, name)
            for values, name in zip(found, categories, strict=True):
                values.add(row, _texts(document, name))
            advance(1)
    for column, name in enumerate(numbers):
        if name != "year":
            given[:, column] = np.log1p(np.maximum(given[:, column], 0))
        known = given[:, column][~np.isnan(given[:, column])]
        given[:, column] = np.nan_to_num(given[:, column], nan=known.mean() if len(known) else 0.0)
    names, columns = list(numbers), [given]
    for name, values in zip(categories, found, strict=True):
        kept, has = values.most_frequent(index.count)
        names += [f"{name}: {value}" for value in kept]
        columns.append(has)
    return names, np.concatenate(columns, axis=1, dtype=np.float32, casting="same_kind")


class _Values:
    """The values of a category that documents have: eight bytes for each."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows, self._values = array("i"), array("i")

    def add(self, row: int, values: Sequence[str]) -> None:
        for value in values:
            self._rows.append(row)
            self._values.append(self._numbers.setdefault(value, len(self._numbers)))

    def most_frequent(self, count: int) -> tuple[list[str], npt.NDArray[np.float32]]:
        """The most frequent values, and whether each of `count` documents has them, as 0 or 1."""
        rows, values = np.array(self._rows), np.array(self._values)
        frequency = np.bincount(values, minlength=len(self._numbers))
        kept = sorted(self._numbers.items(), key=lambda v: (-frequency[v[1]], v[0]))[:VALUES]
        place = np.full(len(self._numbers), -1)
        place[[number for _, number in kept]] = np.arange(len(kept))
        columns = np.zeros((count, len(kept)), dtype=np.float32)
        held = place[values] >= 0
        columns[rows[held], place[values[held]]] = 1
        return [value for value, _ in kept], columns


def _texts(document: Document, name: str) -> tuple[str, ...]:
    value = document.fields.get(name, ())
    return (value,) if isinstance(value, str) else tuple(value)


def _number(document: Document, name: str) -> float:
    """The number in a field; NaN where there is none."""
    try:
        return float(_texts(document, name)[0])
    except (IndexError, ValueError):
        return float("nan")
