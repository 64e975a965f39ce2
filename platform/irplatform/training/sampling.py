"""Pairs of documents to learn an order from.

For every topic a pool of documents is drawn once: relevant ones, judged ones of lower grade, and
unjudged candidates of the first stage, which count as not relevant. An epoch then pairs relevant
documents with as many documents of lower grade (Mohan et al., WWW 2018, section 4.2: equal numbers
of relevant and non-relevant documents per query), weighted by the square root of the difference of
the grades (section 4.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from irplatform.errors import InputError
from irplatform.plugin import LabelledTopic, Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class PoolSettings(Options):
    """Which documents of a topic are learned from."""

    relevant: Literal["candidates", "judged"] = Field(
        "candidates",
        description="learn from relevant documents that the first stage found, or from all judged",
    )
    unjudged_share: float = Field(
        0.3,
        ge=0,
        le=1,
        description="share of pairs whose lower document is an unjudged candidate, where the topic "
        "also has judged ones",
    )
    negatives_per_topic: int = Field(
        200,
        gt=0,
        description="most documents of grade 0, and most unjudged ones, in a topic's pool",
    )
    negatives_per_relevant: int = Field(
        20, gt=0, description="most of either kind for each relevant document in the pool"
    )


class PairSettings(PoolSettings):
    """How pairs are drawn."""

    pairs_per_topic: int = Field(50, gt=0, description="most pairs of a topic in an epoch")


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
            starts: the row of each pool's first document, see `pool_starts`.
        """
        start = starts[self.topic]
        return np.concatenate([start + self.higher, start + self.lower])

    def batches(self, size: int) -> Iterator[Pairs]:
        """Consecutive pieces of at most `size` pairs."""
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield Pairs(self.topic[part], self.higher[part], self.lower[part], self.weight[part])


@dataclass(frozen=True)
class Pool:
    """The documents of a topic to learn from.

    Attributes:
        labelled: the topic.
        doc_ids: the documents' ids.
        grades: int64, one per document; unjudged ones have 0.
        judged: whether each was judged.
    """

    labelled: LabelledTopic
    doc_ids: tuple[str, ...]
    grades: npt.NDArray[np.int64]
    judged: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, labelled: LabelledTopic, doc_ids: Sequence[str], grades: Mapping[str, int]) -> Pool:
        """Some documents of a topic, with the grades of those that were judged."""
        return cls(
            labelled,
            tuple(doc_ids),
            np.array([grades.get(d, 0) for d in doc_ids], dtype=np.int64),
            np.array([d in grades for d in doc_ids], dtype=np.bool_),
        )


def draw_pools(topics: Sequence[LabelledTopic], settings: PoolSettings, seed: int) -> list[Pool]:
    """The pools of the topics that have documents of different grades."""
    drawn = (
        _pool(topic, settings, np.random.default_rng([seed, number]))
        for number, topic in enumerate(topics)
    )
    return [pool for pool in drawn if len(set(pool.grades.tolist())) > 1]


def check_pools(pools: Sequence[Pool]) -> None:
    """Refuse to learn from nothing.

    Raises:
        InputError: there are no pools.
    """
    if not pools:
        raise InputError("no training topic has two candidates of different relevance.")


def pool_starts(pools: Sequence[Pool]) -> npt.NDArray[np.int64]:
    """The row of each pool's first document where all pools lie one behind the other."""
    sizes = np.array([len(pool.doc_ids) for pool in pools], dtype=np.int64)
    return sizes.cumsum() - sizes


def _pool(topic: LabelledTopic, settings: PoolSettings, random: np.random.Generator) -> Pool:
    grades = {doc_id: max(grade, 0) for doc_id, grade in topic.judgments.items()}
    candidates = set(topic.candidates)
    relevant = sorted(d for d, grade in grades.items() if grade > 0)
    if settings.relevant == "candidates":
        relevant = [d for d in relevant if d in candidates]
    rejected = sorted(d for d, grade in grades.items() if grade == 0)
    unjudged = [d for d in topic.candidates if d not in grades]
    most = min(settings.negatives_per_topic, settings.negatives_per_relevant * len(relevant))
    chosen = [
        *relevant,
        *draw_some(rejected, most, random),
        *draw_some(unjudged, most, random),
    ]
    return Pool.of(topic, chosen, grades)


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
        parts = [self._pairs(number, random) for number in range(len(self.topics))]
        topic, higher, lower = (np.concatenate(column) for column in zip(*parts, strict=True))
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


def draw_some(items: Sequence[str], most: int, random: np.random.Generator) -> list[str]:
    """At most `most` of the items, drawn at random, in their order."""
    if len(items) <= most:
        return list(items)
    return [items[i] for i in np.sort(random.choice(len(items), most, replace=False))]
