"""Groups to learn from: a relevant document with negatives from inside and outside its candidates.

Lo et al. (DeepSenSe, "Problem formulation") pair each citing sentence and cited article with one
article from the sentence's first 1,000 and one from all others, so that a model learns both the
subtle and the general differences. A group can be learned from document by document, as pairs, or
as one relevant document among its negatives. The negatives that an epoch draws from are fixed per
topic, so that whatever is computed of them is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from irplatform.errors import InputError
from irplatform.plugin import LabelledTopic, Options
from irplatform.training.pools import Samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Int64


class GroupSettings(Options):
    """How groups are drawn."""

    inside: int = Field(6, ge=0, description="negatives of a group from the topic's candidates")
    outside: int = Field(
        1, ge=0, description="negatives of a group from the rest of the collection"
    )
    relevant: Literal["candidates", "judged"] = Field(
        "candidates",
        description="learn from relevant documents that the first stage found, or from all judged",
    )
    inside_pool: int = Field(
        40, gt=0, description="candidates of a topic that epochs draw negatives from"
    )
    outside_pool: int = Field(10, gt=0, description="other documents that they draw them from")
    groups_per_topic: int = Field(10, gt=0, description="most groups of a topic in an epoch")

    @field_validator("outside")
    @classmethod
    def _some_negative(cls, value: int, info: ValidationInfo) -> int:
        if value == 0 == info.data.get("inside"):
            raise ValueError("a group needs a negative, and inside is 0, too")
        return value


@dataclass(frozen=True)
class GroupPool:
    """The documents of a topic to learn from: relevant ones, then candidates, then others.

    Attributes:
        doc_ids: their ids.
        relevant: how many of them are relevant.
        inside: how many of the following ones are candidates of the topic.
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


class GroupSampler:
    """Draws groups, the same ones for the same seed and epoch.

    Args:
        topics: where to learn from; those without a relevant document or a negative are left out.
        settings: how to draw.
        index: where documents outside the candidates are drawn from.
        seed: of all choices.

    Raises:
        InputError: no topic has a group.
    """

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
        """Places of the negatives; what one side of the pool lacks, the other gives."""
        inside = np.arange(pool.relevant, pool.relevant + pool.inside)
        outside = np.arange(pool.relevant + pool.inside, len(pool.doc_ids))
        return [
            *_draw(inside if len(inside) else outside, self.settings.inside, random),
            *_draw(outside if len(outside) else inside, self.settings.outside, random),
        ]


def _draw(places: Int64, count: int, random: np.random.Generator) -> list[int]:
    """So many of the places, each at most once where there are enough."""
    chosen: list[int] = random.choice(places, count, replace=len(places) < count).tolist()
    return chosen
