"""AP correlation of systems."""

import numpy as np
import pytest

from irplatform.evaluation.agreement.rank_correlation import tau_aps


def plain(truth, estimate):
    """As Yilmaz, Aslam and Robertson define it, of one order."""
    order = np.argsort(-estimate)
    total = 0.0
    for place in range(1, len(order)):
        above = order[:place]
        total += sum(truth[other] > truth[order[place]] for other in above) / place
    return 2 * total / (len(order) - 1) - 1


def tau_ap(truth, *estimates):
    return tau_aps(np.array([truth], float), np.array(estimates, float)).tolist()


def test_it_is_that_of_the_paper():
    random = np.random.default_rng(0)
    truth, estimates = random.random(9), random.random((50, 9))
    expected = [plain(truth, estimate) for estimate in estimates]
    assert tau_ap(truth, *estimates) == pytest.approx(expected)


def test_rows_are_compared_each_with_its_own():
    random = np.random.default_rng(3)
    one, other = random.random((2, 70, 6))
    expected = [plain(*pair) for pair in zip(one, other, strict=True)]
    assert tau_aps(one, other).tolist() == pytest.approx(expected)


def test_a_mistake_at_the_head_weighs_more_than_one_at_the_tail():
    head, tail = tau_ap([4, 3, 2, 1], [3, 4, 2, 1], [4, 3, 1, 2])
    assert (head, tail) == pytest.approx((1 / 3, 7 / 9))


def test_reversed_orders_have_minus_one():
    assert tau_ap([3, 2, 1], [-3, -2, -1], [3, 2, 1]) == [-1.0, 1.0]


def test_systems_reordered_give_the_same():
    random = np.random.default_rng(1)
    truth, estimate = random.random((2, 9))
    order = random.permutation(9)
    assert tau_ap(truth[order], estimate[order]) == pytest.approx(tau_ap(truth, estimate))


@pytest.mark.parametrize("truth", [[3, 2, 1], [1, 2, 3]])
def test_a_judge_that_gives_all_systems_the_same_score_has_no_correlation(truth):
    assert np.isnan(tau_ap(truth, [0.5, 0.5, 0.5])).all()
    assert np.isnan(tau_ap([0.5, 0.5, 0.5], truth)).all()


def test_two_tied_systems_leave_no_value_and_other_draws_theirs():
    tied, untied = tau_ap([3, 2, 1], [1, 1, 0], [9, 8, 7])
    assert np.isnan(tied)
    assert untied == 1.0


def test_a_chance_baseline_is_symmetric():
    random = np.random.default_rng(2)
    drawn = random.permuted(np.tile(np.arange(5.0), (20_000, 1)), axis=1)
    taus = tau_aps(np.arange(5.0)[None], drawn)
    assert abs(taus.mean()) < 0.01
