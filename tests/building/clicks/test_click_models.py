"""Simulated users click as their model says: rates are tested, with a fixed seed, at z < 4.5."""

import numpy as np
import pytest

from irplatform.building.click_simulation import Behaviour, parse_by_grade
from irplatform.errors import InputError

SESSIONS = 40_000
RANKS = 6
GRADES = np.array([0, 2, 1, 0, 2, 1])


def clicks(behaviour, sessions=SESSIONS):
    attraction = behaviour.attraction(GRADES, 2)
    return behaviour.click(np.tile(attraction, (sessions, 1)), np.random.default_rng(3))


def assert_rates(observed, expected):
    """Each rate is the mean of independent sessions: its error is binomial."""
    error = np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / SESSIONS)
    assert np.abs(observed - expected).max() > 0
    assert (np.abs(observed - expected) < 4.5 * error).all()


@pytest.mark.parametrize("decay", [0.0, 0.5, 1.0, 2.0])
def test_position_based_clicks_are_attraction_times_examination(decay):
    behaviour = Behaviour(decay=decay, noise=0.1)
    attraction = np.array([0.1, 1.0, 0.4, 0.1, 1.0, 0.4])
    examination = np.arange(1.0, RANKS + 1) ** -decay
    observed = clicks(behaviour).mean(axis=0)
    certain = attraction * examination == 1
    assert (observed[certain] == 1).all()
    assert_rates(observed[~certain], (attraction * examination)[~certain])


def test_position_based_clicks_on_one_rank_tell_nothing_of_another():
    click_table = clicks(Behaviour(noise=0.1))
    together = (click_table[:, 0] & click_table[:, 2]).mean()
    apart = click_table[:, 0].mean() * click_table[:, 2].mean()
    assert together == pytest.approx(apart, abs=4.5 * np.sqrt(apart / SESSIONS))


@pytest.mark.parametrize("stop", [0.0, 0.3, 1.0])
def test_cascade_clicks_are_attraction_times_not_having_stopped_above(stop):
    behaviour = Behaviour(model="cascade", stop=stop, noise=0.1, by_grade={1: 0.4, 2: 0.8})
    attraction = np.array([0.1, 0.8, 0.4, 0.1, 0.8, 0.4])
    examination = np.concatenate([[1], np.cumprod(1 - stop * attraction)[:-1]])
    assert_rates(clicks(behaviour).mean(axis=0), attraction * examination)


def test_a_pure_cascade_has_at_most_one_click_a_session():
    click_table = clicks(Behaviour(model="cascade", noise=0.3))
    assert click_table.sum(axis=1).max() == 1
    assert clicks(Behaviour(model="cascade", noise=0.3, stop=0.5)).sum(axis=1).max() > 1


def test_grades_become_probabilities_between_noise_and_one():
    probabilities = Behaviour(noise=0.1).attraction(np.array([-1, 0, 1, 2, 3]), 2)
    assert probabilities == pytest.approx([0.1, 0.1, 0.1 + 0.9 / 3, 1.0, 1.0])


def test_grades_of_a_hundred_overflow_nothing():
    probabilities = Behaviour(noise=0.0).attraction(np.array([0, 1, 99, 100, 2000]), 2000)
    assert probabilities[0] == 0
    assert probabilities[-1] == 1
    assert np.isfinite(probabilities).all()


def test_probabilities_by_grade_hold_up_to_the_next_grade_that_is_named():
    behaviour = Behaviour(noise=0.05, by_grade={1: 0.4, 3: 0.9})
    assert behaviour.attraction(np.arange(5), 4).tolist() == [0.05, 0.4, 0.4, 0.9, 0.9]


@pytest.mark.parametrize(
    "wrong",
    [
        {"decay": -1.0},
        {"decay": float("nan")},
        {"noise": 1.1},
        {"stop": -0.1},
        {"fulltext": 2.0},
        {"by_grade": {1: 1.5}},
    ],
)
def test_behaviour_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputError):
        Behaviour(**wrong)


def test_probabilities_are_written_as_grade_and_number():
    assert parse_by_grade(["1=0.4", "2=.9"]) == {1: 0.4, 2: 0.9}
    assert parse_by_grade([]) is None
    for wrong in ("1", "a=0.4", "1=x", "-1=0.4"):
        with pytest.raises(InputError):
            parse_by_grade([wrong])
    with pytest.raises(InputError, match="once"):
        parse_by_grade(["1=0.4", "1=0.5"])
