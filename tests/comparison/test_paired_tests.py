"""Two runs, by the values of one measure: the tests and what they say where little varies."""

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy import stats

from irplatform.comparison import tests as paired_tests
from irplatform.comparison.tests import paired_test
from irplatform.errors import InputError


def by_topic(values):
    return {str(number): float(value) for number, value in enumerate(values)}


def two_systems(n, seed=0, gain=0.05):
    random = np.random.default_rng(seed)
    baseline = random.random(n)
    return baseline, baseline + random.normal(gain, 0.1, n)


def test_the_t_test_is_scipys():
    baseline, other = two_systems(30)
    result = paired_test(by_topic(baseline), by_topic(other))
    expected = stats.ttest_rel(other, baseline)
    interval = stats.t.interval(0.95, 29, (other - baseline).mean(), stats.sem(other - baseline))
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert (result.low, result.high) == pytest.approx(interval)
    assert result.difference == pytest.approx((other - baseline).mean())
    assert result.effect_size == pytest.approx(expected.statistic / math.sqrt(30))
    assert result.n == 30


@pytest.mark.parametrize("n", [8, 30, 60])
def test_wilcoxons_test_is_scipys(n):
    baseline, other = two_systems(n, seed=n)
    other[:2] = baseline[:2]  # topics without a difference
    result = paired_test(by_topic(baseline), by_topic(other), test="wilcoxon")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert result.p_value == stats.wilcoxon(other - baseline).pvalue
    assert (result.wins + result.losses, result.ties) == (n - 2, 2)


def test_the_bootstrap_is_scipys_within_the_error_of_its_draws():
    baseline, other = two_systems(25, seed=4, gain=0.03)
    differences = other - baseline
    result = paired_test(by_topic(baseline), by_topic(other), test="bootstrap", samples=40_000)
    random = np.random.default_rng(1)
    centred = differences - differences.mean()

    def t_value(values, axis=-1):
        error = values.std(axis=axis, ddof=1) / math.sqrt(values.shape[axis])
        return values.mean(axis=axis) / error

    simulation = stats.monte_carlo_test(
        differences, lambda size: random.choice(centred, size), t_value, n_resamples=40_000
    )
    share = np.mean(np.abs(simulation.null_distribution) >= abs(simulation.statistic))
    assert result.p_value == pytest.approx(share, abs=4 * math.sqrt(2 * share / 40_000))
    low, high = np.quantile(simulation.null_distribution, (0.025, 0.975))
    error = differences.std(ddof=1) / 5
    ends = (differences.mean() - high * error, differences.mean() - low * error)
    assert (result.low, result.high) == pytest.approx(ends, abs=0.05 * error * 5)


def test_drawn_signs_agree_with_all_signs_within_the_error_of_the_draws():
    baseline, other = two_systems(12, seed=2)
    exact = paired_test(by_topic(baseline), by_topic(other), test="randomization").p_value
    drawn = paired_test(by_topic(baseline), by_topic(other), test="randomization", samples=4000)
    assert drawn.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000))
    signs = np.array([*itertools.product([1, -1], repeat=12)])
    differences = other - baseline
    extreme = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12
    assert exact == extreme.mean()


def test_topics_are_paired_by_name_not_by_place():
    baseline, other = map(by_topic, two_systems(10))
    assert paired_test(baseline, dict(reversed(other.items()))) == paired_test(baseline, other)


def test_few_topics_are_tested_with_all_signs():
    differences = [0.3, 0.1, -0.05, 0.2, 0.15]
    means = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product([1, -1], repeat=5)
    ]
    exact = sum(mean >= abs(sum(differences)) - 1e-12 for mean in means) / 32
    result = paired_test(by_topic([0.0] * 5), by_topic(differences), test="randomization")
    assert result.p_value == exact == 4 / 32


def test_many_topics_are_tested_with_drawn_signs_repeatably():
    baseline, other = map(by_topic, two_systems(60, gain=0.03))
    first = paired_test(baseline, other, test="randomization", seed=7)
    assert first == paired_test(baseline, other, test="randomization", seed=7)
    assert first.p_value != paired_test(baseline, other, test="randomization", seed=8).p_value
    assert first.p_value == pytest.approx(paired_test(baseline, other).p_value, rel=0.15)


def test_signs_that_give_the_same_sum_but_for_rounding_count():
    tenths = [5, 4, -2, -3, -1, -1]
    flips = itertools.product([1, -1], repeat=6)
    sums = [abs(sum(s * d for s, d in zip(signs, tenths, strict=True))) for signs in flips]
    exact = sum(total >= abs(sum(tenths)) for total in sums) / 64
    differences = by_topic([tenth / 10 for tenth in tenths])
    result = paired_test(by_topic([0.0] * 6), differences, test="randomization")
    assert result.p_value == exact


def test_however_clear_a_difference_is_the_signs_it_has_are_one_of_the_draws():
    gains = by_topic(np.linspace(0.5, 0.9, 60))
    result = paired_test(by_topic([0.0] * 60), gains, test="randomization", samples=999)
    assert result.p_value == 1 / 1000


def test_how_many_draws_are_held_at_once_changes_nothing(monkeypatch):
    gains = by_topic(np.random.default_rng(1).normal(0.2, 1, 16))

    def p_value():
        zeros = by_topic([0.0] * 16)
        return paired_test(zeros, gains, test="randomization", samples=999).p_value

    at_once = p_value()
    monkeypatch.setattr(paired_tests, "_BLOCK", 16 * 600)
    assert p_value() == at_once


def test_random_differences_are_significant_as_often_as_they_should_be():
    random = np.random.default_rng(3)
    p_values = [
        paired_test(
            by_topic(np.zeros(20)),
            by_topic(random.normal(0, 1, 20)),
            test="randomization",
            samples=500,
        ).p_value
        for _ in range(600)
    ]
    assert np.mean(np.array(p_values) < 0.1) == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("method", ["t-test", "randomization"])
def test_equal_runs_do_not_differ(method):
    values = by_topic([0.1, 0.5, 0.9])
    result = paired_test(values, values, test=method)
    assert (result.difference, result.p_value, result.low, result.high) == (0.0, 1.0, 0.0, 0.0)
    assert result.effect_size == 0.0


@pytest.mark.parametrize("method", ["t-test", "randomization"])
@pytest.mark.parametrize("n", [2, 3, 30])
@pytest.mark.parametrize("gain", [0.5, -0.5])
def test_the_same_gain_everywhere_is_as_sure_as_all_signs_make_it(method, n, gain):
    result = paired_test(by_topic([0.0] * n), by_topic([gain] * n), test=method)
    assert (result.p_value, result.effect_size) == (2 / 2**n, None)


def test_one_topic_leaves_nothing_to_test():
    result = paired_test({"1": 0.2}, {"1": 0.5})
    assert result.difference == pytest.approx(0.3)
    assert (result.p_value, result.low, result.high, result.effect_size) == (None,) * 4


@pytest.mark.parametrize("other", [{}, {"1": 0.5}, {"1": 0.5, "3": 0.1}])
def test_runs_scored_on_other_topics_are_not_compared(other):
    with pytest.raises(InputError, match="cannot be compared"):
        paired_test({"1": 0.2, "2": 0.3}, other)


def test_values_that_differ_by_rounding_alone_are_the_same():
    baseline = {str(topic): topic / 7 for topic in range(1, 31)}
    other = {topic: np.nextafter(value, 0) for topic, value in baseline.items()}
    result = paired_test(baseline, other)
    assert (result.difference, result.p_value) == (0.0, 1.0)


def test_differences_that_are_equal_but_for_rounding_do_not_vary():
    baseline = {"1": 0.1, "2": 0.2, "3": 0.7}
    result = paired_test(baseline, {topic: value + 0.1 for topic, value in baseline.items()})
    assert result.effect_size is None
    assert (result.low, result.high) == (result.difference, result.difference)
