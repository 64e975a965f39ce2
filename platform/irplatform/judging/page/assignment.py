"""Who judges which document next.

A topic's documents come in the order of the pool. Most are judged by one person. A share is judged
by two: a document is among them if a hash of the pool's seed and its ids is low, so that a larger
share includes a smaller one. The document that somebody sees is kept from others for a while.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from irplatform.judging.pool_folder import Pool
    from irplatform.judging.store import Line, Store

    Pair = tuple[str, str]

RESERVED = 600.0
"""Seconds for which a document is kept for the person who sees it."""


def is_doubled(seed: int, topic: str, document: str, share: float) -> bool:
    """Return whether two people judge a document, given the share of such documents.

    >>> sum(is_doubled(1, "41", str(document), 0.1) for document in range(10_000))
    1006
    """
    hashed = blake2b(f"{seed}\t{topic}\t{document}".encode(), digest_size=8).digest()
    return int.from_bytes(hashed, "big") < share * 2.0**64


@dataclass(frozen=True)
class _Topic:
    judges: Mapping[str, int]
    """Document to how many people are to judge it, in the order of judging."""
    names: defaultdict[str, set[str]]
    """Document to who has judged it."""


class Assignment:
    """Hands out documents; called from one thread."""

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
        self._reservations: dict[str, tuple[Pair, float]] = {}
        self._judged = store.counts()
        self.renew(pool)

    def renew(self, pool: Pool) -> None:
        """Take the documents of a pool that has grown."""
        self.pool = pool
        self._topics.clear()
        self.placed = pool.counts
        """The number of documents to judge of each topic."""

    def next(self, name: str, topic: str) -> Pair | None:
        """Return a topic, or the next one with work for a person, and the document to judge there.

        It is kept from others until the person asks again, or for `RESERVED` seconds.
        """
        now, topics = self._clock(), [*self.placed]
        first = topics.index(topic) if topic in self.placed else 0
        self._reservations.pop(name, None)
        pairs = [pair for pair, until in self._reservations.values() if until > now]
        for candidate in topics[first:] + topics[:first]:
            state = self._state(candidate)
            for document, count in state.judges.items():
                names, pair = state.names.get(document, ()), (candidate, document)
                if name not in names and len(names) + pairs.count(pair) < count:
                    self._reservations[name] = pair, now + RESERVED
                    return pair
        return None

    def progress(self, topic: str) -> str:
        """Say how many documents of a topic, and of all, somebody has judged."""
        counts = {
            "in this topic": (self._judged.get(topic, 0), self.placed.get(topic, 0)),
            "in all": (sum(self._judged.values()), sum(self.placed.values())),
        }
        parts = [
            f"{judged:,} of {placed:,} {scope}"
            for scope, (judged, placed) in counts.items()
            if placed
        ]
        return f"Judged: {', '.join(parts)}"

    @property
    def is_done(self) -> bool:
        """Whether somebody has judged each document of the pool."""
        return all(self._judged.get(topic, 0) >= count for topic, count in self.placed.items())

    def note(self, line: Line) -> None:
        """Take a new line of the history into account."""
        if not line.adjudicates:
            judgment = line.judgment
            names = self._state(judgment.topic).names
            change = set.add if line.judged else set.discard
            change(names[judgment.document], judgment.source.name)
            self._judged[judgment.topic] = sum(map(bool, names.values()))

    def is_asked(self, topic: str, document: str) -> bool:
        """Return whether a document is one to judge for a topic."""
        return topic in self.placed and document in self._state(topic).judges

    def _state(self, topic: str) -> _Topic:
        if topic not in self._topics:
            judges = {
                item.document: 1 + is_doubled(self.pool.seed, topic, item.document, self._share)
                for item in self.pool.items(topic)
            }
            names = defaultdict(set)
            for line in self._store.of_topic(topic):
                if not line.adjudicates:
                    names[line.judgment.document].add(line.judgment.source.name)
            self._topics[topic] = _Topic(judges, names)
        return self._topics[topic]
