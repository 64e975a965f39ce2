"""Significance: paired tests of runs against a baseline, and the one-standard-error rule.

Student's paired t-test and the sign-flip randomization test are the two that Smucker, Allan and
Carterette (CIKM 2007) recommend for retrieval. Holm's correction (1979) keeps the chance of any
false alarm among several comparisons at the level of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.evaluation.sampled import is_inferred

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.scoring import Evaluation, PerTopic


Method = Literal["t-test", "randomization"]

_Floats = npt.NDArray[np.float64]

TEST, CORRECTION = "paired t-test, two-sided", "Holm"
"""The default test of `compare`, in ir_metadata's words."""

FEWEST_TOPICS = 3
"""With two topics, luck alone exceeds the standard error in a quarter of the cases."""

_BLOCK = 1 << 20
"""Signs drawn at once."""

_ROUNDING = 1e-12
"""Values and differences closer than this, relative to the largest, are equal."""


@dataclass(frozen=True)
class Comparison:
    """A run against a baseline, by one measure.

    Attributes:
        difference: mean of the run minus mean of the baseline.
        p_value: two-sided; None for one topic, or for a run that equals the baseline.
        low: lower end of the 95 % confidence interval of the difference (Student's).
        high: upper end.
        effect_size: mean difference in standard deviations of the differences (Cohen's d for
            pairs); None if they do not vary.
        n: topics compared.
        adjusted_p: the p-value after Holm's correction, if several runs were compared.
    """

    difference: float
    p_value: float | None
    low: float | None
    high: float | None
    effect_size: float | None
    n: int
    adjusted_p: float | None = None

    @property
    def p(self) -> float | None:
        """The p-value, corrected if several runs were compared."""
        return self.p_value if self.adjusted_p is None else self.adjusted_p

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `comparisons` in `platform run --json`."""
        return {
            "difference": self.difference,
            "interval_95": None if self.low is None else [self.low, self.high],
            "effect_size": self.effect_size,
            "p": self.p_value,
            "p_adjusted": self.adjusted_p,
            "topics": self.n,
        }


def paired_test(
    baseline: PerTopic,
    other: PerTopic,
    *,
    method: Method = "t-test",
    seed: int = 0,
    samples: int = 100_000,
) -> Comparison:
    """Compare two runs by the values of one measure.

    If all topics have the same difference, a t-test has no variance; the p-value is then that of
    all sign flips, 2^(1-n).

    Args:
        baseline: topic id to value.
        other: values of the same topics under the other run.
        method: "t-test", or "randomization": the share of random signs of the differences with a
            mean at least as large. With few topics all signs are tried, and the p-value is exact.
        seed: seed of the random signs.
        samples: number of draws of signs.

    Raises:
        InputError: the topics differ, or there are none.
    """
    if baseline.keys() != other.keys() or not baseline:
        raise InputError(
            f"the two runs cannot be compared: they are scored on {len(baseline):,} and "
            f"{len(other):,} topics, {len(baseline.keys() & other.keys()):,} of them shared. Score "
            "both with the same judgments."
        )
    differences = np.array([other[topic] - baseline[topic] for topic in baseline])
    # The mean of three seeds' same value may be another float than the value.
    largest = max(abs(value) for value in (*baseline.values(), *other.values()))
    differences[np.abs(differences) <= _ROUNDING * largest] = 0.0
    n = len(differences)
    mean = float(differences.mean())
    if n == 1:
        return Comparison(mean, None, None, None, None, n)
    deviation = float(differences.std(ddof=1))
    if deviation <= _ROUNDING * float(np.abs(differences).max()):  # all are the same
        p_value = 1.0 if mean == 0.0 else 2.0 ** (1 - n)
        return Comparison(mean, p_value, mean, mean, 0.0 if mean == 0.0 else None, n)
    from scipy.special import stdtr, stdtrit  # scipy.stats has the same, but imports slowly

    error = deviation / math.sqrt(n)
    reach = float(stdtrit(n - 1, 0.975)) * error
    if method == "t-test":
        p_value = float(2 * stdtr(n - 1, -abs(mean) / error))
    else:
        p_value = _randomization(differences, seed, samples)
    return Comparison(mean, p_value, mean - reach, mean + reach, mean / deviation, n)


def _randomization(differences: _Floats, seed: int, samples: int) -> float:
    """The share of sign flips whose mean is at least as far from 0 as the observed one."""
    n = len(differences)
    observed = abs(differences.sum())
    if observed == 0.0:
        return 1.0
    observed -= _ROUNDING * float(np.abs(differences).sum())
    if 2**n <= samples:
        flips = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float(np.mean(_flipped(differences, flips) >= observed))
    random = np.random.default_rng(seed)
    extreme = 0
    rows = max(1, _BLOCK // n)
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        bits = np.frombuffer(random.bytes(-(-count * n // 8)), dtype=np.uint8)
        flips = np.unpackbits(bits)[: count * n].reshape(count, n)
        extreme += int(np.count_nonzero(_flipped(differences, flips) >= observed))
    return (extreme + 1) / (samples + 1)  # the observed signs are one of the draws


def _flipped(differences: _Floats, flips: npt.NDArray[np.integer[Any]]) -> _Floats:
    """Absolute sums of the differences, one per row of flips."""
    sums: _Floats = differences.sum() - 2 * (flips @ differences)
    return np.abs(sums)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm's step-down method), in the same order."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = highest
    return adjusted


def compare(
    baseline: Evaluation,
    others: Mapping[str, Evaluation],
    *,
    method: Method = "t-test",
    seed: int = 0,
) -> dict[str, dict[str, Comparison]]:
    """Compare runs with a baseline by every measure of the baseline.

    A topic without results counts as 0 here for measures of sampled judgments too, although their
    means leave it out: a run gains nothing from staying silent. Runs with the same values on every
    topic count as one run in the correction, and runs that equal the baseline are not tested: a
    final run that is the first stage's, or the reranker's own, adds no attempt.

    Args:
        baseline: scores of the first stage.
        others: run name to its scores on the same judgments.
        method: see `paired_test`.
        seed: see `paired_test`.

    Returns:
        Run name to measure name to comparison; `adjusted_p` is corrected, measure by measure, for
        the number of different runs.

    Raises:
        InputError: a run is scored on other topics than the baseline.
    """
    # For each run the first one with the same values, which may be itself.
    same_as = {
        name: next(n for n, other in others.items() if other.per_topic == evaluation.per_topic)
        for name, evaluation in others.items()
    }
    tested_runs = {
        name: others[name]
        for name in dict.fromkeys(same_as.values())
        if others[name].per_topic != baseline.per_topic
    }
    compared: dict[str, dict[str, Comparison]] = {name: {} for name in others}
    for measure in baseline.per_topic:
        values = _all_topics(measure, baseline)
        comparisons = {
            name: paired_test(values, _all_topics(measure, other), method=method, seed=seed)
            for name, other in tested_runs.items()
        }
        tested = {name: c.p_value for name, c in comparisons.items() if c.p_value is not None}
        adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
        untested = Comparison(0.0, None, None, None, None, len(values))
        for name, alike in same_as.items():
            comparison = comparisons.get(alike, untested)
            compared[name][measure] = replace(comparison, adjusted_p=adjusted.get(alike))
    return compared


def _all_topics(measure: str, evaluation: Evaluation) -> PerTopic:
    """Values of all topics that count: 0 for those without results in sampled judgments."""
    values = evaluation.per_topic[measure]
    if not is_inferred(measure) or not evaluation.sampled:
        return values
    return {topic: values.get(topic, 0.0) for topic in evaluation.sampled}


def comparisons_json(
    baseline: str, comparisons: Mapping[str, Mapping[str, Comparison]]
) -> dict[str, Any]:
    """Return the `comparisons` of `platform run --json` and `platform evaluate --json`."""
    return {
        "baseline": baseline,
        "test": TEST,
        "correction": CORRECTION,
        "systems": {
            name: {measure: comparison.as_json() for measure, comparison in by_measure.items()}
            for name, by_measure in comparisons.items()
        },
    }


@dataclass(frozen=True)
class MeanDifference:
    """A mean difference between two systems over topics, for the one-standard-error rule.

    Choices made on few topics (weights of a fusion, of interpolation, tuned options) must gain more
    than the standard error of their gain, so that a lucky setting replaces nothing.

    Attributes:
        mean: mean of the differences.
        error: its standard error; infinite for fewer than three topics.
    """

    mean: float
    error: float

    @classmethod
    def of(cls, differences: npt.NDArray[np.float64]) -> MeanDifference:
        """Compute the mean of the differences of one or more topics."""
        count = len(differences)
        if count < FEWEST_TOPICS:
            return cls(float(differences.mean()), float("inf"))
        return cls(float(differences.mean()), float(differences.std(ddof=1)) / count**0.5)

    @property
    def is_clear(self) -> bool:
        """Whether the mean exceeds 0 by more than its standard error."""
        return self.mean > self.error
