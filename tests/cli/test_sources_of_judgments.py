"""Pools and judgments with sources in `evaluate`, `compare`, `report` and `qrels write`."""

import json

import pytest
from sourced_judgments import ANN, LLM, judged, make_pool, write


@pytest.fixture
def pool(folder):
    """People judged one topic, a machine both, differently."""
    lines = [("q1", "d1", 1, 1), ("q1", "d2", 1, 2), ("q2", "d2", 1, 1), ("q2", "d3", 1, 2)]
    pool_folder = make_pool(folder / "pool", lines)
    write(pool_folder / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 0}))
    write(
        pool_folder / "llm.jsonl",
        judged(LLM, "q1", {"d1": 0}),
        judged(LLM, "q2", {"d2": 2, "d3": 0}),
    )
    (folder / "bad.run").write_text("q1 Q0 d2 1 2.0 x\nq1 Q0 d1 2 1.0 x\nq2 Q0 d3 1 1.0 x\n")
    return pool_folder


def means(outcome):
    assert outcome.code == 0, outcome
    return {run["name"]: run["measures"]["RR"] for run in outcome.json["runs"]}


def test_people_alone_count_and_what_is_left_out_is_told(platform, pool):
    outcome = platform("evaluate", "good.run", "--qrels", "pool", "--measure", "RR", "--json")
    assert means(outcome) == {"good": 1.0}
    assert "judgments: 2 documents by ann" in outcome.err
    assert "left out: judgments of machines (llm gpt-x 1); --sources people-first" in outcome.err


def test_machines_fill_in_where_no_person_judged(platform, pool):
    command = ("evaluate", "bad.run", "--qrels", "pool", "--measure", "RR", "--json")
    assert means(platform(*command, "--sources", "people-first")) == {"bad": 0.25}
    outcome = platform(*command, "--sources", "machines")
    assert means(outcome) == {"bad": 0.0}
    assert "judgments: 3 documents by llm gpt-x 1, 3 of them by machines alone" in outcome.err


def test_compare_says_what_hangs_on_machines(platform, pool):
    command = ("compare", "bad.run", "good.run", "--qrels", "pool", "--measure", "RR")
    outcome = platform(*command, "--sources", "people-first")
    assert outcome.code == 0, outcome
    assert "machine" in outcome.out.splitlines()[2].split()
    comparison = json.loads(platform(*command, "--sources", "people-first", "--json").out)
    (pair,) = comparison["pairs"]
    assert pair["by_people"]["topics"] == 1
    assert comparison["systems"][0]["measures"]["RR"]["machine_judged"] == 0.5
    alone = json.loads(platform(*command, "--json").out)
    assert alone["pairs"][0]["difference"] == pair["by_people"]["difference"]


def test_a_collection_beside_a_pool_gives_topics_and_the_pool_the_judgments(platform, pool):
    command = ("compare", "bad.run", "good.run", "--measure", "RR", "--json")
    comparison = json.loads(platform(*command, "--qrels", "pool", "--collection", "small").out)
    assert [topic["query"] for topic in comparison["topics"]] == ["crizotinib"]


def test_another_collections_judgments_are_refused(platform, pool, folder):
    write(folder / "j.jsonl", judged(ANN, "x1", {"d1": 1}))
    outcome = platform("evaluate", "good.run", "--qrels", "j.jsonl", "--collection", "small")
    assert (outcome.code, outcome.out) == (2, "")
    assert "j.jsonl: no topic of 'small-test' is judged here." in outcome.err


def test_a_report_marks_grades_of_machines(platform, pool, folder):
    command = ("report", "bad.run", "good.run", "--qrels", "pool", "--html", "r.html")
    assert platform(*command, "--sources", "people-first").code == 0
    page = (folder / "r.html").read_text()
    assert "m judged by a machine" in page
    assert '"machine": [' in page or '"machine":[' in page
    assert platform(*command).code == 0
    page = (folder / "r.html").read_text()
    assert "m judged by a machine" not in page
    assert "judgments: 2 documents by ann" in page


def test_sources_need_judgments_that_name_them(platform, pool, folder):
    (folder / "qrels.txt").write_text("q1 0 d1 1\n")
    outcome = platform("evaluate", "good.run", "--qrels", "qrels.txt", "--sources", "people")
    assert outcome.code == 2
    assert "--sources needs judgments that name their sources" in outcome.err
    outcome = platform("evaluate", "good.run", "--qrels", "pool", "--sources", "humans")
    assert (outcome.code, "unknown source 'humans'" in outcome.err) == (2, True)


def test_a_sample_of_strata_is_scored_by_its_own_measures(platform, folder):
    lines = [("q1", "d1", 1, 1), ("q1", "d2", 2, 2), ("q1", "d3", 2, 0)]
    sample = make_pool(folder / "sample", lines, strata=True)
    write(sample / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 1}))
    outcome = platform("evaluate", "good.run", "--qrels", "sample", "--json")
    (run,) = outcome.json["runs"]
    assert [*run["measures"]] == ["infNDCG", "infAP"]
    assert platform("qrels", "write", "sample", "-o", "q.txt").out == "q.txt\n"
    again = platform("evaluate", "good.run", "--qrels", "q.txt", "--json")
    assert again.json["runs"][0]["measures"] == run["measures"]


def test_written_qrels_score_as_the_pool_does(platform, pool):
    outcome = platform("qrels", "write", "pool", "-o", "q.txt", "--sources", "people-first")
    assert (outcome.code, outcome.out) == (0, "q.txt\n")
    command = ("evaluate", "bad.run", "good.run", "--measure", "RR", "--json", "--qrels")
    assert means(platform(*command, "q.txt")) == means(
        platform(*command, "pool", "--sources", "people-first")
    )
