"""Pairs of documents to learn an order from.

An epoch pairs the relevant documents of a topic's pool (`pools`) with as many documents of lower
grade (Mohan et al., WWW 2018, section 4.2: equal numbers of relevant and non-relevant documents per
query), weighted by the square root of the difference of the grades (section 4.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pydantic import Field

from irplatform.training.pools import PoolSettings, Samples, draw_pools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import LabelledTopic
    from irplatform.text.arrays import Int64


class PairSettings(PoolSettings):
    """How pairs are drawn."""

    pairs_per_topic: int = Field(
        50, gt=0, description="most pairs of a topic in an epoch, one for each relevant document"
    )


@dataclass(frozen=True)
class Pairs(Samples):
    """Pairs (D+, D−) of documents of the same topic.

    Attributes:
        topic: int64 [n], index of the topic.
        higher: int64 [n], index of the document of higher grade in the topic's pool.
        lower: int64 [n], index of the other one.
        weight: float32 [n], square root of the difference of their grades.
    """

    topic: Int64
    higher: Int64
    lower: Int64
    weight: npt.NDArray[np.float32]

    def rows(self, starts: Int64) -> Int64:
        """Rows of the documents, int64 [2 · n], the higher ones first; `starts`: `pool_starts`."""
        start = starts[self.topic]
        return np.concatenate([start + self.higher, start + self.lower])


class PairSampler:
    """Draws pairs, the same ones for the same seed and epoch.

    Args:
        topics: where to learn from; those without a pair are left out.
        settings: how to draw.
        seed: of all choices.

    Raises:
        InputError: no topic has a pair.
    """

    def __init__(self, topics: Sequence[LabelledTopic], settings: PairSettings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.pools = draw_pools(topics, settings, seed)
        self.topics = [pool.labelled for pool in self.pools]

    def epoch(self, epoch: int) -> Pairs:
        """All pairs of an epoch, shuffled."""
        random = np.random.default_rng([self.seed, 1_000_003, epoch])
        per_topic = [self._pairs(number, random) for number in range(len(self.topics))]
        topic, higher, lower = (np.concatenate(column) for column in zip(*per_topic, strict=True))
        order = random.permutation(len(topic))
        topic, higher, lower = topic[order], higher[order], lower[order]
        difference = np.array(
            [
                self.pools[t].grades[h] - self.pools[t].grades[low]
                for t, h, low in zip(topic, higher, lower, strict=True)
            ],
            dtype=np.float32,
        )
        return Pairs(topic, higher, lower, np.sqrt(difference))

    def _pairs(self, number: int, random: np.random.Generator) -> tuple[Int64, Int64, Int64]:
        pool = self.pools[number]
        above_all = np.flatnonzero(pool.grades > pool.grades.min())
        higher = random.permutation(above_all)[: self.settings.pairs_per_topic]
        unjudged = np.flatnonzero(~pool.judged)
        lower = np.empty(len(higher), dtype=np.int64)
        from_unjudged = random.random(len(higher)) < self.settings.unjudged_share
        for i, document in enumerate(higher):
            judged = np.flatnonzero(pool.judged & (pool.grades < pool.grades[document]))
            use_unjudged = len(unjudged) and (from_unjudged[i] or not len(judged))
            lower[i] = random.choice(unjudged if use_unjudged else judged)
        return np.full(len(higher), number, dtype=np.int64), higher, lower
