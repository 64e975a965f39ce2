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

from irplatform.text import content_words, lexical_features, tokenize
from irplatform_deepsense.fields import VALUES, write_fields

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.plugin import Resources, Topic
    from irplatform.text import ForwardIndex
    from irplatform_deepsense.options import DeepSenSeOptions

FORMAT = 2
SAMPLE = 200
"""Documents that are looked at to see which fields a collection has."""
_NAMES = "names.json"
_VALUES = "values.npy"


@dataclass(frozen=True)
class FieldFeatures:
    """Computes the side features of documents for a topic.

    Attributes:
        index: the collection's forward index.
        lexical: names of lexical match features.
        fields: names of the features that come from documents' fields.
        values: float32 [documents of the collection, fields], memory-mapped.
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
        names = write_fields(folder / _VALUES, resources, numbers, categories)
        (folder / _NAMES).write_text(json.dumps(names), encoding="utf-8")

    depends_on = {"format": FORMAT, "numbers": numbers, "categories": categories, "values": VALUES}
    folder = resources.artifact("deepsense-fields", depends_on, build, of_vectors=False)
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
    names: set[str] = set()
    for document in resources.documents(index.doc_ids(rows)):
        names.update(document.fields)
    return (
        [name for name in options.numbers if name in names],
        [name for name in options.categories if name in names],
    )
