"""Which training topics learn and which validate, for each member of an ensemble.

Without validation topics of their own, the training topics are split into folds, each of which
validates the member that learned from the others: no topic is lost to learning, and the weight of
interpolation is chosen on all of them. A collection with a `dev` split validates every member on
that; the members then differ by their seeds. A topic without a relevant document tells nothing
about a ranking, so those that have some are dealt out first, to all folds alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from irplatform.system.workers import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

T = TypeVar("T")

MEMBERS = 5
"""How many models are trained and averaged: five single models differ more on the same topics than
most things that one would want to tell apart."""

MOST_WEIGHING_TOPICS = 300
"""Topics of a split that the weight of interpolation is chosen on; more would only take longer."""

_APART = 1000
"""Between the seeds of repeated trainings: the members of each have seeds that follow its own."""


def seeds_of(first: int, count: int) -> list[int]:
    """The seeds of repeated trainings of a system, whose members share none.

    Args:
        first: the first one.
        count: how many.
    """
    return [(first + _APART * number) % 2**32 for number in range(count)]


@dataclass(frozen=True)
class Split(Generic[T]):
    """Topics to learn from and topics to validate on."""

    training: tuple[T, ...]
    validation: tuple[T, ...]

    @property
    def weight_topics(self) -> tuple[T, ...]:
        """Those of the validation topics that the weight of interpolation is chosen on."""
        return weight_topics(self.validation)


def weight_topics(topics: Sequence[T]) -> tuple[T, ...]:
    """Topics to choose a weight of interpolation on: all, or of many, evenly taken."""
    return tuple(sample_evenly(topics, MOST_WEIGHING_TOPICS))


def split_topics(
    topics: Sequence[T],
    validation: Sequence[T] | None,
    seed: int,
    members: int = MEMBERS,
    families: Sequence[int] | None = None,
    useful: Sequence[bool] | None = None,
) -> list[Split[T]]:
    """Split the training topics; one split per member of the ensemble.

    Each has a useful topic to validate on: where there are few, there are fewer splits.

    Args:
        topics: the training topics.
        validation: validation topics, where the collection has some apart.
        seed: of the choice.
        members: how many.
        families: see `fold_topics`.
        useful: see `fold_topics`.
    """
    if validation:
        return [Split(tuple(topics), tuple(validation))] * members
    folds = max(members, MEMBERS)
    if useful is not None:
        folds = min(folds, len(_useful_families(families or range(len(topics)), useful)))
    return fold_topics(topics, folds, seed, families, useful)[:members]


def fold_topics(
    topics: Sequence[T],
    folds: int,
    seed: int,
    families: Sequence[int] | None = None,
    useful: Sequence[bool] | None = None,
) -> list[Split[T]]:
    """Every topic validates in exactly one of `folds` splits.

    Args:
        topics: the topics.
        folds: how many splits; at most as many as there are families.
        seed: of the choice.
        families: per topic the number of its family, from 0, which stays together: topics that ask
            the same. Without them each topic is one of its own.
        useful: per topic whether it has a relevant document. Each fold gets such a topic, as long
            as there are enough; without them all topics count as useful.
    """
    kin = list(range(len(topics))) if families is None else families
    use = [True] * len(topics) if useful is None else useful
    random = np.random.default_rng([seed, 7])
    # Where the first of a family goes, the others follow: they move no other topic.
    first = {family: place for place, family in reversed(list(enumerate(kin)))}
    first |= {family: place for place, family in reversed(list(enumerate(kin))) if use[place]}
    folds = min(folds, len(first))
    by_place = _dealt(_useful_first(random.permutation(len(topics)), use), folds)
    fold_of = {family: by_place[place] for family, place in first.items()}
    wanted = _useful_families(kin, use)
    if (
        len(set(fold_of.values())) < folds  # many topics of few families
        or len({fold_of[family] for family in wanted}) < min(folds, len(wanted))
    ):
        use = [family in wanted for family in first]
        order = _useful_first(random.permutation(len(first)), use)
        fold_of = dict(zip(first, _dealt(order, folds), strict=True))
    return [
        Split(
            tuple(t for t, family in zip(topics, kin, strict=True) if fold_of[family] != fold),
            tuple(t for t, family in zip(topics, kin, strict=True) if fold_of[family] == fold),
        )
        for fold in range(folds)
    ]


def _useful_families(kin: Sequence[int], useful: Sequence[bool]) -> set[int]:
    """The families that have a useful topic."""
    return {family for family, use in zip(kin, useful, strict=True) if use}


def _useful_first(order: npt.NDArray[np.int64], useful: Sequence[bool]) -> npt.NDArray[np.int64]:
    """An order of places, those of useful topics before the others; as it was where all are."""
    return order[np.argsort(~np.asarray(useful, dtype=bool)[order], kind="stable")]


def _dealt(order: npt.NDArray[np.int64], folds: int) -> list[int]:
    """Per place the fold that it goes to, when places are dealt out in an order."""
    fold_of = np.empty(len(order), dtype=np.int64)
    fold_of[order] = np.arange(len(order)) % max(folds, 1)
    per_place: list[int] = fold_of.tolist()
    return per_place
