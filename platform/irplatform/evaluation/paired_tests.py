"""Is one run better than another, by one measure? Paired tests over topics.

Student's paired t-test and the sign-flip randomization test are the two that Smucker, Allan and
Carterette (CIKM 2007) recommend for retrieval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError

if TYPE_CHECKING:
    from irplatform.evaluation.scoring import PerTopic

Method = Literal["t-test", "randomization"]

_Floats = npt.NDArray[np.float64]
_BLOCK = 1 << 20
"""Signs that are drawn at once."""
_ROUNDING = 1e-12
"""Values and differences closer than this, relative to the largest, are the same."""


@dataclass(frozen=True)
class Comparison:
    """A run against a baseline, by one measure.

    Attributes:
        difference: mean of the run minus mean of the baseline.
        p_value: two-sided; None where there is nothing to test: one topic, or a run that is the
            baseline's.
        low: lower end of the 95 % confidence interval of the difference (Student's).
        high: upper end.
        effect_size: mean difference in standard deviations of the differences (Cohen's d for
            pairs); None where they do not vary.
        n: topics compared.
        adjusted_p: the p-value after Holm's correction, where several runs were compared.
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
        """The p-value, corrected where several runs were compared."""
        return self.p_value if self.adjusted_p is None else self.adjusted_p

    def as_json(self) -> dict[str, Any]:
        """An entry of the comparisons of `platform run --json`."""
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

    Where every topic has the same difference, a t-test has no variance to go by: the p-value is
    then that of all sign flips by either method, 2^(1-n), so that two topics prove nothing.

    Args:
        baseline: topic id to value.
        other: the same topics' values under the other run.
        method: "t-test", or "randomization": how often do random signs of the differences give a
            mean at least as large? With few topics all signs are tried, and the p-value is exact.
        seed: of the random signs.
        samples: how many draws of signs.

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
    """Share of sign flips whose mean is at least as far from 0 as the observed one."""
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
    """Absolute sum of the differences, per row of flips."""
    sums: _Floats = differences.sum() - 2 * (flips @ differences)
    return np.abs(sums)
