"""The identity of a topic across collections: its question, not its id.

A model that has learned from a topic has seen the answer, under whatever id the question comes
again. Capitals, word order and query templates make no difference.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from irplatform.files.digests import fingerprint

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from irplatform.data import Topic

APART = "citing_id"
"""The topic field whose values keep topics together: sentences of one citing article."""
_WORD = re.compile(r"\w+")
_SUBJECT = ("disease", "gene")
"""Fields that identify a topic of precision medicine: the patient and the treatment change little
about what is relevant."""
_ADDED = "treatment"
"""The field with an addition to another topic's query."""


def topic_marks(topic: Topic) -> frozenset[str]:
    """Return fingerprints that identify a topic across collections.

    One is of the words of its query. Another is of its disease and gene, if it has both, or else of
    its query without the treatment: a topic with an added treatment stays the topic it was made
    from.
    """
    texts = [_words(topic.query)]
    subject = [_words(*topic.values(name)) for name in _SUBJECT]
    if all(subject):
        texts.append(sum(subject, Counter()))
    elif without_treatment := texts[0] - _words(*topic.values(_ADDED)):
        texts.append(without_treatment)
    return frozenset(map(_mark, texts))


@lru_cache(maxsize=64)  # a sentence of a file of pairs stands there once per title that it cites
def query_mark(text: str) -> str:
    """Return the fingerprint of a query's words, one of the `topic_marks` of such topics."""
    return _mark(_words(text))


def source_mark(source: str) -> str:
    """Return the identity of a source of topics or pairs, such as a DOI, without capitals."""
    return " ".join(source.split()).casefold()


def _mark(words: Counter[str]) -> str:
    return fingerprint({"words": sorted(words.elements())})


def _words(*texts: str) -> Counter[str]:
    return Counter(_WORD.findall(" ".join(texts).casefold()))


def families(topics: Sequence[Topic]) -> list[int]:
    """Return the number of each topic's family: topics that share a mark or a source, transitively.

    What was learned from one topic of a family is no surprise in another.
    """
    return components([[*topic_marks(topic), *sources(topic)] for topic in topics])


def sources(topic: Topic) -> list[tuple[str, str]]:
    """Return keys of a topic's sources, by the field `APART`; none without that field."""
    return [(APART, mark) for mark in map(source_mark, topic.values(APART)) if mark]


def components(keys: Sequence[Iterable[Hashable]]) -> list[int]:
    """Return the number of each item's component: items that share keys, transitively.

    Components count from 0 in the order of their first items.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    nodes: dict[Hashable, int] = {}
    edges = [
        (item, len(keys) + nodes.setdefault(key, len(nodes)))
        for item, item_keys in enumerate(keys)
        for key in item_keys
    ]
    if not edges:
        return list(range(len(keys)))
    size = len(keys) + len(nodes)
    items, ends = zip(*edges, strict=True)
    graph = coo_matrix(([True] * len(edges), (items, ends)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels[: len(keys)].tolist()]
