"""Lists of documents of one topic to learn an order from.

A list has relevant documents and others of the same pool (`pools`), so that reading n documents
teaches the order of up to n²/4 pairs, where n documents in pairs teach n/2 (Gao, Dai and Callan,
ECIR 2021, section 3, learn from lists with one relevant document). Others are drawn alike, wherever
the first stage ranks them. If they came from its head, where relevant documents come from
everywhere, a model would learn that what the first stage ranks high is not relevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from irplatform.training.pools import PoolSettings, draw_pools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.plugin import LabelledTopic
    from irplatform.text.arrays import Int64


class ListSettings(PoolSettings):
    """How lists are drawn."""

    relevant_per_list: int = Field(8, gt=0, description="most relevant documents of a list")
    lower_per_list: int = Field(16, gt=0, description="most documents of lower grade in a list")
    lower_per_relevant: int = Field(
        7, gt=0, description="most of them for each relevant document of the list"
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


class ListSampler:
    """Draws lists, the same ones for the same seed and epoch.

    Args:
        topics: where to learn from; those without documents of different grades are left out.
        settings: how to draw.
        seed: of all choices.

    Raises:
        InputError: no topic has documents of different grades.
    """

    def __init__(self, topics: Sequence[LabelledTopic], settings: ListSettings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.pools = draw_pools(topics, settings, seed)

    def epoch(self, epoch: int) -> Lists:
        """All lists of an epoch, shuffled; every epoch has as many."""
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
        """The epoch's lists in pieces of at most so many documents, at least one list each.

        Every epoch has as many pieces.
        """
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
            chosen = relevant[start : start + settings.relevant_per_list]
            wanted = min(settings.lower_per_list, settings.lower_per_relevant * len(chosen))
            others = max(round(settings.unjudged_share * wanted), wanted - len(judged))
            others = min(others, len(unjudged))
            yield np.concatenate(
                [chosen, _draw(judged, wanted - others, random), _draw(unjudged, others, random)]
            )


def _draw(places: Int64, count: int, random: np.random.Generator) -> Int64:
    if len(places) <= count:
        return places
    drawn: Int64 = random.choice(places, count, replace=False)
    return drawn
