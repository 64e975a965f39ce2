"""The report of a search: a table, JSON, the TOML file of chosen options, and progress lines."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.comparison.tests import paired_test
from irplatform.errors import one_line
from irplatform.files.formats import toml_key, toml_value
from irplatform.reports.columns import aligned
from irplatform.settings import flat
from irplatform.spelling import option_words
from irplatform.system.console import notice
from irplatform.tuning.search import mean_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.tests import Difference
    from irplatform.tuning.search import Outcome, Trial


@dataclass(frozen=True, repr=False)
class TuneReport:
    """Options for a collection, tuned on the topics of another.

    `defaults` has the values of the searched options `names` without the search, `settings` other
    given options. `at_ends` names options whose chosen value is at an end that the user may move.
    """

    collection: str
    tuned_on: str
    measure: str
    systems: Sequence[str]
    names: Sequence[str]
    defaults: Mapping[str, object]
    settings: Mapping[str, object]
    outcome: Outcome
    at_ends: Sequence[str] = ()
    command: Sequence[str] = ()

    @property
    def chosen(self) -> dict[str, object]:
        """Every searched option with the recommended value."""
        return {**self.defaults, **self.outcome.choice.settings}

    @property
    def comparison(self) -> Difference:
        """Held-out scores against the defaults, topic by topic."""
        return paired_test(self.outcome.defaults.scores, self.outcome.held_out)

    @property
    def lucky(self) -> bool:
        """Whether the best trial is too little better than the defaults to be chosen."""
        return self.outcome.best is not self.outcome.choice

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `platform tune`."""
        outcome, comparison = self.outcome, self.comparison
        return {
            "collection": self.collection,
            "tuned_on": self.tuned_on,
            "systems": list(self.systems),
            "measure": self.measure,
            "topics": len(outcome.held_out),
            "trials": outcome.tried,
            "defaults": dict(self.defaults),
            "chosen": self.chosen,
            "at_ends": list(self.at_ends),
            "best": {**self.defaults, **outcome.best.settings},
            "per_fold": [{**self.defaults, **trial.settings} for trial in outcome.per_fold],
            "scores": {
                "defaults": _mean(outcome.defaults.scores),
                "chosen": _mean(outcome.choice.scores),
                "best": _mean(outcome.best.scores),
                "held_out": _mean(outcome.held_out),
            },
            "held_out_gain": {
                "mean": outcome.gain.mean,
                "standard_error": outcome.gain.error,
                "p_value": comparison.p_value,
                "low": comparison.low,
                "high": comparison.high,
            },
        }

    def __repr__(self) -> str:
        """The table, for `print` and notebooks."""
        outcome, gain = self.outcome, self.outcome.gain
        folds = [{**self.defaults, **trial.settings} for trial in outcome.per_fold]
        rows = [("option", "default", "chosen", "in each fold")]
        for name in self.names:
            in_folds = "  ".join(_value_text(fold[name]) for fold in folds)
            rows.append(
                (name, _value_text(self.defaults[name]), _value_text(self.chosen[name]), in_folds)
            )
        scores = [
            (self.measure, ""),
            (_figure(outcome.defaults.scores), "defaults"),
            (
                _figure(outcome.choice.scores),
                "chosen, on the topics it was chosen on: too good to be true",
            ),
            (_figure(outcome.held_out), "chosen, each topic held out: what to expect"),
        ]
        lines = [
            f"{', '.join(self.systems)} on {self.tuned_on}: {len(outcome.held_out):,} topics, "
            f"{outcome.tried:,} trials",
            "",
            *aligned(rows, left=len(rows[0]), head=0),
            "",
            *aligned(scores, left=2, head=0),
            "",
            f"Gain to expect: {self._gain()}",
        ]
        if self.lucky:
            lines.append(
                f"The defaults stay: the best trial ({self._best()}) gains "
                f"{_mean(outcome.best.scores) - _mean(outcome.defaults.scores):+.4f} on these "
                "topics, less than one standard error."
            )
        elif outcome.choice.settings and not gain.is_clear:
            lines.append(
                "Held out, the gain cannot be distinguished from chance: better keep the defaults."
            )
        if self.at_ends:
            lines.append(
                f"At an end of the searched range: {', '.join(self.at_ends)}. A wider one may have "
                "better values."
            )
        return "\n".join(lines)

    def as_toml(self) -> str:
        """Return all given and chosen options as a `config`; defaults that stay are left out."""
        outcome, gain = self.outcome, self.outcome.gain
        # TOML does not allow both a table and one of its parts.
        choices = self.chosen if outcome.choice.settings else {}
        settings = flat({**self.settings, **choices})
        lines = [
            command_line(self.command),
            f"# chosen on the {len(outcome.held_out):,} topics of {self.tuned_on}, "
            f"{outcome.tried:,} trials",
            f"# {self.measure}: defaults {_figure(outcome.defaults.scores)}, held out "
            f"{_figure(outcome.held_out)} ({gain.mean:+.4f} ± {gain.error:.4f})",
            *([] if choices else [f"# the defaults of {', '.join(self.names)} stay"]),
            *(f"{toml_key(name)} = {toml_value(value)}" for name, value in settings.items()),
        ]
        return "\n".join(lines) + "\n"

    def _gain(self) -> str:
        gain, p_value = self.outcome.gain, self.comparison.p_value
        if not any(trial.settings for trial in self.outcome.per_fold):
            return "none, since the defaults stay in every fold"
        p_text = "" if p_value is None else f", p = {p_value:.3g} (paired t-test)"
        return f"{gain.mean:+.4f} ± {gain.error:.4f} (standard error over topics){p_text}"

    def _best(self) -> str:
        return ", ".join(f"{n}={_value_text(v)}" for n, v in self.outcome.best.settings.items())


def command_line(command: Sequence[str]) -> str:
    """Return the first line of the TOML file: the command that wrote it."""
    words = [word for word in command if word not in option_words("force", True)]
    return f"# {one_line(shlex.join(words))}" if words else "# platform tune"


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / len(scores)


def _figure(scores: Mapping[str, float]) -> str:
    return f"{_mean(scores):.4f}"


def _value_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else toml_value(value).strip('"')


_QUIET_INTERVAL = 15.0
"""Seconds between two lines."""


class Progress:
    """Shows a line after the first trial, then at most one every 15 seconds."""

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
        count, now = len(self._seconds), time.monotonic()
        if count > 1 and now - self._last_line < _QUIET_INTERVAL:
            return
        self._last_line = now
        durations = self._seconds[1:] or self._seconds  # the first one also starts Java
        per_trial = sum(durations) / len(durations)
        seconds_left = per_trial * max(self._expected - count, 0)
        notice(
            f"trial {count:,} of at most {self._expected:,}: {self._measure} {mean:.4f}, best so "
            f"far {self._best:.4f}; {_duration(per_trial)} a trial, {_duration(seconds_left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
