"""Paired tests of systems over topics, corrections for several of them, and effect sizes.

Smucker, Allan and Carterette (CIKM 2007) recommend Student's t-test, the sign-flip randomization
test and the bootstrap (Sakai, SIGIR 2006, studentized) for retrieval. Holm (1979) and Bonferroni
keep the chance of any false alarm among several comparisons at the level of one; Benjamini and
Hochberg (1995) keep the share of false alarms among the findings there.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.evaluation.measure_names import is_inferred

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.evaluation.kinds import PerTopic
    from irplatform.evaluation.scoring import Evaluation


Test = Literal["t-test", "randomization", "wilcoxon", "bootstrap"]

Correction = Literal["holm", "bonferroni", "benjamini-hochberg", "none"]

TEST_NAMES: Mapping[Test, str] = {
    "t-test": "paired t-test",
    "randomization": "randomization test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "bootstrap": "bootstrap test",
}
"""The tests, as a table's legend names them."""

CORRECTION_NAMES: Mapping[Correction, str] = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "benjamini-hochberg": "Benjamini and Hochberg's correction",
    "none": "no correction",
}
"""The corrections, as a table's legend names them."""

TEST, CORRECTION = "paired t-test, two-sided", "Holm"
"""The default test and correction, in ir_metadata's words."""

FEWEST_TOPICS = 3
"""With two topics, luck alone exceeds the standard error in a quarter of the cases."""

SAMPLES = 100_000
"""Draws of signs, and of topics, for a p-value."""

_BLOCK = 1 << 20
"""Signs or topics drawn at once."""

_ROUNDING = 1e-12
"""Values and differences closer than this, relative to the largest, are equal."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """A system against a baseline, by one measure.

    Attributes:
        difference: mean of the system minus mean of the baseline.
        p_value: two-sided; None for one topic, or for a system that equals the baseline.
        low: lower end of the 95 % confidence interval of the difference (Student's; of the
            bootstrap for that test).
        high: upper end.
        effect_size: mean difference in standard deviations of the differences (Cohen's d for
            pairs); None if they do not vary.
        n: topics compared.
        adjusted_p: the p-value after the correction, if several systems were compared.
        deviation: standard deviation of the differences over topics.
        wins: topics where the system is better.
        losses: topics where it is worse.
    """

    difference: float
    p_value: float | None
    low: float | None
    high: float | None
    effect_size: float | None
    n: int
    adjusted_p: float | None = None
    deviation: float | None = None
    wins: int = 0
    losses: int = 0

    @property
    def p(self) -> float | None:
        """The p-value, corrected if several systems were compared."""
        return self.p_value if self.adjusted_p is None else self.adjusted_p

    @property
    def ties(self) -> int:
        """Topics where both are equal."""
        return self.n - self.wins - self.losses

    def as_json(self) -> dict[str, Any]:
        """Return the figures for the JSON of `platform run` and `platform compare`."""
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
    test: Test = "t-test",
    seed: int = 0,
    samples: int = SAMPLES,
) -> Difference:
    """Compare two systems by the values of one measure.

    If all topics have the same difference, it has no variance; the p-value of a t-test and of the
    bootstrap is then that of all sign flips, 2^(1-n).

    Args:
        baseline: topic id to value.
        other: values of the same topics under the other system.
        test: "t-test"; "randomization": the share of random signs of the differences with a mean
            at least as large, all signs (so exact) with few topics; "wilcoxon": signed ranks, as
            in SciPy; "bootstrap": the share of draws of topics whose t-value, around the observed
            mean, is at least as large.
        seed: of the draws.
        samples: number of draws.

    Raises:
        InputError: the topics differ, or there are none.

    Examples:
        >>> result = paired_test({"1": 0.1, "2": 0.3, "3": 0.2}, {"1": 0.3, "2": 0.4, "3": 0.5})
        >>> round(result.difference, 3), round(result.p_value, 3)
        (0.2, 0.074)
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
    counts = {"wins": int((differences > 0).sum()), "losses": int((differences < 0).sum())}
    if n == 1:
        return Difference(mean, None, None, None, None, n, **counts)
    deviation = float(differences.std(ddof=1))
    if deviation <= _ROUNDING * float(np.abs(differences).max()):  # all are the same
        p_value = 1.0 if mean == 0.0 else 2.0 ** (1 - n)
        if test == "wilcoxon":
            p_value = _wilcoxon(differences)
        effect = 0.0 if mean == 0.0 else None
        return Difference(mean, p_value, mean, mean, effect, n, deviation=0.0, **counts)
    from scipy.special import stdtr, stdtrit  # scipy.stats has the same, but imports slowly

    error = deviation / math.sqrt(n)
    reach = float(stdtrit(n - 1, 0.975)) * error
    low, high = mean - reach, mean + reach
    if test == "t-test":
        p_value = float(2 * stdtr(n - 1, -abs(mean) / error))
    elif test == "randomization":
        p_value = _randomization(differences, seed, samples)
    elif test == "wilcoxon":
        p_value = _wilcoxon(differences)
    else:
        p_value, low, high = _bootstrap(differences, seed, samples)
    effect = mean / deviation
    return Difference(mean, p_value, low, high, effect, n, deviation=deviation, **counts)


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
    for count in blocks(samples, n):
        bits = np.frombuffer(random.bytes(-(-count * n // 8)), dtype=np.uint8)
        flips = np.unpackbits(bits)[: count * n].reshape(count, n)
        extreme += int(np.count_nonzero(_flipped(differences, flips) >= observed))
    return (extreme + 1) / (samples + 1)  # the observed signs are one of the draws


def _flipped(differences: _Floats, flips: npt.NDArray[np.integer[Any]]) -> _Floats:
    """Absolute sums of the differences, one per row of flips."""
    sums: _Floats = differences.sum() - 2 * (flips @ differences)
    return np.abs(sums)


def _wilcoxon(differences: _Floats) -> float:
    from scipy.stats import wilcoxon

    if not differences.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that few topics give approximate values
        return float(wilcoxon(differences).pvalue)


def _bootstrap(differences: _Floats, seed: int, samples: int) -> tuple[float, float, float]:
    """The p-value, and the ends of the studentized 95 % interval."""
    n = len(differences)
    mean, error = differences.mean(), differences.std(ddof=1) / math.sqrt(n)
    centred = differences - mean
    random = np.random.default_rng(seed)
    values = []
    for count in blocks(samples, n):
        drawn = centred[random.integers(0, n, size=(count, n))]
        errors = drawn.std(axis=1, ddof=1) / math.sqrt(n)
        with np.errstate(divide="ignore", invalid="ignore"):  # a draw of one topic n times
            values.append(drawn.mean(axis=1) / errors)
    t_values = np.concatenate(values)
    t_values = t_values[~np.isnan(t_values)]
    p_value = (np.count_nonzero(np.abs(t_values) >= abs(mean) / error) + 1) / (len(t_values) + 1)
    lowest, highest = np.quantile(t_values, (0.025, 0.975), method="lower")
    return float(p_value), float(mean - highest * error), float(mean - lowest * error)


def blocks(samples: int, n: int) -> Iterator[int]:
    """Yield the sizes of parts of the draws that fit into memory, of n numbers each."""
    rows = max(1, _BLOCK // n)
    for start in range(0, samples, rows):
        yield min(rows, samples - start)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm's step-down method), in the same order."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = highest
    return adjusted


def corrected(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Adjust p-values for their number, in the same order.

    Examples:
        >>> corrected([0.01, 0.04, 0.03], "benjamini-hochberg")
        [0.03, 0.04, 0.04]
    """
    number = len(p_values)
    if correction == "holm":
        return holm(p_values)
    if correction == "bonferroni":
        return [min(1.0, number * p) for p in p_values]
    if correction == "none":
        return list(p_values)
    adjusted = [0.0] * number
    lowest = 1.0
    order = sorted(range(number), key=p_values.__getitem__)
    for rank, position in reversed([*enumerate(order, start=1)]):
        lowest = min(lowest, p_values[position] * number / rank)
        adjusted[position] = lowest
    return adjusted


def differences(
    evaluations: Mapping[str, Evaluation],
    pairs: Sequence[tuple[str, str]],
    *,
    test: Test = "t-test",
    correction: Correction = "holm",
    seed: int = 0,
) -> dict[tuple[str, str], dict[str, Difference]]:
    """Compare pairs of systems by every measure.

    A topic without results counts as 0 here for measures of sampled judgments too, although their
    means leave it out: a system gains nothing from staying silent. Systems with the same values on
    every topic count as one in the correction, and two such are not tested: a final run that is the
    first stage's, or the reranker's own, adds no attempt.

    Args:
        evaluations: system to its scores.
        pairs: a baseline and a system, by name.
        test: see `paired_test`.
        correction: for the number of different pairs, measure by measure.
        seed: see `paired_test`.

    Returns:
        Pair to measure to difference.

    Raises:
        InputError: two systems are scored on different topics.
    """
    same_as = first_alike(evaluations)
    alike_pairs = {(one, other): (same_as[one], same_as[other]) for one, other in pairs}
    tested = dict.fromkeys(pair for pair in alike_pairs.values() if pair[0] != pair[1])
    # A pair in both directions is one attempt.
    attempts = {frozenset(pair): pair for pair in tested}
    results: dict[tuple[str, str], dict[str, Difference]] = {pair: {} for pair in pairs}
    for measure in next(iter(evaluations.values())).per_topic if evaluations else ():
        values = {name: all_topics(measure, evaluations[name]) for name in {*same_as.values()}}
        outcomes = {
            (one, other): paired_test(values[one], values[other], test=test, seed=seed)
            for one, other in tested
        }
        p_values = {
            attempt: outcomes[pair].p_value or 0.0
            for attempt, pair in attempts.items()
            if outcomes[pair].p_value is not None
        }
        adjusted = dict(zip(p_values, corrected([*p_values.values()], correction), strict=True))
        for pair, alike_pair in alike_pairs.items():
            topics = len(values[alike_pair[0]])
            untested = Difference(0.0, None, None, None, None, topics)
            difference = outcomes.get(alike_pair, untested)
            p_adjusted = adjusted.get(frozenset(alike_pair))
            results[pair][measure] = replace(difference, adjusted_p=p_adjusted)
    return results


def first_alike(evaluations: Mapping[str, Evaluation]) -> dict[str, str]:
    """Return, for each system, the first one with the same values, which may be itself."""
    same_as: dict[str, str] = {}
    for name, evaluation in evaluations.items():
        alike = (n for n in same_as.values() if evaluations[n].per_topic == evaluation.per_topic)
        same_as[name] = next(alike, name)
    return same_as


def compare_with(
    baseline: Evaluation, others: Mapping[str, Evaluation], **options: Any
) -> dict[str, dict[str, Difference]]:
    """Compare systems with a baseline by every measure; the options are those of `differences`."""
    pairs = [("", name) for name in others]
    outcomes = differences({"": baseline, **others}, pairs, **options)
    return {name: by_measure for (_, name), by_measure in outcomes.items()}


def all_topics(measure: str, evaluation: Evaluation) -> PerTopic:
    """Values of all topics that count: 0 for those without results in sampled judgments."""
    values = evaluation.per_topic[measure]
    if not is_inferred(measure) or not evaluation.sampled:
        return values
    return {topic: values.get(topic, 0.0) for topic in evaluation.sampled}


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
