"""Pairs of texts to learn from: read from a file and drawn from documents, as bags of words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import InputError
from irplatform.training.text_pairs import PairsOfTopics, read_text_pairs
from irplatform_dual.bags import joined
from irplatform_dual.learned import Learned, mark
from irplatform_dual.passages import read_passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import TextPair
    from irplatform.text.arrays import Int64
    from irplatform_dual.bags import Bags, Reader
    from irplatform_dual.options import PairsOptions


_FEWEST = 2


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts, as bags.

    Attributes:
        queries: the texts that ask.
        texts: the texts that they should find.
        group: int64, a number for the source of each pair.
        asking: int64, equal for pairs whose asking texts are equal, from 0.
        found: int64, equal for pairs whose texts to be found are equal, from 0.
        learned: marks of all queries and sources.
    """

    queries: Bags
    texts: Bags
    group: Int64
    asking: Int64
    found: Int64
    learned: Learned

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True)
class Fold:
    """The pairs of one of several parts of all sources."""

    number: int
    of: int

    def __contains__(self, pair: TextPair) -> bool:
        return mark("fold", pair.group or pair.query) % self.of == self.number


def describe(pairs: PairsOfTopics | Fold) -> dict[str, object]:
    """What stands for pairs that are left out, as JSON."""
    if isinstance(pairs, Fold):
        return {"fold": pairs.number, "of": pairs.of}
    return {"queries": sorted(pairs.queries), "sources": sorted(pairs.sources)}


def read_pairs(options: PairsOptions, reader: Reader, without: PairsOfTopics | Fold) -> Pairs:
    """Read a file of pairs, where one is given, and passages where they are wanted."""
    text_pairs = pairs_of_file(options, without) if options.file is not None else []
    numbers: dict[str, int] = {}
    # Without a source, a query is one of its own.
    group = [numbers.setdefault(pair.group or pair.query, len(numbers)) for pair in text_pairs]
    asking = _numbered([pair.query for pair in text_pairs])
    found = _numbered([pair.text for pair in text_pairs])
    queries = reader.texts(pair.query for pair in text_pairs)
    texts = reader.texts(pair.text for pair in text_pairs)
    groups = np.array(group, dtype=np.int64)
    if options.passages:
        passages, titles, rows = read_passages(reader, options)
        queries, texts = joined(queries, passages), joined(texts, titles)
        groups = np.concatenate([groups, rows + len(numbers)])
        asking = np.concatenate([asking, len(text_pairs) + np.arange(len(rows))])
        found = np.concatenate([found, len(text_pairs) + rows])
    if len(np.unique(groups)) < _FEWEST:
        raise InputError(
            "there are too few pairs to learn from, apart from those of the topics at hand.",
            path=options.file,
        )
    return Pairs(
        queries,
        texts,
        groups,
        asking,
        found,
        Learned.of((pair.query for pair in text_pairs), {pair.group for pair in text_pairs} - {""}),
    )


def _numbered(texts: Sequence[str]) -> Int64:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)


def pairs_of_file(options: PairsOptions, without: PairsOfTopics | Fold) -> list[TextPair]:
    """The pairs of the file, but for those that are to be left out."""
    if options.file is None or not options.file.is_file():
        raise InputError("there is no such file of pairs.", path=options.file)
    pairs = read_text_pairs(
        options.file,
        query=options.query,
        text=options.text,
        group=options.group,
        marker=options.marker,
    )
    return list(islice((pair for pair in pairs if pair not in without), options.most))
