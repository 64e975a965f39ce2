"""The search: a design that is always the same, a cautious choice, an honest estimate."""

import math

import numpy as np
import pytest

from irplatform.tuning.search import (
    Plan,
    Trial,
    Trials,
    best_if_clear,
    design,
    gain_over,
    pattern_search,
    search,
)
from irplatform.tuning.space import Span, Values

X, Y = Span("x", 0, 1), Span("y", 0, 1)
COLOURS = Values("colour", ("red", "green", "blue"))
TOPICS = [f"t{n}" for n in range(40)]


def test_few_combinations_are_all_tried():
    small = [COLOURS, Span("n", 1, 4, is_integral=True)]
    assert len(design(small, 12, 1)) == len(set(design(small, 12, 1))) == 12
    assert len(design(small, 11, 1)) == 11


@pytest.mark.parametrize(("low", "high"), [(1, 8), (2, 20), (1, 30)])
def test_all_whole_numbers_are_tried_on_a_logarithmic_scale_too(low, high):
    span = Span("n", low, high, log=True, is_integral=True)
    assert design([span], 30, 1) == [(n,) for n in range(low, high + 1)]


def test_points_depend_on_the_seed_alone_and_more_continue_fewer():
    assert design([X, Y], 20, 1)[:8] == design([X, Y], 8, 1)
    assert design([X, Y], 8, 1) != design([X, Y], 8, 2)


def test_points_fill_the_space():
    points = np.array(design([X, Y], 64, 3), dtype=float)
    counts, *_ = np.histogram2d(points[:, 0], points[:, 1], bins=4, range=[[0, 1], [0, 1]])
    assert counts.min() >= 1


def test_no_point_is_tried_twice():
    points = design([Span("n", 1, 5, is_integral=True), X], 60, 1)
    assert len(points) == len(set(points)) == 60


def test_the_pattern_search_climbs_to_the_top():
    points = []

    def score(point):
        points.append(point)
        x, y, colour = point
        return -((x - 0.3) ** 2) - (y - 0.8) ** 2 - (colour != "blue")

    best = pattern_search([X, Y, COLOURS], (0.9, 0.1, "red"), score, 80)
    assert best[2] == "blue"
    assert math.dist(best[:2], (0.3, 0.8)) < 0.03
    assert len(points) == len(set(points))


def test_the_pattern_search_asks_for_no_more_than_it_may():
    points = []
    pattern_search([X, Y], (0.5, 0.5), lambda p: points.append(p) or float(len(points)), 5)
    assert len(points) == 6  # the start, and five more


def _trials(score, journal=None):
    return Trials(lambda settings: {"all": dict(settings)}, score, TOPICS, journal)


def _scores(function):
    """Scores with noise that belongs to topic and settings."""

    def score(settings):
        seed = [int(1000 * v) for v in settings.values()] or [7]
        noise = np.random.default_rng(seed).normal(0, 0.05, len(TOPICS))
        return dict(zip(TOPICS, function(settings) + noise, strict=True))

    return score


def test_what_is_clearly_better_is_chosen():
    outcome = search([X], _trials(_scores(lambda s: s.get("x", 0.2))), TOPICS, Plan(trials=10))
    assert outcome.choice is outcome.best
    assert outcome.choice.settings["x"] > 0.8
    assert outcome.gain.mean > 5 * outcome.gain.error
    assert outcome.tried == 11


def test_noise_is_not_chosen_where_it_counts_and_not_promised():
    """Over many searches in pure noise the held-out gain is 0 on average; the seen one is not."""
    gains, honest = [], []
    for seed in range(30):

        def score(settings, seed=seed):
            mark = [seed, *(int(1000 * v) for v in settings.values())]
            return dict(zip(TOPICS, np.random.default_rng(mark).normal(0, 1, 40), strict=True))

        outcome = search([X], _trials(score), TOPICS, Plan(trials=20, seed=seed))
        gains.append(gain_over(outcome.best.scores, outcome.defaults.scores).mean)
        honest.append(outcome.gain.mean)
    assert np.mean(gains) > 0.2
    assert abs(np.mean(honest)) < 0.12


def test_every_topic_is_held_out_once_and_scored_by_a_choice_without_it():
    lucky = "t3"

    def score(settings):  # one topic alone makes x look good
        return {t: (100.0 * settings.get("x", 0) if t == lucky else 0.0) for t in TOPICS}

    outcome = search([X], _trials(score), TOPICS, Plan(trials=5))
    assert list(outcome.held_out) == TOPICS
    assert outcome.held_out[lucky] == 0.0
    assert outcome.best.settings
    assert outcome.choice.settings == {}


def test_defaults_stay_within_one_standard_error():
    defaults = Trial({}, dict.fromkeys("abcd", 0.0), 0)
    better = Trial({"x": 1}, {"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.2}, 0)
    lucky = Trial({"x": 2}, {"a": 1.0, "b": -0.2, "c": -0.2, "d": -0.2}, 0)
    assert best_if_clear(better, defaults, "abcd") is better
    assert best_if_clear(lucky, defaults, "abcd") is defaults
    assert best_if_clear(better, defaults, "a") is defaults  # one topic proves nothing


def test_refinement_finds_what_the_design_missed_and_stays_honest():
    score = _scores(lambda s: -10 * (s.get("x", 0.2) - 0.437) ** 2)
    coarse = search([X], _trials(score), TOPICS, Plan(trials=3))
    fine = search([X], _trials(score), TOPICS, Plan(trials=3, refine=15))
    assert abs(fine.best.settings["x"] - 0.437) <= abs(coarse.best.settings["x"] - 0.437)
    assert abs(fine.best.settings["x"] - 0.437) < 0.05
    assert len(fine.per_fold) == 5


def test_refinement_begins_at_the_defaults_where_nothing_is_better():
    score = _scores(lambda s: -10 * (s.get("x", 0.5) - 0.53) ** 2 - 5 * abs(s.get("y", 0.5) - 0.5))
    points = []

    def heard(settings):
        points.append(settings)
        return score(settings)

    search([X, Y], _trials(heard), TOPICS, Plan(trials=2, refine=4), (0.5, 0.5))
    near = [s for s in points[3:] if abs(s["x"] - 0.5) <= 0.25 and abs(s["y"] - 0.5) <= 0.25]
    assert near == points[3:]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("torn", [b"", b'{"trial":"abc","scores":[0.1,', b"\x00\n"])
def test_a_killed_search_goes_on_and_finds_the_same(tmp_path, torn):
    score = _scores(lambda s: s.get("x", 0.2) * (1 - s.get("y", 0.5)))
    plan = Plan(trials=12, refine=4)
    outcome = search([X, Y], _trials(score), TOPICS, plan)
    calls = []

    def mortal(settings):
        calls.append(settings)
        if len(calls) == 6:
            raise Killed
        return score(settings)

    journal = tmp_path / "journal"
    with pytest.raises(Killed):
        search([X, Y], _trials(mortal, journal), TOPICS, plan)
    with journal.open("ab") as file:
        file.write(torn)
    again = search([X, Y], _trials(mortal, journal), TOPICS, plan)
    assert (again.choice.settings, again.held_out) == (outcome.choice.settings, outcome.held_out)
    assert [t.settings for t in again.per_fold] == [t.settings for t in outcome.per_fold]
    finished = [repr(settings) for settings in calls if settings != calls[5]]
    assert len(finished) == len(set(finished))  # nothing was scored twice but the killed one
    before = len(calls)
    search([X, Y], _trials(mortal, journal), TOPICS, plan)
    assert len(calls) == before


def test_trials_of_other_topics_are_not_taken_for_these(tmp_path):
    journal = tmp_path / "journal"
    _trials(_scores(lambda _: 0.0), journal).run({})
    other = Trials(lambda s: {"all": s}, lambda _: {"a": 1.0}, ["a"], journal)
    assert other.run({}).scores == {"a": 1.0}
