"""Pools that are fixed before anything is judged: depth, joint priority, stratified samples.

- *depth*: the best rank of a document in any run decides (Spärck Jones and van Rijsbergen 1975).
  With a budget each topic is pooled as deep as its part reaches; of its last rank some are drawn.
- *rrf*: sum over the runs of 1 / (60 + rank) (Cormack, Clarke and Büttcher, SIGIR 2009).
- *rbp*: sum over the runs of 0.2 · 0.8^(rank - 1), method A of Moffat, Webber and Zobel (SIGIR
  2007).
- *stratified*: the stratum of a document follows from its best rank. Of each stratum of a topic a
  share is drawn, at least one document (Yilmaz, Kanoulas and Aslam, SIGIR 2008). A budget scales
  the shares alike, up to whole strata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irplatform.errors import InputError
from irplatform.judging.pool_folder import BEFORE
from irplatform.judging.pool_methods.candidates import quotas
from irplatform.judging.pool_settings import DEPTH
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.judging.pool_methods.candidates import Candidates, Flags, Floats, Integers

_K = 60
_PERSISTENCE = 0.8
_MOST_STEPS = 60


class Choice(NamedTuple):
    """The documents of a topic's candidates that are pooled.

    Attributes:
        rows: which candidates.
        strata: the stratum of each of them.
        drawn: whether it is to be judged.
    """

    rows: npt.NDArray[np.intp]
    strata: Integers
    drawn: Flags


def whole(rows: npt.NDArray[np.intp]) -> Choice:
    """Return the choice of documents that are all judged, in one stratum."""
    return Choice(rows, np.ones(len(rows), np.int64), np.ones(len(rows), np.bool_))


def by_priority(
    topics: Sequence[Candidates], method: str, budget: int | None, seed: int
) -> list[Choice]:
    """Choose the documents of highest priority, the same number in each topic."""
    free = [np.flatnonzero(~topic.judged) for topic in topics]
    sizes = [len(rows) for rows in free]
    counts = sizes if budget is None else quotas(sizes, budget, seed)
    chosen = []
    for topic, rows, count in zip(topics, free, counts, strict=True):
        shuffled = topic.random(seed).permutation(rows)  # among equals, chance decides
        order = np.argsort(-priorities(topic, method)[shuffled], kind="stable")
        chosen.append(whole(np.sort(shuffled[order[:count]])))
    return chosen


def priorities(topic: Candidates, method: str) -> Floats:
    """Return the priority of each candidate of a topic."""
    if method == DEPTH:
        return -topic.best.astype(np.float64)
    ranks = topic.ranks.astype(np.float64)
    parts = (
        1 / (_K + ranks) if method == "rrf" else (1 - _PERSISTENCE) * _PERSISTENCE ** (ranks - 1)
    )
    summed: Floats = np.where(topic.ranks > 0, parts, 0.0).sum(axis=0)
    return summed


def stratified(
    topics: Sequence[Candidates],
    strata: Sequence[tuple[int, float]],
    budget: int | None,
    seed: int,
) -> list[Choice]:
    """Draw a sample of each stratum of each topic.

    Judged documents are in the stratum `BEFORE`, of which none are drawn.

    Args:
        topics: what can be pooled.
        strata: the last rank of each stratum, and the share of it to draw.
        budget: documents to draw in all; by default as many as the shares say.
        seed: of the draws.

    Raises:
        InputError: the budget has less than a document for each stratum of a topic.
    """
    ends = np.array([rank for rank, _ in strata])
    members = [
        np.where(topic.judged, BEFORE, np.searchsorted(ends, topic.best) + 1) for topic in topics
    ]
    sizes = np.array([np.bincount(each, minlength=len(ends) + 1)[1:] for each in members])
    wishes = sizes * np.array([share for _, share in strata])
    counts = _whole_numbers(wishes.ravel(), sizes.ravel(), budget).reshape(sizes.shape)
    chosen = []
    for topic, each, row in zip(topics, members, counts.tolist(), strict=True):
        random = topic.random(seed)
        drawn = np.zeros(len(topic), dtype=np.bool_)
        for stratum, count in enumerate(row, start=1):
            drawn[random.permutation(np.flatnonzero(each == stratum))[:count]] = True
        chosen.append(Choice(np.arange(len(topic)), each.astype(np.int64), drawn))
    return chosen


def _whole_numbers(wishes: Floats, sizes: Integers, budget: int | None) -> Integers:
    """How many documents of each stratum to draw: at least one, at most all, the budget in sum."""
    least = (sizes > 0).astype(np.int64)
    if budget is None:
        rounded: Integers = np.clip(np.floor(wishes + 0.5).astype(np.int64), least, sizes)
        return rounded
    if budget < int(least.sum()):
        raise InputError(
            f"{option('budget', budget)} is less than a document for each stratum of each topic; "
            f"give at least {int(least.sum()):,}, or fewer strata."
        )
    budget = min(budget, int(sizes.sum()))
    low, high = 0.0, float(sizes.max()) / max(float(wishes[wishes > 0].min(initial=1)), 1e-9)
    for _ in range(_MOST_STEPS):
        middle = (low + high) / 2
        enough = np.clip(middle * wishes, least, sizes).sum() >= budget
        low, high = (low, middle) if enough else (middle, high)
    exact = np.clip(high * wishes, least, sizes)
    counts = np.clip(np.floor(exact).astype(np.int64), least, sizes)
    rest = budget - int(counts.sum())
    for place in np.argsort(counts - exact, kind="stable").tolist():
        if rest > 0 and counts[place] < sizes[place]:
            counts[place] += 1
            rest -= 1
    return counts
