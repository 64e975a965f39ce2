"""Power of the paired t-test beside statsmodels' figures, and its words."""

import numpy as np
import pytest

from irplatform.comparison.power import power, power_of
from irplatform.comparison.tests import corrected, paired_test


@pytest.mark.parametrize(
    ("level", "detectable"), [(0.05, 0.05556974897500895), (0.05 / 6, 0.06763269826731548 * 1.05)]
)
def test_the_detectable_difference_is_that_of_statsmodels(level, detectable):
    # TTestPower().solve_power(None, 30, level, 0.8) times the deviation
    result = power_of(0.032, 0.105, 30, comparisons=round(0.05 / level))
    assert result.detectable == pytest.approx(detectable, rel=1e-6)
    assert result.level == pytest.approx(level)


def test_the_topics_needed_are_those_of_statsmodels_rounded_up():
    # TTestPower().solve_power(0.032 / 0.105, None, 0.05, 0.8) = 86.446
    assert power_of(0.032, 0.105, 30).topics == 87
    assert power_of(-0.032, 0.105, 30).topics == 87


def test_many_topics_are_counted_by_the_normal_distribution():
    assert power(0.05, 2000) == pytest.approx(power(0.05, 2001), abs=1e-3)
    assert power_of(0.0001, 0.1, 30).topics is None  # more than a million
    assert power_of(0.0, 0.1, 30).topics is None


def test_without_variance_there_is_no_power():
    assert power_of(0.1, 0.0, 30) is None
    assert power_of(0.1, None, 1) is None


def test_four_tests_in_five_find_a_detectable_difference():
    random = np.random.default_rng(3)
    detectable = power_of(0.1, 1.0, 20).detectable
    zeros = {str(n): 0.0 for n in range(20)}
    count = 0
    for _ in range(1000):
        drawn = random.normal(detectable, 1.0, 20)
        test = paired_test(zeros, {str(n): float(d) for n, d in enumerate(drawn)})
        count += test.p_value < 0.05
    assert count / 1000 == pytest.approx(0.8, abs=0.05)


def test_corrections_are_those_of_statsmodels():
    values = [0.01, 0.04, 0.03, 0.005]
    assert corrected(values, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected(values, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert corrected(values, "benjamini-hochberg") == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert corrected(values, "none") == values
