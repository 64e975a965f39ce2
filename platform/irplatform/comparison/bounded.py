"""Bounds of systems and pairs; those of large runs are kept in the cache.

They stand under digests of the runs and the judgments, so that a comparison with another baseline,
or of more systems, computes those of the new ones alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from irplatform.comparison.bounds import Bounds, Rescorer, mean
from irplatform.comparison.results import Pair, System, verdict_of
from irplatform.comparison.tests import paired_test
from irplatform.evaluation.known_values import is_large, judgments_digest, run_digest
from irplatform.files.code_digests import our_digest
from irplatform.files.facts import kept_fact
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.comparison.bounds import ByMeasure
    from irplatform.comparison.tests import Difference, Test
    from irplatform.data import Qrels
    from irplatform.evaluation.kinds import MeasureFunction, PerTopic
    from irplatform.evaluation.scoring import Evaluation
    from irplatform.runs.run import Run

T = TypeVar("T")


class KnownBounds:
    """The bounds of some runs by one collection's judgments and measures."""

    def __init__(
        self,
        runs: Mapping[str, Run],
        qrels: Qrels,
        measures: Sequence[str],
        extra: Mapping[str, MeasureFunction] | None,
    ) -> None:
        self._keeps = {*measures}.isdisjoint(extra or {}) and any(map(is_large, runs.values()))
        if self._keeps:
            self._common = {
                "code": our_digest(),
                "judgments": judgments_digest(qrels),
                "measures": [*measures],
            }
            self._digests = {name: run_digest(run) for name, run in runs.items()}

    def of(self, kind: str, names: Sequence[str], compute: Callable[[], T]) -> T:
        """Return what was computed of the runs of these names, or compute it."""
        if not self._keeps:
            return compute()
        depends_on = {**self._common, "what": kind, "runs": [self._digests[n] for n in names]}
        return kept_fact("values", "-".join(names), depends_on, compute)


class Bounded:
    """Values of all runs under other judgments of unjudged documents and other orders of ties."""

    def __init__(
        self,
        rescorer: Rescorer,
        runs: Mapping[str, Run],
        evaluations: Mapping[str, Evaluation],
        cache: KnownBounds,
    ) -> None:
        self.rescorer = rescorer
        self._cache = cache
        self._runs = runs
        self._values: dict[str, Mapping[str, PerTopic]] = {
            name: evaluation.per_topic for name, evaluation in evaluations.items()
        }
        self._condensed: dict[str, ByMeasure] = {}
        self._filled: dict[str, ByMeasure] = {}
        self._ties: dict[str, tuple[ByMeasure, ByMeasure]] = {}
        self._swayed: dict[tuple[str, str], list[tuple[ByMeasure, ByMeasure]]] = {}
        with progress("looking at unjudged documents", len(runs), "runs") as advance:
            for name, run in runs.items():
                self._condensed[name] = self._of("condensed", name, rescorer.condensed, run)
                fill = partial(rescorer.filled, run)
                self._filled[name] = self._of("filled", name, fill, self._values[name])
                worst = self._of("worst", name, partial(rescorer.reordered, best=False), run)
                best = self._of("best", name, partial(rescorer.reordered, best=True), run)
                self._ties[name] = self._changed(name, worst), self._changed(name, best)
                advance(1)

    def _of(self, kind: str, name: str, compute: Callable[[T], ByMeasure], of: T) -> ByMeasure:
        return self._cache.of(kind, [name], lambda: compute(of))

    def with_scores(self, system: System) -> System:
        """Add the bounds of a system's means."""
        scores = dict(system.scores)
        condensed, filled = self._condensed[system.name], self._filled[system.name]
        worst, best = self._ties[system.name]
        for measure in self.rescorer.measures:
            scores[measure] = replace(
                scores[measure],
                condensed=mean(condensed[measure].values()),
                unjudged=Bounds(scores[measure].mean, mean(filled[measure].values())),
                ties=Bounds(mean(worst[measure].values()), mean(best[measure].values())),
            )
        return replace(system, scores=scores)

    def _changed(self, name: str, changed: ByMeasure) -> ByMeasure:
        """All values of a run, some of them changed."""
        return {m: {**self._values[name][m], **changed[m]} for m in self.rescorer.measures}

    def with_bounds(self, pair: Pair, test: Test, seed: int) -> Pair:
        """Add a pair's bounds, and whether its verdict depends on them."""
        measure, names = pair.measure, (pair.baseline, pair.system)
        if measure not in self.rescorer.measures or pair.p is None:
            return pair
        if names not in self._swayed:
            one, other = (self._runs[name] for name in names)
            swayed = self._cache.of("swayed", names, lambda: [*self.rescorer.swayed(one, other)])
            self._swayed[names] = [
                (self._changed(names[0], of_one), self._changed(names[1], of_other))
                for of_one, of_other in swayed
            ]
        unjudged = [(one[measure], other[measure]) for one, other in self._swayed[names]]
        (worst_one, best_one), (worst_other, best_other) = (self._ties[name] for name in names)
        ties = [
            (best_one[measure], worst_other[measure]),
            (worst_one[measure], best_other[measure]),
        ]
        unjudged_bounds, unjudged_decide = _outcomes(pair, unjudged, test, seed)
        tie_bounds, ties_decide = _outcomes(pair, ties, test, seed)
        reasons = {"unjudged": unjudged_decide and self.rescorer.names_others, "ties": ties_decide}
        depends_on = tuple(reason for reason, decides in reasons.items() if decides)
        return replace(pair, unjudged=unjudged_bounds, ties=tie_bounds, depends_on=depends_on)


def _outcomes(
    pair: Pair, cases: Sequence[tuple[PerTopic, PerTopic]], test: Test, seed: int
) -> tuple[Bounds, bool]:
    """The bounds of the mean difference in these cases, and whether one has another verdict."""
    tested = [paired_test(*case, test=test, seed=seed) for case in cases]
    means = [pair.difference, *(difference.difference for difference in tested)]
    # The correction weighs as much as for the observed values.
    factor = (pair.adjusted_p or 0.0) / pair.p if pair.p else 1.0
    verdicts = {verdict_of(_corrected(difference, factor)) for difference in tested}
    return Bounds(min(means), max(means)), bool(verdicts - {pair.verdict, "same"})


def _corrected(test: Difference, factor: float) -> Difference:
    return replace(test, adjusted_p=min(1.0, (1.0 if test.p is None else test.p) * factor))
