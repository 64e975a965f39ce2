"""Side features (equation 15): lexical matches, and what the fields of documents say.

The paper lists publication year, article type, journal impact factor and citation count; the
authors' program adds how much of the sentence title and abstract cover, of which the 18 lexical
match features are the fuller form. A field is used where the collection has it. Fields do not
depend on the topic: they are read once and stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.system.formats import read_own_json
from irplatform.text import content_words, lexical_features, tokenize
from irplatform_deepsense.fields import VALUES, Columns, write_fields

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.plugin import Resources, Topic
    from irplatform.text import ForwardIndex
    from irplatform_deepsense.options import DeepSenSeOptions

FORMAT = 3
SAMPLE = 200
"""Documents that are looked at to see which fields a collection has."""
_COLUMNS = "columns.json"
_VALUES = "values.npy"


@dataclass(frozen=True)
class FieldFeatures:
    """Computes the side features of documents for a topic.

    Attributes:
        index: the collection's forward index.
        lexical: names of lexical match features.
        columns: the features that come from documents' fields.
        values: float32 [documents of the collection, fields], memory-mapped.
    """

    index: ForwardIndex
    lexical: tuple[str, ...]
    columns: Columns
    values: npt.NDArray[np.float32]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all features, in their order."""
        return (*self.lexical, *self.columns.names)

    def __call__(self, topic: Topic, doc_ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32 [len(doc_ids), len(names)]."""
        rows = self.index.rows(doc_ids)
        parts = [self.values[rows]]
        if self.lexical:
            words = content_words(topic.query) or tokenize(topic.query)
            query = self.index.vocabulary.ids(list(dict.fromkeys(words)))
            parts.insert(0, lexical_features(self.index, query, rows, self.lexical))
        return np.concatenate(parts, axis=1)


def field_features(
    resources: Resources, options: DeepSenSeOptions, given: Columns | None = None
) -> FieldFeatures:
    """The side features that a collection has.

    Args:
        resources: the harness's resources.
        options: the model's options.
        given: what is read of fields, as a model learned it on another collection; by default what
            this collection has.
    """
    index = resources.forward_index()
    if given is None:
        numbers, categories = _present(resources, index, options)
    else:
        numbers, categories = list(given.numbers), list(given.categories)
    if not numbers and not categories:
        return FieldFeatures(
            index, options.lexical, Columns({}, {}), np.empty((index.count, 0), dtype=np.float32)
        )

    def build(folder: Path) -> None:
        columns = write_fields(folder / _VALUES, resources, numbers, categories, given)
        (folder / _COLUMNS).write_text(json.dumps(columns.as_json()), encoding="utf-8")

    depends_on: dict[str, object] = {
        "format": FORMAT,
        "numbers": numbers,
        "categories": categories,
        "values": VALUES,
    }
    if given is not None:
        depends_on["given"] = given.as_json()
    folder = resources.artifact("deepsense-fields", depends_on, build, of_vectors=False)
    content = read_own_json(folder / _COLUMNS)
    values = np.load(folder / _VALUES, mmap_mode="r", allow_pickle=False)
    return FieldFeatures(index, options.lexical, Columns.of_json(content), np.asarray(values))


def _present(
    resources: Resources, index: ForwardIndex, options: DeepSenSeOptions
) -> tuple[list[str], list[str]]:
    if not (options.numbers or options.categories) or not index.count:
        return [], []
    rows = np.unique(np.linspace(0, index.count - 1, SAMPLE).astype(np.int64))
    names: set[str] = set()
    for document in resources.documents(index.doc_ids(rows)):
        names.update(document.fields)
    return (
        [name for name in options.numbers if name in names],
        [name for name in options.categories if name in names],
    )
