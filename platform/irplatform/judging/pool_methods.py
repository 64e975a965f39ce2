"""Methods that choose the documents of a pool.

Ranks are those of trec_eval, which P@k and all measures look at: by score, and among equal scores
by document id, the last one first. The rank column of a file counts for nothing.

*Depth*: the best rank of a document in any run decides (Spärck Jones and van Rijsbergen 1975). With
a budget each topic is pooled as deep as its part reaches; of its last rank some are drawn.

*Stratified*: the stratum of a document follows from its best rank. Of each stratum of a topic a
share is drawn, at least one document (Yilmaz, Kanoulas and Aslam, SIGIR 2008). A budget scales the
shares alike, up to whole strata.

*Move-to-front* (Cormack, Palmer and Clarke, SIGIR 1998, the local form): in each topic the runs
stand in a queue. The first one gives its best document that no other has given. It stays at the
front while these are relevant; after one that is not it loses priority and goes behind the others
of that priority. What is not judged yet counts as not relevant. Topics have equal parts of the
budget.

*Worth* is what a judgment of a document says about which of two runs is better, after the minimal
test collections of Carterette, Allan and Sitaraman (SIGIR 2006), with DCG in place of average
precision and all pairs of runs in place of one:

    worth(i) = 2 p_i (1 - p_i) · sum over pairs a, b of wrong(a, b) · |gain_a(i) - gain_b(i)|

docs/judging.md says what its parts are.
"""

from __future__ import annotations

import heapq
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.files.columns import texts_of
from irplatform.files.digests import number_of
from irplatform.judging.pool_folder import BEFORE, Lines
from irplatform.judging.pool_settings import DEPTH, FRONT, STRATIFIED, WORTH
from irplatform.runs.packed import cells_of, union
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.files.columns import Cells
    from irplatform.runs.run import Run

Rows: TypeAlias = npt.NDArray[np.intp]
Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Grades: TypeAlias = "Mapping[str, Mapping[str, float | None]]"
"""Topic to document to grade; None of one that nobody could tell, which counts as not relevant."""
_NOWHERE = np.iinfo(np.int32).max
_BISECTIONS = 60
_NEWTON = 25
_STEP = 5.0
_RIDGE = 0.01


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of a topic that can be pooled.

    Attributes:
        topic: the topic.
        documents: packed ids, ascending.
        ranks: [runs, documents], from 1; 0 where a run does not have the document so high.
        judged: [documents], whether a document has been judged.
        relevant: [documents], whether it was judged relevant.
    """

    topic: str
    documents: Cells
    ranks: npt.NDArray[np.int32]
    judged: Flags
    relevant: Flags

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def best(self) -> npt.NDArray[np.int32]:
        """The best rank of each document in any run."""
        best: npt.NDArray[np.int32] = np.where(self.ranks > 0, self.ranks, _NOWHERE).min(axis=0)
        return best

    def random(self, *seed: int) -> np.random.Generator:
        """Return a source of random numbers of the topic's own, whatever other topics there are."""
        return np.random.default_rng([*seed, number_of(self.topic)])


def candidates(runs: Sequence[Run], depth: int, judged: Grades) -> Iterator[Candidates]:
    """Yield what can be pooled of each topic, in the order in which topics first come.

    Args:
        runs: the runs.
        depth: documents of a topic of each run.
        judged: what is judged already.
    """
    for topic in dict.fromkeys(topic for run in runs for topic in run.rankings):
        having = [row for row, run in enumerate(runs) if topic in run.rankings]
        documents, places = union([cells_of(runs[r].rankings[topic].top(depth)) for r in having])
        ranks = np.zeros((len(runs), len(documents)), dtype=np.int32)
        for row, place in zip(having, places, strict=True):
            ranks[row, place] = np.arange(1, len(place) + 1)
        flags = np.zeros((2, len(documents)), dtype=np.bool_)
        if grades := judged.get(topic):
            for row, document in enumerate(texts_of(documents)):
                flags[:, row] = document in grades, (grades.get(document) or 0) > 0
        yield Candidates(topic, documents, ranks, *flags)


def choose(
    topics: Sequence[Candidates],
    method: str,
    budget: int | None,
    seed: int,
    strata: Sequence[tuple[int, float]] = (),
) -> list[Lines]:
    """Choose documents of each topic that are not judged.

    Args:
        topics: what can be pooled.
        method: one of `METHODS`.
        budget: documents to judge in all; None takes all that the method reaches.
        seed: of the draws.
        strata: of a stratified sample, the last rank of each stratum, and the share of it to draw.

    Returns:
        The documents of each topic that are pooled; those to judge have the place 1.

    Raises:
        InputError: the budget has less than a document for each stratum of a topic.
    """
    if method == STRATIFIED:
        return _stratified(topics, strata, budget, seed)
    rule = {DEPTH: _depth, FRONT: _move_to_front, WORTH: _most_worth}[method]
    pairs = zip(topics, rule(topics, budget or sys.maxsize, seed), strict=True)
    return [
        Lines(topic.documents[rows], np.ones(len(rows), np.int64), np.ones(len(rows), np.int64))
        for topic, rows in pairs
    ]


def quotas(
    sizes: Sequence[int], budget: int, seed: int, judged: Sequence[int] | None = None
) -> list[int]:
    """Spread a budget over topics: the same for all, and what one cannot use over the others.

    Which topics get the remainder is drawn.

    Args:
        sizes: documents of each topic.
        budget: documents in all.
        seed: of the draw.
        judged: documents of each topic that are judged already, which count.

    >>> quotas([1, 5, 5], 7, seed=1), quotas([5, 5], 4, seed=1, judged=[3, 0])
    ([1, 3, 3], [0, 4])
    """
    before, ends = np.array(judged or [0] * len(sizes)), np.array(sizes)

    def upto(level: int) -> Integers:
        room: Integers = np.maximum(np.minimum(ends, level) - before, 0)
        return room

    level, most = 0, max(sizes, default=0)
    while level < most and int(upto(level + 1).sum()) <= budget:
        level += 1
    parts = upto(level)
    order = np.random.default_rng(seed).permutation(len(sizes))
    order = order[(upto(level + 1) > parts)[order]]
    parts[order[: budget - int(parts.sum())]] += 1
    return [*map(int, parts)]


def _depth(topics: Sequence[Candidates], budget: int, seed: int) -> list[Rows]:
    """The documents of best rank, the same number in each topic; among equals chance decides."""
    free = [topic.random(seed).permutation(np.flatnonzero(~topic.judged)) for topic in topics]
    counts = quotas([*map(len, free)], budget, seed)
    return [
        np.sort(rows[np.argsort(topic.best[rows], kind="stable")[:count]])
        for topic, rows, count in zip(topics, free, counts, strict=True)
    ]


def _stratified(
    topics: Sequence[Candidates],
    strata: Sequence[tuple[int, float]],
    budget: int | None,
    seed: int,
) -> list[Lines]:
    """A sample of each stratum; judged documents are in `BEFORE`, of which none are drawn."""
    ends = np.array([rank for rank, _ in strata])
    members = [
        np.where(topic.judged, BEFORE, np.searchsorted(ends, topic.best) + 1) for topic in topics
    ]
    sizes = np.array(
        [np.bincount(membership, minlength=len(ends) + 1)[1:] for membership in members]
    )
    wishes = sizes * np.array([share for _, share in strata])
    counts = _whole_numbers(wishes.ravel(), sizes.ravel(), budget).reshape(sizes.shape)
    choices = []
    for topic, membership, row in zip(topics, members, counts.tolist(), strict=True):
        random = topic.random(seed)
        drawn = np.zeros(len(topic), dtype=np.int64)
        for stratum, count in enumerate(row, start=1):
            drawn[random.permutation(np.flatnonzero(membership == stratum))[:count]] = 1
        choices.append(Lines(topic.documents, membership.astype(np.int64), drawn))
    return choices


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
    for _ in range(_BISECTIONS):
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


def _move_to_front(topics: Sequence[Candidates], count: int, seed: int) -> list[Rows]:
    """The next documents of each topic; judged ones count into equal parts."""
    judged = [int(topic.judged.sum()) for topic in topics]
    counts = quotas([*map(len, topics)], count, seed, judged)
    return [_front(topic, count, seed) for topic, count in zip(topics, counts, strict=True)]


def _front(topic: Candidates, count: int, seed: int) -> Rows:
    ranks = topic.ranks[topic.random(seed).permutation(len(topic.ranks))]
    lists = [
        iter(np.argsort(run_ranks, kind="stable")[np.count_nonzero(run_ranks == 0) :])
        for run_ranks in ranks
    ]
    queue = [(0, turn, turn) for turn in range(len(lists))]
    latest, visits, rows = len(lists), set[int](), list[int]()
    while queue and len(rows) < count:
        misses, turn, number = heapq.heappop(queue)
        row = next((row for row in lists[number] if row not in visits), None)
        if row is None:
            continue  # the run has no more
        visits.add(row)
        if not topic.judged[row]:
            rows.append(row)
        if not topic.relevant[row]:
            misses, turn, latest = misses + 1, latest, latest + 1
        heapq.heappush(queue, (misses, turn, number))
    return np.array(rows, dtype=np.intp)


def _most_worth(topics: Sequence[Candidates], count: int, seed: int) -> list[Rows]:
    """The documents that are worth most, of all topics together; among equals chance decides."""
    values = np.concatenate(worth(topics))
    free = np.flatnonzero(~np.concatenate([topic.judged for topic in topics]))
    places = np.random.default_rng(seed).permutation(free)
    best = np.sort(places[np.argsort(-values[places], kind="stable")[:count]])
    begins = np.append(0, np.cumsum([*map(len, topics)]))
    parts = np.split(best, np.searchsorted(best, begins[1:-1]))
    return [part - begin for part, begin in zip(parts, begins[:-1], strict=True)]


def worth(topics: Sequence[Candidates]) -> list[Floats]:
    """Return the worth of each candidate of each topic; 0 of what is judged."""
    from scipy.special import ndtr

    discounts = [
        np.where(topic.ranks > 0, 1 / np.log2(1 + np.maximum(topic.ranks, 1)), 0.0)
        for topic in topics
    ]
    chances = _chances(topics, [discount.mean(axis=0) for discount in discounts])
    runs = len(topics[0].ranks)
    sums, spread = np.zeros(runs), np.zeros((runs, runs))
    gains = []
    for topic, discount, chance in zip(topics, discounts, chances, strict=True):
        expected = np.where(topic.judged, topic.relevant, chance)
        depth = int(topic.ranks.max(initial=1))
        relevant = min(depth, max(1, round(float(expected.sum()))))
        gain = discount / (1 / np.log2(np.arange(2, relevant + 2))).sum()
        sums += gain @ expected
        spread += (gain * (expected * (1 - expected))) @ gain.T
        gains.append(gain)
    variances = np.diag(spread)
    deviation = np.sqrt(np.maximum(variances[:, None] + variances - 2 * spread, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing is unknown
        wrong = np.nan_to_num(ndtr(-np.abs(sums[:, None] - sums) / deviation), nan=0.5)
    values = []
    for topic, gain, chance in zip(topics, gains, chances, strict=True):
        influence = np.zeros(len(topic))
        for run in range(runs):
            influence += wrong[run, run + 1 :] @ np.abs(gain[run] - gain[run + 1 :])
        values.append(np.where(topic.judged, 0.0, 2 * chance * (1 - chance) * influence))
    return values


def _chances(topics: Sequence[Candidates], features: Sequence[Floats]) -> list[Floats]:
    """The chance of each candidate to be relevant."""
    examples = np.concatenate([f[t.judged] for f, t in zip(features, topics, strict=True)])
    labels = np.concatenate([t.relevant[t.judged] for t in topics]).astype(np.float64)
    weights = _logistic(examples, labels)
    chances = []
    for topic, feature in zip(topics, features, strict=True):
        chance = _sigmoid(weights[0] + weights[1] * feature)
        ratio = (topic.relevant.sum() + 1) / (chance[topic.judged].sum() + 1)
        odds = chance / (1 - chance) * ratio
        chances.append(odds / (1 + odds))
    return chances


def _logistic(features: Floats, labels: Floats) -> Floats:
    """Intercept and slope; one document of each kind with the mean feature is added."""
    mean = float(features.mean()) if len(features) else 0.0
    x = np.stack([np.ones(len(features) + 2), np.append(features, [mean, mean])])
    y = np.append(labels, [0.0, 1.0])
    weights = np.zeros(2)
    for _ in range(_NEWTON):
        chance = _sigmoid(weights @ x)
        slope = x @ (y - chance) - _RIDGE * weights
        bend = (x * (chance * (1 - chance))) @ x.T + _RIDGE * np.eye(2)
        weights = weights + np.clip(np.linalg.solve(bend, slope), -_STEP, _STEP)
    return weights


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))
