"""Kendall's tau-b of many lists at once, and its p-value, are scipy's where scipy has them."""

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau

from irplatform.evaluation.agreement.rank_correlation import kendall_taus, permutation_p


def share_of_orders(first, second):
    """The p-value by its definition."""
    taus = [abs(kendalltau(first, order).statistic) for order in itertools.permutations(second)]
    return np.mean([tau >= abs(kendalltau(first, second).statistic) - 1e-12 for tau in taus])


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [([1, 2, 2, 3], [1, 2, 2, 3], 4 / 24), ([1, 1, 2], [3, 2, 1], 4 / 6)],
)
def test_with_ties_p_counts_all_orders(first, second, p):
    first, second = np.array(first, float), np.array(second, float)
    assert permutation_p(first, second) == pytest.approx(p)
    assert share_of_orders(first, second) == pytest.approx(p)


@pytest.mark.parametrize("systems", [3, 5, 8, 9, 40])
def test_without_ties_p_is_scipys_exact_one(systems):
    random = np.random.default_rng(systems)
    for _ in range(5):
        first, second = random.permutation(systems) / 1.0, random.permutation(systems) / 1.0
        exact = kendalltau(first, second, method="exact").pvalue
        assert permutation_p(first, second) == pytest.approx(exact)


def test_many_systems_with_ties_are_tested_with_drawn_orders_repeatably():
    random = np.random.default_rng(1)
    first = np.arange(30.0)
    first[1] = first[0]
    second = first + random.normal(0, 15, 30)
    p_value = permutation_p(first, second, seed=1)
    assert p_value == permutation_p(first, second, seed=1)
    assert p_value != permutation_p(first, second, seed=2)
    assert p_value == pytest.approx(kendalltau(first, second).pvalue, abs=0.02)
    assert permutation_p(first, first) == 1 / 10_001


def test_the_quick_form_is_scipys_with_ties_and_without():
    random = np.random.default_rng(3)
    first = random.integers(0, 4, (200, 6)).astype(float)
    second = random.integers(0, 4, (200, 6)).astype(float)
    expected = [kendalltau(a, b).statistic for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(kendall_taus(first, second), expected, atol=1e-12)
