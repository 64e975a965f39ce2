"""Lines about a search that runs: what was found so far, and how long the rest takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from irplatform.console import notice
from irplatform.tuning.selection import mean_over

if TYPE_CHECKING:
    from irplatform.tuning.trials import Trial

_QUIET_INTERVAL = 15.0
"""Seconds between two lines."""


class Progress:
    """Says how the search goes: a line after the first trial, then at most one every 15 seconds."""

    def __init__(self, expected: int, measure: str) -> None:
        self._expected = expected
        self._measure = measure
        self._last_line = 0.0
        self._seconds: list[float] = []
        self._best = 0.0

    def __call__(self, trial: Trial) -> None:
        """Count a trial."""
        self._seconds.append(trial.seconds)
        mean = mean_over(trial, list(trial.scores))
        self._best = max(self._best, mean)
        done, now = len(self._seconds), time.monotonic()
        if done > 1 and now - self._last_line < _QUIET_INTERVAL:
            return
        self._last_line = now
        durations = self._seconds[1:] or self._seconds  # the first one also starts Java
        per_trial = sum(durations) / len(durations)
        seconds_left = per_trial * max(self._expected - done, 0)
        notice(
            f"trial {done:,} of at most {self._expected:,}: {self._measure} {mean:.4f}, best so "
            f"far {self._best:.4f}; {_duration(per_trial)} a trial, {_duration(seconds_left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
