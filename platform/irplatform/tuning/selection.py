"""Choosing among trials, and estimating without bias what the choice is worth.

The best mean wins, provided that it beats the defaults by more than one standard error of the
difference; otherwise the defaults stay. What the choice gains on the topics it was made on is too
good to be true; cross-validation makes it anew without each fold of topics, and scores it on that
fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.mean_difference import MeanDifference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.tuning.trials import Trial


def gain_over(scores: Mapping[str, float], defaults: Mapping[str, float]) -> MeanDifference:
    """The gain over the defaults' scores, over the topics of `scores`."""
    return MeanDifference.of(np.array([scores[t] - defaults[t] for t in scores]))


def mean_over(trial: Trial, topics: Sequence[str]) -> float:
    """A trial's mean score over some topics."""
    return float(np.mean([trial.scores[topic] for topic in topics]))


def best_of(trials: Sequence[Trial], topics: Sequence[str]) -> Trial:
    """The trial with the best mean over some topics; of equal ones the first."""
    return max(trials, key=lambda trial: mean_over(trial, topics))


def best_if_clear(best: Trial, defaults: Trial, topics: Sequence[str]) -> Trial:
    """The best trial, or the defaults where it does not beat them by a standard error."""
    gain = gain_over({t: best.scores[t] for t in topics}, defaults.scores)
    return best if gain.is_clear else defaults
