"""Lists and groups of documents of one topic to learn an order from.

A list has relevant documents and others of the same pool, drawn wherever the first stage ranks
them: n documents teach the order of up to n²/4 pairs, where n in pairs teach n/2 (Gao, Dai and
Callan, ECIR 2021, section 3). A group is a relevant document with negatives from inside and outside
the topic's candidates (Lo et al., DeepSenSe, "Problem formulation"), fixed per topic, so whatever
depends on them is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from irplatform.errors import InputError
from irplatform.options import Options
from irplatform.training.samplers import Pool, PoolSettings, Sampler, Samples, draw_pools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.data import LabelledTopic
    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Int64


class ListSettings(PoolSettings):
    """How lists are drawn."""

    relevant_per_list: int = Field(8, gt=0, description="most relevant documents of a list")
    lower_per_list: int = Field(16, gt=0, description="most documents of lower grade in a list")
    lower_per_relevant: int = Field(
        7, gt=0, description="the same for each relevant document of the list"
    )
    relevant_per_topic: int = Field(
        50, gt=0, description="most relevant documents of a topic in an epoch, each in one list"
    )


@dataclass(frozen=True)
class Lists:
    """Lists of documents, each of one topic.

    Attributes:
        topic: int64 [n], index of the topic.
        documents: indexes into the topic's pool, int64 [documents of the list] each.
    """

    topic: Int64
    documents: tuple[Int64, ...]

    def __len__(self) -> int:
        return len(self.topic)


class ListSampler(Sampler):
    """Draws lists, the same ones for the same seed and epoch.

    Topics without documents of different grades are left out; InputError if all are.
    """

    Settings: TypeAlias = ListSettings
    Batch: TypeAlias = Lists

    def __init__(self, topics: Sequence[LabelledTopic], settings: ListSettings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.pools: list[Pool] = draw_pools(topics, settings, seed)

    def epoch(self, epoch: int) -> Lists:
        """Return all lists of an epoch, shuffled; their number never changes."""
        random = np.random.default_rng([self.seed, 1_000_003, epoch])
        topics, documents = [], []
        for number in range(len(self.pools)):
            for places in self._lists(number, random):
                topics.append(number)
                documents.append(places)
        order = random.permutation(len(topics))
        topic = np.array(topics, dtype=np.int64)[order]
        return Lists(topic, tuple(documents[place] for place in order))

    def batches(self, epoch: int, documents: int) -> Iterator[Lists]:
        """Yield the epoch's lists in pieces of at most `documents` documents or one list."""
        lists = self.epoch(epoch)
        size = max(1, documents // max(len(places) for places in lists.documents))
        for start in range(0, len(lists), size):
            part = slice(start, start + size)
            yield Lists(lists.topic[part], lists.documents[part])

    def _lists(self, number: int, random: np.random.Generator) -> Iterator[Int64]:
        pool, settings = self.pools[number], self.settings
        lowest = pool.grades == pool.grades.min()
        relevant = random.permutation(np.flatnonzero(~lowest))[: settings.relevant_per_topic]
        judged, unjudged = np.flatnonzero(lowest & pool.judged), np.flatnonzero(~pool.judged)
        for start in range(0, len(relevant), settings.relevant_per_list):
            positives = relevant[start : start + settings.relevant_per_list]
            count = min(settings.lower_per_list, settings.lower_per_relevant * len(positives))
            others = max(round(settings.unjudged_share * count), count - len(judged))
            others = min(others, len(unjudged))
            yield np.concatenate(
                [positives, _draw(judged, count - others, random), _draw(unjudged, others, random)]
            )


def _draw(places: Int64, count: int, random: np.random.Generator) -> Int64:
    if len(places) <= count:
        return places
    drawn: Int64 = random.choice(places, count, replace=False)
    return drawn


class GroupSettings(Options):
    """How groups are drawn."""

    inside: int = Field(6, ge=0, description="negatives of a group from the topic's candidates")
    outside: int = Field(
        1, ge=0, description="negatives of a group from the rest of the collection"
    )
    relevant: Literal["candidates", "judged"] = Field(
        "candidates",
        description="learn from the relevant documents that the first stage found, or all judged",
    )
    inside_pool: int = Field(
        40, gt=0, description="candidates of a topic that epochs draw negatives from"
    )
    outside_pool: int = Field(
        10, gt=0, description="other documents that epochs draw negatives from"
    )
    groups_per_topic: int = Field(10, gt=0, description="most groups of a topic in an epoch")

    @field_validator("outside")
    @classmethod
    def _some_negative(cls, value: int, info: ValidationInfo) -> int:
        if value == 0 == info.data.get("inside"):
            raise ValueError("a group needs a negative, but inside is 0, too")
        return value


@dataclass(frozen=True)
class GroupPool:
    """The documents of a topic to learn from.

    First come `relevant` ones, then `inside` candidates of the topic, then others.
    """

    doc_ids: tuple[str, ...]
    relevant: int
    inside: int


@dataclass(frozen=True)
class Groups(Samples):
    """Groups of documents of the same topic.

    Attributes:
        topic: int64 [g], index of the topic.
        documents: int64 [g, 1 + negatives], indexes into the topic's pool; the relevant one first.
    """

    topic: Int64
    documents: Int64

    def batches(self, size: int) -> list[Groups]:
        """Consecutive pieces of about `size` documents, at least one group each."""
        return super().batches(max(1, size // self.documents.shape[1]))


class GroupSampler(Sampler):
    """Draws groups, the same ones for the same seed and epoch.

    Topics without a relevant document or a negative are left out; InputError if all are. Documents
    outside the candidates are drawn from the index.
    """

    Settings: TypeAlias = GroupSettings
    Batch: TypeAlias = Groups

    def __init__(
        self,
        topics: Sequence[LabelledTopic],
        settings: GroupSettings,
        index: ForwardIndex,
        seed: int,
    ) -> None:
        self.settings = settings
        self.seed = seed
        self.topics: list[LabelledTopic] = []
        self.pools: list[GroupPool] = []
        for number, topic in enumerate(topics):
            pool = self._pool(topic, index, np.random.default_rng([seed, 2, number]))
            if pool.relevant and len(pool.doc_ids) > pool.relevant:
                self.topics.append(topic)
                self.pools.append(pool)
        if not self.pools:
            raise InputError("no training topic has a relevant document and another one.")

    def _pool(
        self, topic: LabelledTopic, index: ForwardIndex, random: np.random.Generator
    ) -> GroupPool:
        settings = self.settings
        candidates = set(topic.candidates)
        relevant = sorted(
            doc_id
            for doc_id, grade in topic.judgments.items()
            if grade > 0 and (settings.relevant == "judged" or doc_id in candidates)
        )
        negatives = [d for d in topic.candidates if topic.judgments.get(d, 0) <= 0]
        inside: list[str] = []
        if settings.inside and negatives:
            size = min(settings.inside_pool, len(negatives))
            places = np.sort(random.choice(len(negatives), size, replace=False))
            inside = [negatives[i] for i in places]
        outside: list[str] = []
        if settings.outside:
            rows = np.unique(random.integers(index.count, size=2 * settings.outside_pool))
            doc_ids = index.doc_ids(random.permutation(rows))
            others = [d for d in doc_ids if d not in candidates and d not in topic.judgments]
            outside = others[: settings.outside_pool]
        return GroupPool((*relevant, *inside, *outside), len(relevant), len(inside))

    def epoch(self, epoch: int) -> Groups:
        """All groups of an epoch, shuffled."""
        random = np.random.default_rng([self.seed, 1_000_003, epoch])
        topics, documents = [], []
        for number, pool in enumerate(self.pools):
            for relevant in random.permutation(pool.relevant)[: self.settings.groups_per_topic]:
                topics.append(number)
                documents.append([relevant, *self._negatives(pool, random)])
        order = random.permutation(len(topics))
        width = 1 + self.settings.inside + self.settings.outside
        members = np.array(documents, dtype=np.int64).reshape(len(topics), width)
        return Groups(np.array(topics, dtype=np.int64)[order], members[order])

    def _negatives(self, pool: GroupPool, random: np.random.Generator) -> list[int]:
        """Places of the negatives; if one side of the pool has none, the other gives them."""
        inside = np.arange(pool.relevant, pool.relevant + pool.inside)
        outside = np.arange(pool.relevant + pool.inside, len(pool.doc_ids))
        return [
            *_draw_group(inside if len(inside) else outside, self.settings.inside, random),
            *_draw_group(outside if len(outside) else inside, self.settings.outside, random),
        ]


def _draw_group(places: Int64, count: int, random: np.random.Generator) -> list[int]:
    """Some of the places, each at most once if there are enough."""
    group: list[int] = random.choice(places, count, replace=len(places) < count).tolist()
    return group
