"""The documents of training topics that pairs and points are drawn from.

For every topic a pool is drawn once: relevant documents, judged ones of grade 0, and unjudged
candidates of the first stage, which count as not relevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field

from irplatform.errors import InputError
from irplatform.options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import LabelledTopic
    from irplatform.text.arrays import Int64


class PoolSettings(Options):
    """Which documents of a topic are learned from."""

    relevant: Literal["candidates", "judged"] = Field(
        "candidates",
        description="learn from relevant documents that the first stage found, or from all judged; "
        "those of grade 0 are all judged ones",
    )
    unjudged_share: float = Field(
        0.3,
        ge=0,
        le=1,
        description="share of documents of lower grade that are unjudged candidates, where the "
        "topic also has judged ones",
    )
    negatives_per_topic: int = Field(
        200,
        gt=0,
        description="most documents of grade 0, and most unjudged ones, in a topic's pool",
    )
    negatives_per_relevant: int = Field(
        20, gt=0, description="most of either kind for each relevant document in the pool"
    )


@dataclass(frozen=True)
class Pool:
    """The documents of a topic to learn from.

    Attributes:
        labelled: the topic.
        doc_ids: the documents' ids.
        grades: float64, one per document; unjudged ones have 0.
        judged: whether each was judged.
    """

    labelled: LabelledTopic
    doc_ids: tuple[str, ...]
    grades: npt.NDArray[np.float64]
    judged: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, labelled: LabelledTopic, doc_ids: Sequence[str], grades: Mapping[str, float]
    ) -> Pool:
        """Some documents of a topic, with the grades of those that were judged."""
        return cls(
            labelled,
            tuple(doc_ids),
            np.array([grades.get(d, 0) for d in doc_ids], dtype=np.float64),
            np.array([d in grades for d in doc_ids], dtype=np.bool_),
        )


class Samples:
    """What an epoch draws from pools: dataclasses of arrays whose rows belong together."""

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
    """The pools of the topics that have documents of different grades.

    Raises:
        InputError: there is none.
    """
    pools = [
        _pool(topic, settings, np.random.default_rng([seed, number]))
        for number, topic in enumerate(topics)
    ]
    return check_pools([pool for pool in pools if len(set(pool.grades.tolist())) > 1])


def check_pools(pools: list[Pool]) -> list[Pool]:
    """The pools; InputError where there are none."""
    if not pools:
        raise InputError("no training topic has two candidates of different relevance.")
    return pools


class HasDocuments(Protocol):
    """A pool of any kind."""

    @property
    def doc_ids(self) -> Sequence[str]:
        """The ids of its documents."""


def pool_offsets(pools: Sequence[HasDocuments]) -> Int64:
    """Where the documents of each pool begin, where all pools lie one behind the other.

    Returns:
        int64 [pools + 1]; the last one is the number of all documents.
    """
    return np.cumsum([0, *(len(pool.doc_ids) for pool in pools)], dtype=np.int64)


def pool_starts(pools: Sequence[HasDocuments]) -> Int64:
    """The row of each pool's first document, int64 [pools], see `pool_offsets`."""
    return pool_offsets(pools)[:-1]


def _pool(topic: LabelledTopic, settings: PoolSettings, random: np.random.Generator) -> Pool:
    grades = {doc_id: max(grade, 0) for doc_id, grade in topic.judgments.items()}
    candidates = set(topic.candidates)
    relevant = sorted(d for d, grade in grades.items() if grade > 0)
    if settings.relevant == "candidates":
        relevant = [d for d in relevant if d in candidates]
    rejected = sorted(d for d, grade in grades.items() if grade == 0)
    unjudged = [d for d in topic.candidates if d not in grades]
    most = min(settings.negatives_per_topic, settings.negatives_per_relevant * len(relevant))
    doc_ids = [*relevant, *draw_some(rejected, most, random), *draw_some(unjudged, most, random)]
    return Pool.of(topic, doc_ids, grades)


def draw_some(items: Sequence[str], most: int, random: np.random.Generator) -> list[str]:
    """At most `most` of the items, drawn at random, in their order."""
    if len(items) <= most:
        return list(items)
    return [items[i] for i in np.sort(random.choice(len(items), most, replace=False))]
