"""The search: trials of a fixed design, a choice on all topics, and one more per held-out fold.

The design is all combinations, or points of a scrambled Halton sequence (Bergstra and Bengio, JMLR
2012, on why random search beats grids). A pattern search (Hooke and Jeeves, JACM 1961) refines the
best point. The best mean wins if it beats the defaults by more than one standard error.
Cross-validation repeats the choice without each fold; all folds share the trials.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.comparison.tests import MeanDifference
from irplatform.files.digests import fingerprint
from irplatform.files.journals import append_journal, read_journal
from irplatform.reranking.training_set import fold_topics
from irplatform.tuning.space import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.tuning.space import Dimension, Point


_FIRST_STEP = 0.125
_LAST_STEP = 0.01
_DRAWS_PER_TRIAL = 10
"""Draws that may repeat earlier points before the design counts as exhausted."""


@dataclass(frozen=True)
class Plan:
    """The size of a search.

    Attributes:
        trials: points of the design, in addition to the defaults.
        refine: further points around the best, for every fold and for the final choice.
    """

    trials: int = 30
    refine: int = 0
    folds: int = 5
    seed: int = 42


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search.

    Attributes:
        choice: the recommended trial; `defaults` if nothing beats them clearly.
        best: the trial with the best mean.
        per_fold: the choice without each fold's topics.
        held_out: topic id to its score under the choice made without it.
        tried: number of trials, including the defaults.
    """

    defaults: Trial
    choice: Trial
    best: Trial
    per_fold: Sequence[Trial]
    held_out: dict[str, float]
    tried: int

    @property
    def gain(self) -> MeanDifference:
        """The unbiased estimate of the gain."""
        return gain_over(self.held_out, self.defaults.scores)


def search(
    dimensions: Sequence[Dimension],
    trials: Trials,
    topics: Sequence[str],
    plan: Plan,
    usual: Point | None = None,
    families: Sequence[int] | None = None,
) -> Outcome:
    """Choose settings on all topics, and estimate the gain on held-out folds.

    A refinement begins at `usual`, the defaults' values, if nothing is better. For `families`, see
    `fold_topics`.
    """
    names = [dimension.name for dimension in dimensions]

    def run(point: Point) -> Trial:
        return trials.run(dict(zip(names, point, strict=True)))

    points = design(dimensions, plan.trials, plan.seed)
    defaults = trials.run({})
    shared = [defaults, *(run(point) for point in points)]

    def choose(topics: Sequence[str]) -> tuple[Trial, Trial]:
        best = best_of(shared, topics)
        if plan.refine:
            if best is defaults and usual is None:
                best = best_of(shared[1:], topics)
            start = usual if best is defaults and usual else tuple(best.settings.values())
            refined = pattern_search(
                dimensions, start, lambda point: mean_over(run(point), topics), plan.refine
            )
            best = best_of([defaults, best, run(refined)], topics)
        return best, best_if_clear(best, defaults, topics)

    best, choice = choose(topics)
    per_fold: list[Trial] = []
    held_out: dict[str, float] = {}
    for split in fold_topics(topics, plan.folds, plan.seed, families):
        _, fold_choice = choose(split.training)
        per_fold.append(fold_choice)
        held_out |= {topic: fold_choice.scores[topic] for topic in split.validation}
    return Outcome(
        defaults, choice, best, per_fold, {topic: held_out[topic] for topic in topics}, len(trials)
    )


def design(dimensions: Sequence[Dimension], trials: int, seed: int) -> list[Point]:
    """Return at most `trials` points of a space, independent of scores."""
    sizes = [dimension.size for dimension in dimensions]
    if all(sizes) and math.prod(size or 0 for size in sizes) <= trials:
        return list(itertools.product(*(dimension.every() for dimension in dimensions)))
    from scipy.stats.qmc import Halton

    sequence = Halton(len(dimensions), seed=seed)
    points: dict[str, Point] = {}
    for _ in range(_DRAWS_PER_TRIAL):
        for row in sequence.random(trials).tolist():
            point = tuple(d.at(position) for d, position in zip(dimensions, row, strict=True))
            points.setdefault(repr(point), point)
            if len(points) == trials:
                return list(points.values())
    return list(points.values())


def pattern_search(
    dimensions: Sequence[Dimension], start: Point, score: Callable[[Point], float], trials: int
) -> Point:
    """Improve a point along one dimension at a time, in ever smaller steps of at most `trials`."""
    best, highest = start, score(start)
    tried = {repr(start)}
    step = _FIRST_STEP
    while step >= _LAST_STEP:
        improved = False
        for index in range(len(dimensions)):
            for point in _neighbours(dimensions, best, index, step):
                if repr(point) in tried:
                    continue
                if len(tried) > trials:
                    return best
                tried.add(repr(point))
                value = score(point)
                if value > highest:
                    best, highest, improved = point, value, True
                    break
        if not improved:
            step /= 2
    return best


def _neighbours(
    dimensions: Sequence[Dimension], point: Point, index: int, step: float
) -> Iterator[Point]:
    """Points one step up and down; all other values of a dimension without an order."""
    dimension = dimensions[index]
    if isinstance(dimension, Values):
        others = dimension.values()
    else:
        current = dimension.position(point[index])
        others = [dimension.at(min(max(current + s, 0.0), 1 - 1e-9)) for s in (step, -step)]
    for value in others:
        yield (*point[:index], value, *point[index + 1 :])


def gain_over(scores: Mapping[str, float], defaults: Mapping[str, float]) -> MeanDifference:
    """Return the gain over the defaults' scores, over the topics of `scores`."""
    return MeanDifference.of(np.array([scores[t] - defaults[t] for t in scores]))


def mean_over(trial: Trial, topics: Sequence[str]) -> float:
    """Return a trial's mean score over some topics."""
    return float(np.mean([trial.scores[topic] for topic in topics]))


def best_of(trials: Sequence[Trial], topics: Sequence[str]) -> Trial:
    """Return the trial with the best mean over some topics, the first of equal ones."""
    return max(trials, key=lambda trial: mean_over(trial, topics))


def best_if_clear(best: Trial, defaults: Trial, topics: Sequence[str]) -> Trial:
    """Return the best trial, or the defaults if it does not beat them by a standard error."""
    gain = gain_over({t: best.scores[t] for t in topics}, defaults.scores)
    return best if gain.is_clear else defaults


@dataclass(frozen=True)
class Trial:
    """Settings (empty for the defaults), their score by topic id, and the seconds it took."""

    settings: Mapping[str, object]
    scores: Mapping[str, float]
    seconds: float


class Trials:
    """Runs trials, each once, and keeps finished ones in a journal.

    `describe` returns the complete options of all systems as JSON, `score` the values of topics.
    """

    def __init__(
        self,
        describe: Callable[[Mapping[str, object]], Mapping[str, Any]],
        score: Callable[[Mapping[str, object]], Mapping[str, float]],
        topics: Sequence[str],
        journal: Path | None,
        finished: Callable[[Trial], None] = lambda _: None,
    ) -> None:
        self._describe = describe
        self._score = score
        self._topics = list(topics)
        self._journal = journal
        self.finished = finished
        self._results = _read(journal, len(self._topics))
        self._marks: set[str] = set()

    def __len__(self) -> int:
        return len(self._marks)

    def has_result(self, settings: Mapping[str, object]) -> bool:
        """Return whether these settings have been tried."""
        return fingerprint(self._describe(settings)) in self._results

    def run(self, settings: Mapping[str, object]) -> Trial:
        """Try settings, or look up their scores."""
        mark = fingerprint(self._describe(settings))
        self._marks.add(mark)
        if mark not in self._results:
            started = time.monotonic()
            scores = self._score(settings)
            values = [float(scores.get(topic, 0.0)) for topic in self._topics]
            seconds = round(time.monotonic() - started, 3)
            self._results[mark] = (values, seconds)
            entry = {"trial": mark, "settings": dict(settings), "seconds": seconds}
            append_journal(self._journal, [{**entry, "scores": values}])
            self.finished(Trial(settings, dict(zip(self._topics, values, strict=True)), seconds))
        values, seconds = self._results[mark]
        return Trial(settings, dict(zip(self._topics, values, strict=True)), seconds)


def _read(journal: Path | None, topics: int) -> dict[str, tuple[list[float], float]]:
    def parse(line: Any) -> tuple[str, tuple[list[float], float]]:
        if len(line["scores"]) != topics:
            raise ValueError("a trial over other topics")
        return line["trial"], (line["scores"], line["seconds"])

    return dict(read_journal(journal, parse))
