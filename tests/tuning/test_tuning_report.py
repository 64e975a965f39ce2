"""What is told about a search: cautions in words, and a TOML file that reads back as it was."""

import tomllib
from dataclasses import replace

import pytest

from irplatform.tuning.report import TuneReport
from irplatform.tuning.search import Outcome, Trial

TOPICS = [f"t{n}" for n in range(10)]


def _report(chosen_gain, held_gain, settings=None, **facts):
    def scores(gain):
        return {t: 0.5 + gain + 0.01 * (n % 2) * bool(gain) for n, t in enumerate(TOPICS)}

    defaults = Trial({}, dict.fromkeys(TOPICS, 0.5), 0)
    best = Trial(settings or {"k1": 1.2}, scores(0.01), 0)
    choice = best if chosen_gain else defaults
    outcome = Outcome(defaults, choice, best, [choice] * 3, scores(held_gain), 5)
    usual = {"k1": 0.9, **dict.fromkeys(settings or {}, None)}
    return TuneReport("c", "c-train", "nDCG@20", ["bm25"], list(usual), usual, {}, outcome, **facts)


def test_the_table_shows_default_choice_and_folds():
    text = str(_report(0.1, 0.1))
    assert "bm25 on c-train: 10 topics, 5 trials" in text
    assert "k1      0.9      1.2     1.2  1.2  1.2" in text
    assert "keep the defaults" not in text and "The defaults stay" not in text


def test_defaults_that_stay_are_explained():
    text = str(_report(0, 0))
    assert "The defaults stay: the best trial (k1=1.2) gains +0.0150 on these topics" in text


def test_defaults_that_stay_are_not_written_as_a_choice():
    text = _report(0, 0).as_toml()
    assert "# the defaults of k1 stay" in text
    assert tomllib.loads(text) == {}


def test_nothing_is_tested_where_the_defaults_stay_in_every_fold():
    text = str(_report(0, 0))
    assert "Gain to expect: none, since the defaults stay in every fold\n" in text
    assert "p = " not in text
    assert "Gain to expect: +0.1050 ± 0.0017 (standard error" in str(_report(0.1, 0.1))


def test_a_choice_that_gains_nothing_held_out_is_advised_against():
    assert "Held out, the gain cannot be distinguished" in str(_report(0.1, -0.02))


def test_a_choice_at_an_end_of_its_range_is_pointed_out():
    text = str(_report(0.1, 0.1, at_ends=["k1"]))
    assert "At an end of the searched range: k1." in text


def test_the_file_reads_back_as_the_options():
    settings = {
        "k1": 1.5,
        "loop.epochs": 3,
        "delta.form": 'a "quoted" word',
        "flag": True,
        "lexical": ("a", "b"),
        "limit": None,
        "tiny": 1e-07,
        "a b.c": 1,
    }
    content = tomllib.loads(_report(0.1, 0.1, settings).as_toml())
    assert content == {
        "k1": 1.5,
        "loop": {"epochs": 3},
        "delta": {"form": 'a "quoted" word'},
        "flag": True,
        "lexical": ["a", "b"],
        "limit": "none",
        "tiny": pytest.approx(1e-07),
        "a b": {"c": 1},
    }


def test_the_file_reads_back_where_a_plan_is_given_and_a_part_of_it_chosen():
    report = _report(0.1, 0.1, {"bm25.plan.gene.weight": 8.0})
    fold = {"topics": ["a | b"], "weights": {"gene": {"title": 0.1}}}
    plan = {"required": ["disease"], "gene": {"title": 0.5, "weight": 2.0}, "folds": [fold]}
    full_report = replace(report, settings={"bm25.expand": ["hgnc"], "bm25.plan": plan})
    assert tomllib.loads(full_report.as_toml()) == {
        "bm25": {"expand": ["hgnc"], "plan": {**plan, "gene": {"title": 0.5, "weight": 8.0}}},
        "k1": 0.9,
    }


def test_the_file_reads_back_whatever_the_command_was():
    report = replace(_report(0.1, 0.1, {"b": 0.3}), command=("platform", "x\ny = 1", "f\udce9"))
    text = report.as_toml().encode(errors="backslashreplace").decode()
    assert tomllib.loads(text) == {"b": 0.3, "k1": 0.9}


def test_json_has_the_estimate_with_its_error():
    gain = _report(0.1, 0.1).as_json()["held_out_gain"]
    assert gain["mean"] == pytest.approx(0.105)
    assert gain["standard_error"] == pytest.approx(0.005270 / 10**0.5, rel=1e-3)
    assert gain["p_value"] < 1e-6
