"""A method of fusion with its parameters and weights, chosen on judged topics.

`choose_method` tries every method with every mixture of weights, and takes the one with the highest
mean nDCG@20 (nDCG-exp@20 for levels), if it gains more than a standard error over the best of the
plain ways: equal reciprocal ranks, and each run alone. Choosing among so many flatters the winner,
so its gain is estimated on topics that it was not chosen on: in each of five folds, the whole
choice is made on the other folds.

`learn_weights` takes one method. With equal weights a weak retriever can pull a good one down; a
coordinate search over a few weights and parameters finds a better mixture. It replaces the plain
one only if it gains more than the standard error of the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from irplatform.comparison.tests import Difference, MeanDifference, paired_test
from irplatform.evaluation.gain import ndcg, ndcg_of, validation_measure
from irplatform.files.columns import texts_of
from irplatform.retrieval.fusion import Fusion
from irplatform.runs.fuse import Pool, fuse_weighted
from irplatform.runs.fusion import fusion_methods
from irplatform.runs.fusion.ranks import Ranks
from irplatform.runs.packed import doc_ids_of
from irplatform.runs.run import Run, in_32_bits
from irplatform.workers.distribution import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from irplatform.data import Qrels
    from irplatform.runs.fusion.method import FusionMethod
    from irplatform.runs.run import Ranking
    from irplatform.text.arrays import Float64

PLAIN = Ranks()
FOLDS = 5
MOST_TOPICS = 1000
"""Topics that a method is chosen on; more would only take longer."""
_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""The weights of the coordinate search; the largest weight is scaled to 1."""
_SWEEPS = 3
_STEPS = {2: 10, 3: 10, 4: 5, 5: 5, 6: 4}
"""Runs → parts that the weights are divided into; with more runs, thirds."""
_DEPTH = 200
"""Documents beyond this rank of every run hardly reach the first 20 of a fusion."""
_CUTOFF = 20


@dataclass(frozen=True)
class FusionChoice:
    """A method of fusion and how it was chosen.

    Attributes:
        method: chosen on all topics.
        topics: their number.
        measure: that was maximized.
        values: its mean over held-out topics by "chosen" methods, by equal reciprocal ranks
            ("plain"), and by the best run alone ("alone").
        best_run: that run's place among the runs.
        over_plain: the gain over equal reciprocal ranks on held-out topics.
        over_best: the gain over the best run alone.
        folds: the held-out topics of each fold, with the method chosen on the others.
    """

    method: FusionMethod
    topics: int
    measure: str
    values: Mapping[str, float]
    best_run: int
    over_plain: Difference
    over_best: Difference
    folds: tuple[tuple[frozenset[str], FusionMethod], ...]

    def fuse(self, runs: Sequence[Run], name: str, depth: int | None = None) -> Run:
        """Fuse the runs that the method was chosen on: held-out topics by their fold's method."""
        method_of = {topic: method for topics, method in self.folds for topic in topics}
        rankings: dict[str, Ranking] = {}
        for topic in dict.fromkeys(topic for run in runs for topic in run.rankings):
            method = method_of.get(topic, self.method)
            rankings |= fuse_weighted(_of_topic(runs, topic), method, depth=depth).rankings
        return Run(name, rankings)


def tried_methods() -> list[FusionMethod]:
    """Return the methods that are tried, with their parameters."""
    return [tried for method in fusion_methods().values() for tried in method.tried()]


def choose_method(
    runs: Sequence[Run],
    judgments: Qrels,
    methods: Sequence[FusionMethod] = (),
    seed: int = 42,
) -> FusionChoice | None:
    """Choose a method by the judged topics of runs; None for fewer than two such topics.

    Args:
        runs: at least two, of the systems to fuse.
        judgments: topics without a relevant document do not count.
        methods: to choose from, by default `tried_methods`; those with weights are tried with these
            alone.
        seed: of the folds.
    """
    topics = _sample(dict.fromkeys(topic for run in runs for topic in run.rankings), judgments)
    if len(topics) < 2:
        return None
    plain_ways = _plain_ways(len(runs))
    candidates = [*plain_ways, *_candidates(methods or tried_methods(), len(runs))]
    values = _values(candidates, _tables(runs, topics, judgments))
    choice = _best_place(values, len(plain_ways))
    order = np.random.default_rng(seed).permutation(len(topics))
    folds = []
    for fold in range(min(FOLDS, len(topics))):
        held_out = order[fold::FOLDS]
        others = np.setdiff1d(order, held_out)
        method = candidates[_best_place(values[:, others], len(plain_ways))]
        folds.append((frozenset(topics[place] for place in held_out), method))

    def score(method: FusionMethod, topic: str) -> float:
        return _ndcg(fuse_weighted(_of_topic(runs, topic), method, depth=_CUTOFF), topic, judgments)

    held_out_values = {
        topic: score(method, topic) for fold_topics, method in folds for topic in fold_topics
    }
    plain = {topic: score(PLAIN, topic) for topic in topics}
    alone = [{topic: _ndcg(run, topic, judgments) for topic in topics} for run in runs]
    best_run = int(np.argmax([sum(fold_topics.values()) for fold_topics in alone]))
    means = {"chosen": held_out_values, "plain": plain, "alone": alone[best_run]}
    return FusionChoice(
        candidates[choice],
        len(topics),
        validation_measure([judgments[topic] for topic in topics]),
        {name: float(np.mean([*fold_topics.values()])) for name, fold_topics in means.items()},
        best_run,
        paired_test(plain, held_out_values),
        paired_test(alone[best_run], held_out_values),
        tuple(folds),
    )


def learn_weights(runs: Sequence[Run], judgments: Qrels, method: FusionMethod = PLAIN) -> Fusion:
    """Choose weights and parameters of a method by the judged topics of runs.

    The measure is mean nDCG@20; of levels, nDCG-exp@20. Topics without a relevant document do not
    count. The result is the method with equal weights, unless another mixture is better by more
    than the standard error.
    """
    topics = _sample(runs[0].rankings, judgments)
    if len(topics) < 2:
        return Fusion(method)
    tables = _tables([run.top(_DEPTH) for run in runs], topics, judgments)
    best = plain = replace(method, weights=(1.0,) * len(runs))
    (before,) = values = _values([plain], tables)
    for _ in range(_SWEEPS):
        neighbours = [*_neighbours(best)]
        tried = _values(neighbours, tables)
        place = int(tried.mean(axis=1).argmax())
        if tried[place].mean() <= values.mean():
            break
        best, values = neighbours[place], tried[place]
    if best == plain or not MeanDifference.of(values - before).is_clear:
        return Fusion(method, len(topics))
    scaled = tuple(weight / max(best.weights) for weight in best.weights)
    return Fusion(replace(best, weights=scaled), len(topics))


def _neighbours(method: FusionMethod) -> Iterator[FusionMethod]:
    """The method with another parameter, or with another weight of one run."""
    for tried in method.tried_alone():
        yield replace(tried, weights=method.weights)
    for place in range(len(method.weights)):
        for weight in _WEIGHTS:
            weights = (*method.weights[:place], weight, *method.weights[place + 1 :])
            if any(weights):
                yield replace(method, weights=weights)


def _sample(topics: Iterable[str], judgments: Qrels) -> Sequence[str]:
    """At most `MOST_TOPICS` topics with a relevant document."""
    relevant = [t for t in topics if any(g > 0 for g in judgments.get(t, {}).values())]
    return sample_evenly(relevant, MOST_TOPICS)


def _best_place(values: Float64, plain_ways: int) -> int:
    """The place of the best candidate [candidates, topics], or of the best plain way, the first."""
    means = values.mean(axis=1)
    best, plain = int(means.argmax()), int(means[:plain_ways].argmax())
    return best if MeanDifference.of(values[best] - values[plain]).is_clear else plain


def _plain_ways(runs: int) -> list[FusionMethod]:
    equal = (1.0,) * runs
    alone = [tuple(float(place == run) for place in range(runs)) for run in range(runs)]
    return [replace(PLAIN, weights=weights) for weights in (equal, *alone)]


def _ndcg(run: Run, topic: str, judgments: Qrels) -> float:
    doc_ids = doc_ids_of(run.rankings[topic]) if topic in run.rankings else ()
    return ndcg_of(doc_ids, judgments[topic], _CUTOFF)


def _of_topic(runs: Sequence[Run], topic: str) -> list[Run]:
    return [
        Run(run.name, {topic: run.rankings[topic]} if topic in run.rankings else {}) for run in runs
    ]


def _candidates(methods: Sequence[FusionMethod], runs: int) -> Iterator[FusionMethod]:
    """The methods with all mixtures; not where a run without weight changes the others' parts."""
    mixtures = list(dict.fromkeys([(1.0,) * runs, *_mixtures(runs)]))
    for method in methods:
        for weights in [method.weights] if method.weights else mixtures:
            if all(weights) or not method.needs_all:
                yield replace(method, weights=weights)


def _mixtures(runs: int) -> Iterator[tuple[float, ...]]:
    """All ways to divide a whole among runs, as small whole numbers."""
    steps = _STEPS.get(runs, 3)
    for bars in combinations(range(steps + runs - 1), runs - 1):
        parts = np.diff([-1, *bars, steps + runs - 1]) - 1
        yield tuple((parts / np.gcd.reduce(parts)).tolist())


@dataclass(frozen=True, eq=False)
class _Table:
    """A topic as candidates are tried on it.

    Attributes:
        places: of the runs that have the topic.
        pool: what these found.
        near: the documents that a run has at a rank up to `_DEPTH`; ties are in this order.
        gains: the nDCG of a ranking that has nothing but the document, of these.
    """

    places: Sequence[int]
    pool: Pool
    near: npt.NDArray[np.intp]
    gains: Float64

    @classmethod
    def of(cls, runs: Sequence[Run], topic: str, judgments: Mapping[str, float]) -> _Table:
        places = [place for place, run in enumerate(runs) if topic in run.rankings]
        pool = Pool.of([runs[place].rankings[topic] for place in places])
        ranks, _ = pool.parts(Ranks(k=0), [1.0] * len(places))
        near = np.flatnonzero(ranks.max(axis=0) >= 1 / _DEPTH)[::-1]  # ties: by descending id
        return cls(places, pool, near, _gains(texts_of(pool.documents[near]), judgments))

    def values(self, candidates: Sequence[FusionMethod]) -> list[float]:
        """The measure by each candidate; those of one method come one after the other."""
        values: list[float] = []
        for method, group in groupby(candidates, key=lambda tried: replace(tried, weights=())):
            parts, hits = self.pool.parts(method, [1.0] * len(self.places))
            weights = np.array([candidate.weights for candidate in group])[:, self.places]
            weighted_hits = weights @ hits[:, self.near]
            if method.multiplies:
                scores = (weights > 0) @ parts[:, self.near] * weighted_hits
            else:
                scores = weights @ parts[:, self.near]
            scores[weighted_hits == 0] = -np.inf  # only runs without weight found them
            first = np.argsort(-in_32_bits(scores), axis=1, kind="stable")[:, :_CUTOFF]
            retrieved = np.take_along_axis(scores, first, axis=1) > -np.inf
            ranked = np.where(retrieved, self.gains[first], 0.0)
            values += (ranked / np.log2(np.arange(2, ranked.shape[1] + 2))).sum(axis=1).tolist()
        return values


def _tables(runs: Sequence[Run], topics: Sequence[str], judgments: Qrels) -> list[_Table]:
    return [_Table.of(runs, topic, judgments[topic]) for topic in topics]


def _values(candidates: Sequence[FusionMethod], tables: Sequence[_Table]) -> Float64:
    """The measure [candidates, topics]."""
    return np.ascontiguousarray(np.array([table.values(candidates) for table in tables]).T)


def _gains(doc_ids: Sequence[str], judgments: Mapping[str, float]) -> Float64:
    """The nDCG of a ranking that has nothing but the document: its share of the ideal."""
    judged = np.array(list(judgments.values()))
    exponential = judged.dtype.kind == "f"
    gain_of = {
        g: ndcg([g], judged, _CUTOFF, exponential=exponential) for g in {0, *judged.tolist()}
    }
    return np.array([gain_of[judgments.get(doc_id, 0)] for doc_id in doc_ids])
