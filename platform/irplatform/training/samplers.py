"""Samples of training topics to learn from: pools of documents, pairs, and single documents.

A topic's pool has relevant documents, judged ones of grade 0, and unjudged candidates. Pairs have
equal numbers of both sides, weighted by the root of the difference of grades (Mohan et al., WWW
2018, section 4.2). Classifiers learn from the most relevant documents and as many others (Mohan et
al., BioNLP 2017, section 3.1), weighted by grade (section 4.6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import Field

from irplatform.errors import InputError
from irplatform.options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import LabelledTopic
    from irplatform.text.arrays import Float32, Int64


class PoolSettings(Options):
    """Which documents of a topic are learned from."""

    relevant: Literal["candidates", "judged"] = Field(
        "candidates",
        description="learn from the relevant documents that the first stage found, or from all "
        "judged ones; documents of grade 0 are always all judged ones",
    )
    unjudged_share: float = Field(
        0.3,
        ge=0,
        le=1,
        description="share of unjudged candidates among documents of lower grade, if the topic "
        "also has judged ones",
    )
    negatives_per_topic: int = Field(
        200,
        gt=0,
        description="most documents of grade 0, and most unjudged ones, in a topic's pool",
    )
    negatives_per_relevant: int = Field(
        20, gt=0, description="the same for each relevant document in the pool"
    )


@dataclass(frozen=True)
class Pool:
    """The documents of a topic to learn from; unjudged ones have the grade 0."""

    labelled: LabelledTopic
    doc_ids: tuple[str, ...]
    grades: npt.NDArray[np.float64]
    judged: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, labelled: LabelledTopic, doc_ids: Sequence[str], grades: Mapping[str, float]
    ) -> Pool:
        """Return some documents of a topic, with the grades of those that were judged."""
        return cls(
            labelled,
            tuple(doc_ids),
            np.array([grades.get(d, 0) for d in doc_ids], dtype=np.float64),
            np.array([d in grades for d in doc_ids], dtype=np.bool_),
        )

    @staticmethod
    def draw(items: Sequence[str], most: int, random: np.random.Generator) -> list[str]:
        """Return at most `most` of the items, drawn at random, in their order."""
        if len(items) <= most:
            return list(items)
        return [items[i] for i in np.sort(random.choice(len(items), most, replace=False))]


class Samples:
    """An epoch's draws from pools: dataclasses of arrays whose rows belong together."""

    topic: Int64

    def __len__(self) -> int:
        return len(self.topic)

    def batches(self, size: int) -> list[Self]:
        """Consecutive pieces of at most `size` rows."""
        return [
            type(self)(*(column[start : start + size] for column in vars(self).values()))
            for start in range(0, len(self), size)
        ]


def draw_pools(topics: Sequence[LabelledTopic], settings: PoolSettings, seed: int) -> list[Pool]:
    """Return the pools of topics with documents of different grades; InputError without any."""
    pools = [
        _pool(topic, settings, np.random.default_rng([seed, number]))
        for number, topic in enumerate(topics)
    ]
    return check_pools([pool for pool in pools if len(set(pool.grades.tolist())) > 1])


def check_pools(pools: list[Pool]) -> list[Pool]:
    """Return the pools; InputError if there are none."""
    if not pools:
        raise InputError("no training topic has two candidates of different relevance.")
    return pools


class HasDocuments(Protocol):
    """A pool of any kind."""

    @property
    def doc_ids(self) -> Sequence[str]:
        """The ids of its documents."""


class Sampler:
    """Draws from pools of training topics."""

    pools: Sequence[HasDocuments]

    @cached_property
    def offsets(self) -> Int64:
        """The row where each pool's documents begin if all are joined: int64 [pools + 1]."""
        return np.cumsum([0, *(len(pool.doc_ids) for pool in self.pools)], dtype=np.int64)

    @cached_property
    def starts(self) -> Int64:
        """The row of each pool's first document: int64 [pools]."""
        return self.offsets[:-1]


def _pool(topic: LabelledTopic, settings: PoolSettings, random: np.random.Generator) -> Pool:
    grades = {doc_id: max(grade, 0) for doc_id, grade in topic.judgments.items()}
    candidates = set(topic.candidates)
    relevant = sorted(d for d, grade in grades.items() if grade > 0)
    if settings.relevant == "candidates":
        relevant = [d for d in relevant if d in candidates]
    rejected = sorted(d for d, grade in grades.items() if grade == 0)
    unjudged = [d for d in topic.candidates if d not in grades]
    most = min(settings.negatives_per_topic, settings.negatives_per_relevant * len(relevant))
    doc_ids = [*relevant, *Pool.draw(rejected, most, random), *Pool.draw(unjudged, most, random)]
    return Pool.of(topic, doc_ids, grades)


class PairSettings(PoolSettings):
    """How pairs are drawn."""

    pairs_per_topic: int = Field(
        50, gt=0, description="most pairs of a topic in an epoch, one for each relevant document"
    )
    weighting: Literal["root", "none"] = Field(
        "root", description="weight of a pair: the root of the difference of grades, or 1"
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
        """Return the rows of the documents, int64 [2 · n], higher ones first; see `Sampler`."""
        start = starts[self.topic]
        return np.concatenate([start + self.higher, start + self.lower])


class PairSampler(Sampler):
    """Draws pairs, the same ones for the same seed and epoch.

    Topics without pairs are left out; InputError if all are.
    """

    Settings: TypeAlias = PairSettings
    Batch: TypeAlias = Pairs

    def __init__(self, topics: Sequence[LabelledTopic], settings: PairSettings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.pools: list[Pool] = draw_pools(topics, settings, seed)
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
        weighted = self.settings.weighting == "root"
        weight = np.sqrt(difference) if weighted else np.ones_like(difference)
        return Pairs(topic, higher, lower, weight)

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
    """Documents with their class.

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
        """Return the rows of the documents, int64 [n]; see `Sampler.starts`."""
        return starts[self.topic] + self.document


class PointSampler(Sampler):
    """Draws samples, the same ones for the same seed and epoch.

    Topics without a sample of either class are left out; InputError if all are.
    """

    Settings: TypeAlias = PointSettings
    Batch: TypeAlias = Points

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
        self.pools: list[Pool] = check_pools([pool for pool in pools if pool.grades.min() == 0])
        self.topics = [pool.labelled for pool in self.pools]

    def epoch(self, epoch: int) -> Points:
        """All samples of an epoch, shuffled."""
        random = np.random.default_rng([self._seed, 1_000_003, epoch])
        topics, documents, grades = [], [], []
        for number, pool in enumerate(self.pools):
            sample = self._choose(pool, random)
            topics.append(np.full(len(sample), number, dtype=np.int64))
            documents.append(sample)
            grades.append(pool.grades[sample])
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
    """Return the weights of samples of some grades, at least 1."""
    if weighting == "none":
        return np.ones(len(grades), dtype=np.float32)
    damped = np.log1p(grades) if weighting == "log" else np.sqrt(grades)
    return np.maximum(damped, 1).astype(np.float32)
