"""Pairs of documents to learn an order from.

An epoch pairs the relevant documents of a topic's pool (`pools`) with as many documents of lower
grade (Mohan et al., WWW 2018, section 4.2: equal numbers of relevant and non-relevant documents per
query), weighted by the square root of the difference of the grades (section 4.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from irplatform.training.pools import PoolSettings, Samples, check_pools, draw_pools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import LabelledTopic
    from irplatform.text.arrays import Float32, Int64
    from irplatform.training.pools import Pool


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


# Single documents to learn relevance from: the samples of models that classify.
#
# For every topic, its most relevant documents and as many that are not relevant (Mohan et al.,
# BioNLP 2017, section 3.1: at most 20 of the most relevant documents of a query and an equal
# number of others), drawn from the same pools as pairs. Weighted samples count by their grade r:
# max(1, log(1 + r)) (2017, section 4.6) or its square root (Mohan et al., WWW 2018, section
# 4.3.3); samples that are not relevant always count 1.

Weighting = Literal["none", "log", "root"]
"""How much a relevant sample of grade r counts: 1, max(1, log(1 + r)) or max(1, √r)."""


class PointSettings(PoolSettings):
    """How samples are drawn."""

    samples_per_topic: int = Field(
        20,
        gt=0,
        description="most relevant samples of a topic in an epoch, and most others [paper: 20]",
    )


@dataclass(frozen=True)
class Points(Samples):
    """Documents with the class that they belong to.

    Attributes:
        topic: int64 [n], index of the topic.
        document: int64 [n], index of the document in the topic's pool.
        label: float32 [n], 1 for relevant ones, else 0.
        weight: float32 [n], how much each counts, at least 1.
    """

    topic: Int64
    document: Int64
    label: Float32
    weight: Float32

    def rows(self, starts: Int64) -> Int64:
        """Rows of the documents, int64 [n]; `starts`: `pool_starts`."""
        return starts[self.topic] + self.document


class PointSampler:
    """Draws samples, the same ones for the same seed and epoch.

    Args:
        topics: where to learn from; those without a sample of either class are left out.
        settings: how to draw.
        seed: of all choices.
        weighting: how much relevant samples count.

    Raises:
        InputError: no topic has samples of both classes.
    """

    def __init__(
        self,
        topics: Sequence[LabelledTopic],
        settings: PointSettings,
        seed: int,
        weighting: Weighting = "none",
    ) -> None:
        self._settings = settings
        self._seed = seed
        self._weighting = weighting
        pools = draw_pools(topics, settings, seed)
        self.pools = check_pools([pool for pool in pools if pool.grades.min() == 0])
        self.topics = [pool.labelled for pool in self.pools]

    def epoch(self, epoch: int) -> Points:
        """All samples of an epoch, shuffled."""
        random = np.random.default_rng([self._seed, 1_000_003, epoch])
        topics, documents, grades = [], [], []
        for number, pool in enumerate(self.pools):
            chosen = self._choose(pool, random)
            topics.append(np.full(len(chosen), number, dtype=np.int64))
            documents.append(chosen)
            grades.append(pool.grades[chosen])
        grade = np.concatenate(grades)
        order = random.permutation(len(grade))
        grade = grade[order]
        return Points(
            np.concatenate(topics)[order],
            np.concatenate(documents)[order],
            (grade > 0).astype(np.float32),
            sample_weights(grade, self._weighting),
        )

    def _choose(self, pool: Pool, random: np.random.Generator) -> Int64:
        relevant = random.permutation(np.flatnonzero(pool.grades > 0))
        relevant = relevant[np.argsort(-pool.grades[relevant], kind="stable")]
        judged = random.permutation(np.flatnonzero((pool.grades == 0) & pool.judged))
        unjudged = random.permutation(np.flatnonzero(~pool.judged))
        count = min(len(relevant), len(judged) + len(unjudged), self._settings.samples_per_topic)
        # The share on average; where one kind does not suffice, the other makes up for it.
        from_unjudged = random.binomial(count, self._settings.unjudged_share)
        from_unjudged = min(max(from_unjudged, count - len(judged)), len(unjudged))
        from_judged = count - from_unjudged
        return np.concatenate([relevant[:count], judged[:from_judged], unjudged[:from_unjudged]])


def sample_weights(grades: npt.NDArray[np.float64], weighting: Weighting) -> Float32:
    """How much samples of some grades count, at least 1."""
    if weighting == "none":
        return np.ones(len(grades), dtype=np.float32)
    damped = np.log1p(grades) if weighting == "log" else np.sqrt(grades)
    return np.maximum(damped, 1).astype(np.float32)
