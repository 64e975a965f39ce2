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

from irplatform.training.pools import PoolSettings, check_pools, draw_pools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import LabelledTopic


class PairSettings(PoolSettings):
    """How pairs are drawn."""

    pairs_per_topic: int = Field(
        50, gt=0, description="most pairs of a topic in an epoch, one for each relevant document"
    )


@dataclass(frozen=True)
class Pairs:
    """Pairs (D+, D−) of documents of the same topic.

    Attributes:
        topic: int64 [n], index of the topic.
        higher: int64 [n], index of the document of higher grade in the topic's pool.
        lower: int64 [n], index of the other one.
        weight: float32 [n], square root of the difference of their grades.
    """

    topic: npt.NDArray[np.int64]
    higher: npt.NDArray[np.int64]
    lower: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.topic)

    def rows(self, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows of the documents where all pools lie one behind the other: higher ones, then lower.

        Args:
            starts: int64 [pools], the row of each pool's first document, see `pool_starts`.

        Returns:
            int64 [2 · n].
        """
        start = starts[self.topic]
        return np.concatenate([start + self.higher, start + self.lower])

    def batches(self, size: int) -> list[Pairs]:
        """Consecutive pieces of at most `size` pairs."""
        parts = [slice(start, start + size) for start in range(0, len(self), size)]
        return [
            Pairs(self.topic[part], self.higher[part], self.lower[part], self.weight[part])
            for part in parts
        ]


class PairSampler:
    """Draws pairs, the same ones for the same seed and epoch.

    Args:
        topics: where to learn from; those without a pair are left out.
        settings: how to draw.
        seed: of all choices.

    Attributes:
        topics: the topics that have at least one pair.
        pools: their documents, in the same order.

    Raises:
        InputError: no topic has a pair.
    """

    def __init__(self, topics: Sequence[LabelledTopic], settings: PairSettings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.pools = draw_pools(topics, settings, seed)
        check_pools(self.pools)
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

    def _pairs(
        self, number: int, random: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
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
