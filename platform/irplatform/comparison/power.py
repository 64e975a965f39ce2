"""Power of the paired t-test: differences that so many topics show, and topics that one needs.

A test of n topics with standard deviation s of the differences finds a true difference d with the
probability that a t-value of noncentrality d √n / s exceeds the critical one (Cohen 1988; Webber,
Moffat and Zobel, CIKM 2008, for retrieval).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

POWER = 0.8
"""A difference is detectable if four tests in five find it."""

LEVEL = 0.05
"""Chance of a false alarm of one comparison."""

MOST_TOPICS = 1_000_000
"""More topics than this are not counted."""

_EXACT = 2_000
"""Above so many topics the normal distribution replaces Student's."""


@dataclass(frozen=True)
class Power:
    """The differences that the topics of a comparison can show.

    Attributes:
        detectable: the difference that the test finds four times in five.
        topics: number of topics with which the observed difference would be found four times in
            five, if it is the true one; None without a difference, or if it takes over a million.
        level: the chance of a false alarm, divided by the number of comparisons if corrected.
    """

    detectable: float
    topics: int | None
    level: float = LEVEL


def power_of(
    difference: float, deviation: float | None, topics: int, comparisons: int = 1
) -> Power | None:
    """Return the power of a comparison; None if its differences do not vary.

    Args:
        difference: the observed mean difference.
        deviation: standard deviation of the differences over topics.
        topics: number of topics.
        comparisons: number of comparisons that the correction counts; the level is divided by it,
            which is exact for Bonferroni's and cautious for the others.

    Examples:
        >>> found = power_of(0.032, 0.105, 30)
        >>> round(found.detectable, 3), found.topics
        (0.056, 87)
    """
    if not deviation or topics < 2:
        return None
    level = LEVEL / max(1, comparisons)
    detectable = _solve(deviation, topics, level)
    return Power(detectable, _topics(abs(difference) / deviation, level), level)


def power(effect: float, topics: int, level: float = LEVEL) -> float:
    """Return the probability that a two-sided paired t-test finds a true effect.

    Args:
        effect: the true mean difference in standard deviations of the differences.
        topics: number of topics, at least 2.
        level: chance of a false alarm.
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    shift = abs(effect) * math.sqrt(topics)
    if topics > _EXACT:
        critical = float(ndtri(1 - level / 2))
        return float(ndtr(shift - critical) + ndtr(-shift - critical))
    critical = float(stdtrit(topics - 1, 1 - level / 2))
    below, above = nctdtr(topics - 1, shift, -critical), nctdtr(topics - 1, shift, critical)
    return float(1 - above + (0.0 if math.isnan(below) else below))


def _solve(deviation: float, topics: int, level: float) -> float:
    """The smallest difference with enough power, by bisection."""
    low, high = 0.0, 1.0
    while power(high, topics, level) < POWER:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, topics, level) < POWER else (low, middle)
    return high * deviation


def _topics(effect: float, level: float) -> int | None:
    """The least number of topics with enough power, by bisection."""
    if power(effect, MOST_TOPICS, level) < POWER:
        return None
    low, high = 1, MOST_TOPICS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power(effect, middle, level) < POWER else (low, middle)
    return high
