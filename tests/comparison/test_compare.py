"""A comparison as a whole, on judgments small enough to reckon by hand."""

import json

import pytest

from irplatform.comparison.compare import compare
from irplatform.data import Topic
from irplatform.errors import InputError
from irplatform.evaluation.judgments import Judgments
from irplatform.reports.comparison import ComparisonReport
from irplatform.runs import Ranking, Run


def ranked(name, **topics):
    rankings = {t: Ranking.of(ids, range(len(ids), 0, -1)) for t, ids in topics.items()}
    return Run(name, rankings)


JUDGMENTS = Judgments({"a": {"x": 1, "y": 0}, "b": {"x": 1}, "c": {"z": 2}}, None, ["RR", "P@1"])
ONE = ranked("one", a=["x", "y"], b=["y", "x"], c=["u", "z"])
TWO = ranked("two", a=["y", "x"], b=["y", "x"], c=["z", "u"])
SAME = ranked("same", a=["x", "y"], b=["y", "x"], c=["u", "z"])


def test_systems_have_means_ranks_and_judged_shares():
    compared = compare(JUDGMENTS, {"one": ONE, "two": TWO})
    one = compared.system("one").scores
    assert one["RR"].per_topic == {"a": 1.0, "b": 0.5, "c": 0.5}
    assert one["RR"].mean == pytest.approx(2 / 3)
    assert (one["RR"].judged_at, one["P@1"].judged_at) == (100, 1)
    assert one["RR"].judged == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert one["P@1"].judged == pytest.approx((1 + 0 + 0) / 3)


def test_runs_and_pairs_are_counted_while_they_are_looked_at(capsys, monkeypatch):
    monkeypatch.setattr("irplatform.system.console._LINE_INTERVAL", 0)
    compare(JUDGMENTS, {"one": ONE, "two": TWO})
    output = capsys.readouterr().err
    assert "scoring: 2 of 2 runs after 0 s\n" in output
    assert "looking at unjudged documents: 2 of 2 runs after 0 s\n" in output
    assert "looking at pairs: 1 of 1 pairs after 0 s\n" in output


def test_pairs_count_topics_and_name_the_baseline():
    compared = compare(JUDGMENTS, {"one": ONE, "two": TWO}, baseline="two")
    pair = compared.pairs_by("RR")[0]
    assert (pair.baseline, pair.system, compared.baseline) == ("two", "one", "two")
    assert (pair.wins, pair.ties_of_topics, pair.losses) == (1, 1, 1)
    assert compared.topic_differences(pair) == {"a": 0.5, "b": 0.0, "c": -0.5}


def test_all_pairs_are_compared_and_equal_systems_count_once():
    runs = {"one": ONE, "two": TWO, "same": SAME}
    compared = compare(JUDGMENTS, runs, all_pairs=True)
    pairs = [(p.baseline, p.system) for p in compared.pairs_by("RR")]
    assert pairs == [("one", "two"), ("one", "same"), ("two", "same")]
    assert compared.comparisons == 1
    assert [pair.verdict for pair in compared.pairs_by("RR")] == ["unclear", "none", "none"]
    assert compared.pairs_by("RR")[1].sentence == "same has the same ranking as one."


def test_json_holds_everything_and_can_be_written():
    topics = [Topic("a", "two words", {"gene": "ALK"}), Topic("b", "one", {"gene": "ALK"})]
    compared = compare(JUDGMENTS, {"one": ONE, "two": TWO}, topics=topics, group_by="gene")
    content = json.loads(json.dumps(compared.as_json()))
    assert content["topics"][0] == {"id": "a", "query": "two words", "fields": {"gene": "ALK"}}
    assert content["groups"][0]["value"] == "ALK"
    assert content["groups"][0]["means"]["one"]["RR"] == 0.75
    assert content["systems"][1]["measures"]["RR"]["per_topic"] == {"a": 0.5, "b": 0.5, "c": 1.0}


def test_groups_are_a_frame():
    pytest.importorskip("polars")
    topics = [Topic("a", "two words", {"gene": "ALK"}), Topic("b", "one", {"gene": "ALK"})]
    runs = {"one": ONE, "two": TWO}
    compared = ComparisonReport.of(compare(JUDGMENTS, runs, topics=topics, group_by="gene"))
    one, other = compared.to_polars("groups").filter(measure="RR").iter_rows(named=True)
    assert (one["group"], one["topics"], one["system"], one["mean"]) == ("ALK", 2, "one", 0.75)
    assert (one["baseline"], one["difference"]) == (None, None)
    assert (other["baseline"], other["difference"], other["losses"]) == ("one", -0.25, 1)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="at least two runs"):
        compare(JUDGMENTS, {"one": ONE})
    with pytest.raises(InputError, match="unknown run 'tow'"):
        compare(JUDGMENTS, {"one": ONE, "two": TWO}, baseline="tow")
    with pytest.raises(InputError, match="groups of topics need collection="):
        compare(JUDGMENTS, {"one": ONE, "two": TWO}, group_by="gene")


def test_the_topics_that_differ_most_come_first():
    compared = compare(JUDGMENTS, {"one": ONE, "two": TWO})
    assert [topic.id for topic in compared.most_different("RR")] == ["a", "c"]
