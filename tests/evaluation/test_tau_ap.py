"""AP correlation of systems."""

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.evaluation.agreement import rank_correlation
from irplatform.evaluation.agreement.rank_correlation import tau_ap, tau_aps


def plain(truth, estimate):
    """As Yilmaz, Aslam and Robertson define it, from two lists of names."""
    order = sorted(estimate, key=lambda name: -estimate[name])
    total = 0.0
    for place in range(1, len(order)):
        above = order[:place]
        total += sum(truth[other] > truth[order[place]] for other in above) / place
    return 2 * total / (len(order) - 1) - 1


def scores(random, systems=9):
    names = [f"s{n}" for n in range(systems)]
    return [dict(zip(names, random.permutation(systems).tolist(), strict=True)) for _ in "xy"]


def test_it_is_that_of_the_paper():
    random = np.random.default_rng(0)
    for _ in range(50):
        truth, estimate = scores(random)
        assert tau_ap(truth, estimate) == pytest.approx(plain(truth, estimate))
        both = (plain(truth, estimate) + plain(estimate, truth)) / 2
        assert tau_ap(truth, estimate, symmetric=True) == pytest.approx(both)


def test_a_mistake_at_the_head_weighs_more_than_one_at_the_tail():
    truth = {"a": 4, "b": 3, "c": 2, "d": 1}
    head, tail = {"b": 4, "a": 3, "c": 2, "d": 1}, {"a": 4, "b": 3, "d": 2, "c": 1}
    assert tau_ap(truth, head) == pytest.approx(1 / 3)
    assert tau_ap(truth, tail) == pytest.approx(7 / 9)


def test_reversed_orders_have_minus_one():
    truth = {"a": 3, "b": 2, "c": 1}
    assert tau_ap(truth, {name: -value for name, value in truth.items()}) == -1.0


@pytest.mark.parametrize("symmetric", [False, True])
def test_systems_renamed_and_reordered_give_the_same(symmetric):
    random = np.random.default_rng(1)
    truth, estimate = scores(random)
    found = tau_ap(truth, estimate, symmetric=symmetric)
    names = dict(zip(truth, random.permutation([*truth]).tolist(), strict=True))
    renamed = [{names[n]: v for n, v in each.items()} for each in (truth, estimate)]
    assert tau_ap(*renamed, symmetric=symmetric) == pytest.approx(found)
    reordered = dict(sorted(estimate.items(), key=lambda item: item[1]))
    assert tau_ap(truth, reordered, symmetric=symmetric) == pytest.approx(found)


@pytest.mark.parametrize("order", ["abc", "cba"])
def test_a_judge_that_gives_all_systems_the_same_score_has_no_correlation(order):
    truth, constant = {"a": 3, "b": 2, "c": 1}, dict.fromkeys(order, 0.5)
    assert tau_ap(truth, constant) is None
    assert tau_ap(constant, truth) is None


def test_two_tied_systems_leave_no_value_and_other_draws_theirs():
    truth = np.array([[3.0, 2.0, 1.0]])
    found = tau_aps(truth, np.array([[1.0, 1.0, 0.0], [9.0, 8.0, 7.0]]))
    assert np.isnan(found[0])
    assert found[1] == 1.0


def test_a_chance_baseline_is_symmetric():
    random = np.random.default_rng(2)
    drawn = random.permuted(np.tile(np.arange(5.0), (20_000, 1)), axis=1)
    found = tau_aps(np.arange(5.0)[None], drawn)
    assert abs(found.mean()) < 0.01


def test_how_many_draws_are_held_at_once_changes_nothing(monkeypatch):
    random = np.random.default_rng(3)
    one, other = random.random((2, 70, 6))
    at_once = tau_aps(one, other, symmetric=True)
    monkeypatch.setattr(rank_correlation, "_BLOCK", 36 * 11)
    assert (tau_aps(one, other, symmetric=True) == at_once).all()


def test_other_systems_are_refused():
    with pytest.raises(InputError, match="lacks systems: b, c"):
        tau_ap({"a": 1, "b": 2}, {"a": 1, "c": 2})
    with pytest.raises(InputError, match="at least two systems"):
        tau_ap({"a": 1}, {"a": 1})
