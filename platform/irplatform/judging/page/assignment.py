"""Who judges which document next.

A topic's documents come in the order of the pool. Most are judged by one person. A share is judged
by two: a document is among them if a hash of the pool's seed and its ids is low, so that a larger
share includes a smaller one. What a browser shows, and what it has fetched ahead, is kept from
others for a while.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from irplatform.judging.pool_folder import Pool
    from irplatform.judging.store import Line, Store

KEPT = 600.0
"""Seconds for which documents are kept for a person who does nothing."""
_WHOLE = 2.0**64


def is_doubled(seed: int, topic: str, document: str, share: float) -> bool:
    """Return whether two people judge a document, given the share of such documents.

    >>> sum(is_doubled(1, "41", str(document), 0.1) for document in range(10_000))
    1006
    """
    hashed = blake2b(f"{seed}\t{topic}\t{document}".encode(), digest_size=8).digest()
    return int.from_bytes(hashed, "big") < share * _WHOLE


@dataclass
class _Topic:
    """A topic's documents in the order of judging, and who has judged them."""

    documents: Sequence[str]
    known: Collection[str]
    doubled: Collection[str]
    judges: dict[str, set[str]] = field(default_factory=dict)
    begins: dict[str, int] = field(default_factory=dict)
    """The place before which a person has nothing to judge."""


@dataclass(frozen=True)
class Kept:
    """What is kept from others: documents of a topic, until a time."""

    topic: str
    documents: frozenset[str]
    until: float


class Assignment:
    """Hands out documents; called from one thread at a time."""

    def __init__(
        self,
        pool: Pool,
        store: Store,
        share: float = 0.0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._share, self._clock = store, share, clock
        self._topics: dict[str, _Topic] = {}
        self._kept: dict[str, Kept] = {}
        self.judged = store.counts()
        """The number of documents of each topic that somebody has judged."""
        self.renew(pool)

    def renew(self, pool: Pool) -> None:
        """Take the documents of a pool that has grown."""
        self.pool = pool
        self._topics.clear()
        placed = np.append(0, np.cumsum(pool.lines.places > 0))
        counts = np.diff(placed[pool.lines.bounds]).tolist()
        self.placed = {t: n for t, n in zip(pool.topics, counts, strict=True) if n}
        """The number of documents to judge of each topic."""

    def next(self, name: str, topic: str, count: int = 1) -> tuple[str, list[str]]:
        """Return the topic, or the next with work for a person, and the documents to judge there.

        They are kept from others until the person asks again, or for `KEPT` seconds.
        """
        topics = [*self.placed]
        first = topics.index(topic) if topic in self.placed else 0
        for each in topics[first:] + topics[:first]:
            if documents := self._free(name, each, count):
                self._kept[name] = Kept(each, frozenset(documents), self._clock() + KEPT)
                return each, documents
        self._kept.pop(name, None)
        return topic, []

    def progress(self, name: str, topic: str) -> dict[str, int]:
        """Return counts for a person: of the topic, of all, and of second judgments left there."""
        state = self._state(topic)
        twice = [state.judges.get(document, ()) for document in state.doubled]
        return {
            "judged": self.judged.get(topic, 0),
            "placed": self.placed.get(topic, 0),
            "second": sum(len(judges) == 1 and name not in judges for judges in twice),
            "all_judged": sum(self.judged.values()),
            "all_placed": sum(self.placed.values()),
        }

    @property
    def is_done(self) -> bool:
        """Whether somebody has judged each document of the pool."""
        return all(self.judged.get(topic, 0) >= n for topic, n in self.placed.items())

    def note(self, line: Line) -> None:
        """Take a new line of the history into account."""
        if line.adjudicates:
            return
        topic, document, name = _of(line)
        state = self._state(topic)
        judges = state.judges.setdefault(document, set())
        if line.judged:
            judges.add(name)
        else:
            judges.discard(name)
            state.begins.clear()
        if not judges:
            del state.judges[document]
        self.judged[topic] = len(state.judges)

    def is_asked(self, topic: str, document: str) -> bool:
        """Return whether a document is one to judge for a topic."""
        return topic in self.placed and document in self._state(topic).known

    def _free(self, name: str, topic: str, count: int) -> list[str]:
        state, now = self._state(topic), self._clock()
        others = [
            kept.documents
            for other, kept in self._kept.items()
            if other != name and kept.topic == topic and kept.until > now
        ]
        found: list[str] = []
        first = state.begins.get(name, 0)
        for place in range(first, len(state.documents)):
            document = state.documents[place]
            judges = state.judges.get(document, ())
            wanted = 1 + (document in state.doubled)
            if name in judges or len(judges) >= wanted:
                if not found and place == state.begins.get(name, 0):
                    state.begins[name] = place + 1
            elif len(judges) + sum(document in kept for kept in others) < wanted:
                found.append(document)
                if len(found) == count:
                    break
        return found

    def _state(self, topic: str) -> _Topic:
        if topic not in self._topics:
            documents = [item.document for item in self.pool.items(topic)]
            doubled = {
                document
                for document in documents
                if is_doubled(self.pool.seed, topic, document, self._share)
            }
            state = self._topics[topic] = _Topic(documents, {*documents}, doubled)
            for line in self._store.of_topic(topic):
                if not line.adjudicates:
                    _, document, name = _of(line)
                    state.judges.setdefault(document, set()).add(name)
        return self._topics[topic]


def _of(line: Line) -> tuple[str, str, str]:
    return line.judgment.topic, line.judgment.document, line.judgment.source.name
