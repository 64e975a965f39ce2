"""Choosing among trials, and estimating without bias what the choice is worth.

The best mean wins, provided that it beats the defaults by more than one standard error of the
difference; otherwise the defaults stay: on few topics, settings that are merely lucky must not
replace what is known to work. What the choice gains on the topics it was made on is too good to be
true; cross-validation makes it anew without each fold of topics, and scores it on that fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.tuning.trials import Trial


@dataclass(frozen=True)
class Gain:
    """A difference to the defaults over some topics.

    Attributes:
        mean: of the difference.
        error: the standard error of that mean; infinite for a single topic.
    """

    mean: float
    error: float

    @classmethod
    def of(cls, scores: Mapping[str, float], defaults: Mapping[str, float]) -> Gain:
        """The gain over the topics of `scores`."""
        differences = np.array([scores[t] - defaults[t] for t in scores])
        count = len(differences)
        error = float(differences.std(ddof=1)) / count**0.5 if count > 1 else float("inf")
        return cls(float(differences.mean()), error)


def mean_over(trial: Trial, topics: Sequence[str]) -> float:
    """A trial's mean score over some topics."""
    return float(np.mean([trial.scores[topic] for topic in topics]))


def best_of(trials: Sequence[Trial], topics: Sequence[str]) -> Trial:
    """The trial with the best mean over some topics; of equal ones the first."""
    return max(trials, key=lambda trial: mean_over(trial, topics))


def unless_lucky(best: Trial, defaults: Trial, topics: Sequence[str]) -> Trial:
    """The best trial, or the defaults where it does not beat them by a standard error."""
    gain = Gain.of({t: best.scores[t] for t in topics}, defaults.scores)
    return best if gain.mean > gain.error else defaults
