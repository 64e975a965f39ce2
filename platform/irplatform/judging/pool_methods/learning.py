"""Methods that learn from judgments, and so choose documents in rounds.

*Move-to-front* (Cormack, Palmer and Clarke, SIGIR 1998, the local form): in each topic the runs
stand in a queue. The first one gives its best document that no other has given. It stays at the
front while these are relevant; after one that is not it loses priority and goes behind the others
of that priority. What is not judged yet counts as not relevant. Topics have equal parts of the
budget.

*Worth* is what a judgment of a document says about which of two runs is better, after the minimal
test collections of Carterette, Allan and Sitaraman (SIGIR 2006), with DCG in place of average
precision, so that the effect of a document is known without those of others, and with all pairs of
runs in place of one:

    worth(i) = 2 p_i (1 - p_i) · sum over pairs a, b of wrong(a, b) · |gain_a(i) - gain_b(i)|

- gain_a(i) = 1 / log2(1 + rank of i in a) over the topic's ideal; 0 beyond the depth;
- p_i is the chance that i is relevant: a logistic regression on the mean of 1 / log2(1 + rank)
  over the runs, learned from what is judged, 0.5 before; its odds are multiplied by the topic's
  relevant documents over those that it expects, one added to both;
- 2 p (1 - p) is how far a judgment moves the relevance that is expected;
- wrong(a, b) = Φ(-|μ| / σ) is the chance that a and b stand the wrong way round, where μ and σ are
  mean and standard deviation of their difference if the unjudged documents are relevant with
  chances p_i, each for itself.

The ideal has as many relevant documents as are expected. Relevance is binary: any grade above 0.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from irplatform.judging.pool_methods.candidates import quotas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from irplatform.judging.pool_methods.candidates import Candidates, Floats

Rows: TypeAlias = "npt.NDArray[np.intp]"
_NEWTON = 25
_STEP = 5.0
_RIDGE = 0.01
_DECIDED = 0.05


def move_to_front(topics: Sequence[Candidates], count: int, seed: int) -> list[Rows]:
    """Return the rows of the next documents of each topic; judged ones count into equal parts."""
    judged = [int(topic.judged.sum()) for topic in topics]
    counts = quotas([len(topic) for topic in topics], count, seed, judged)
    return [_front(topic, count, seed) for topic, count in zip(topics, counts, strict=True)]


def _front(topic: Candidates, count: int, seed: int) -> Rows:
    """The next documents of a topic."""
    runs = topic.random(seed).permutation(len(topic.ranks)).tolist()
    lists = [_in_order(topic.ranks[run]) for run in runs]
    queue = [(0, turn, turn) for turn in range(len(lists))]
    latest, seen, found = len(lists), set[int](), list[int]()
    judged, relevant = topic.judged.tolist(), topic.relevant.tolist()
    while queue and len(found) < count:
        misses, turn, number = heapq.heappop(queue)
        row = next((row for row in lists[number] if row not in seen), None)
        if row is None:
            continue  # the run has no more
        seen.add(row)
        if not judged[row]:
            found.append(row)
        if not relevant[row]:
            misses, turn, latest = misses + 1, latest, latest + 1
        heapq.heappush(queue, (misses, turn, number))
    return np.array(found, dtype=np.intp)


def _in_order(ranks: npt.NDArray[np.int32]) -> Iterator[int]:
    rows = np.flatnonzero(ranks)
    return iter(rows[np.argsort(ranks[rows])].tolist())


class Worth(NamedTuple):
    """What judgments would tell.

    Attributes:
        of_documents: for each topic, the worth of its candidates; 0 of what is judged.
        wrong: [runs, runs], the chance that two stand the wrong way round.
        scores: [runs], the nDCG that is expected, of binary relevance.
    """

    of_documents: Sequence[Floats]
    wrong: Floats
    scores: Floats

    @property
    def decided(self) -> tuple[int, int]:
        """The pairs of runs that stand the right way round with a chance of 95 %, and all pairs."""
        pairs = self.wrong[np.triu_indices(len(self.wrong), 1)]
        return int((pairs < _DECIDED).sum()), len(pairs)


def most_worth(topics: Sequence[Candidates], count: int, seed: int) -> list[Rows]:
    """Return the rows of the documents that are worth most; among equals chance decides."""
    values = [*worth(topics).of_documents]
    numbers = np.repeat(np.arange(len(topics)), [len(each) for each in values])
    rows = np.concatenate([np.arange(len(each)) for each in values])
    free = ~np.concatenate([topic.judged for topic in topics])
    places = np.random.default_rng(seed).permutation(np.flatnonzero(free))
    best = places[np.argsort(-np.concatenate(values)[places], kind="stable")[:count]]
    return [np.sort(rows[best[numbers[best] == number]]) for number in range(len(topics))]


def worth(topics: Sequence[Candidates]) -> Worth:
    """Return what a judgment of each document would tell about which runs are better."""
    discounts = [_discounts(topic) for topic in topics]
    chances = _chances(topics, [each.mean(axis=0) for each in discounts])
    runs = len(topics[0].ranks)
    sums, spread = np.zeros(runs), np.zeros((runs, runs))
    gains = []
    for topic, each, chance in zip(topics, discounts, chances, strict=True):
        expected = np.where(topic.judged, topic.relevant, chance)
        depth = int(topic.ranks.max(initial=1))
        relevant = min(depth, max(1, round(float(expected.sum()))))
        gain = each / (1 / np.log2(np.arange(2, relevant + 2))).sum()
        sums += gain @ expected
        spread += (gain * (expected * (1 - expected))) @ gain.T
        gains.append(gain)
    own = np.diag(spread)
    deviation = np.sqrt(np.maximum(own[:, None] + own - 2 * spread, 0.0))
    wrong = _wrong(np.abs(sums[:, None] - sums), deviation)
    values = []
    for topic, gain, chance in zip(topics, gains, chances, strict=True):
        told = np.zeros(len(topic))
        for run in range(runs):
            told += wrong[run, run + 1 :] @ np.abs(gain[run] - gain[run + 1 :])
        values.append(np.where(topic.judged, 0.0, 2 * chance * (1 - chance) * told))
    return Worth(values, wrong, sums / len(topics))


def _discounts(topic: Candidates) -> Floats:
    ranks = topic.ranks.astype(np.float64)
    return np.where(ranks > 0, 1 / np.log2(1 + np.maximum(ranks, 1)), 0.0)


def _wrong(difference: Floats, deviation: Floats) -> Floats:
    from scipy.special import ndtr

    certain = deviation <= 1e-12 * np.maximum(difference, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance: Floats = ndtr(-difference / np.where(certain, 1.0, deviation))
    chance[certain] = np.where(difference[certain] > 0, 0.0, 0.5)
    return chance


def _chances(topics: Sequence[Candidates], features: Sequence[Floats]) -> list[Floats]:
    """The chance of each candidate to be relevant."""
    known = np.concatenate([f[t.judged] for f, t in zip(features, topics, strict=True)])
    labels = np.concatenate([t.relevant[t.judged] for t in topics]).astype(np.float64)
    weights = _logistic(known, labels)
    chances = []
    for topic, feature in zip(topics, features, strict=True):
        chance = _sigmoid(weights[0] + weights[1] * feature)
        judged = topic.judged
        ratio = (topic.relevant.sum() + 1) / (chance[judged].sum() + 1)
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
