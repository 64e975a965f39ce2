"""The search: trials of a fixed design, a choice on all topics, and one more per held-out fold.

A trial scores every topic, and all folds share it: a nested estimate costs hardly more than the
search alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.reranking.splits import fold_topics
from irplatform.tuning.design import design, pattern_search
from irplatform.tuning.selection import best_if_clear, best_of, gain_over, mean_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.evaluation.mean_difference import MeanDifference
    from irplatform.tuning.space import Dimension, Point
    from irplatform.tuning.trials import Trial, Trials


@dataclass(frozen=True)
class Plan:
    """How much is tried.

    Attributes:
        trials: points of the design, beside the defaults.
        refine: further points around the best, for every fold and for the final choice.
        folds: of the nested estimate.
        seed: of the design and the folds.
    """

    trials: int = 30
    refine: int = 0
    folds: int = 5
    seed: int = 42


@dataclass(frozen=True)
class Outcome:
    """What a search found.

    Attributes:
        defaults: the trial of the settings as they were.
        chosen: the trial that is recommended; `defaults` where nothing beats them clearly.
        best: the trial with the best mean, lucky or not.
        per_fold: what was chosen without each fold's topics.
        held_out: topic id to its score under what was chosen without it.
        tried: number of trials, the defaults among them.
    """

    defaults: Trial
    chosen: Trial
    best: Trial
    per_fold: Sequence[Trial]
    held_out: dict[str, float]
    tried: int

    @property
    def gain(self) -> MeanDifference:
        """The unbiased estimate of what choosing so gains."""
        return gain_over(self.held_out, self.defaults.scores)


def search(
    dimensions: Sequence[Dimension],
    trials: Trials,
    topics: Sequence[str],
    plan: Plan,
    usual: Point | None = None,
    families: Sequence[int] | None = None,
) -> Outcome:
    """Choose settings on all topics, and estimate on held-out folds what that is worth.

    `usual` holds the values of the defaults, where a refinement begins if nothing is better; for
    `families`, see `fold_topics`.
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

    best, chosen = choose(topics)
    per_fold: list[Trial] = []
    held_out: dict[str, float] = {}
    for split in fold_topics(topics, plan.folds, plan.seed, families):
        _, fold_choice = choose(split.training)
        per_fold.append(fold_choice)
        held_out |= {topic: fold_choice.scores[topic] for topic in split.validation}
    return Outcome(
        defaults,
        chosen,
        best,
        per_fold,
        {topic: held_out[topic] for topic in topics},
        len(trials),
    )
