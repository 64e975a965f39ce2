"""Pools and judgments with sources in `evaluate`, `compare`, `report` and `qrels write`."""

import json

import pytest
from sourced_judgments import ANN, LLM, judged, make_pool, write


@pytest.fixture
def pool(folder):
    """People judged one topic, a machine both, differently."""
    lines = [("q1", "d1", 1, 1), ("q1", "d2", 1, 2), ("q2", "d2", 1, 1), ("q2", "d3", 1, 2)]
    made = make_pool(folder / "pool", lines)
    write(made / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 0}))
    write(made / "llm.jsonl", judged(LLM, "q1", {"d1": 0}), judged(LLM, "q2", {"d2": 2, "d3": 0}))
    (folder / "bad.run").write_text("q1 Q0 d2 1 2.0 x\nq1 Q0 d1 2 1.0 x\nq2 Q0 d3 1 1.0 x\n")
    return made


def means(outcome):
    assert outcome.code == 0, outcome
    return {run["name"]: run["measures"]["RR"] for run in outcome.json["runs"]}


def test_people_alone_count_and_what_is_left_out_is_told(platform, pool):
    shown = platform("evaluate", "good.run", "--qrels", "pool", "--measure", "RR", "--json")
    assert means(shown) == {"good": 1.0}
    assert "judgments: 2 documents by ann" in shown.err
    assert "left out: judgments of machines (llm gpt-x 1); --sources people-first" in shown.err


def test_machines_fill_in_where_no_person_judged(platform, pool):
    asked = ("evaluate", "bad.run", "--qrels", "pool", "--measure", "RR", "--json")
    assert means(platform(*asked, "--sources", "people-first")) == {"bad": 0.25}
    shown = platform(*asked, "--sources", "machines")
    assert means(shown) == {"bad": 0.0}
    assert "judgments: 3 documents by llm gpt-x 1, 3 of them by machines alone" in shown.err


def test_compare_says_what_hangs_on_machines(platform, pool):
    asked = ("compare", "bad.run", "good.run", "--qrels", "pool", "--measure", "RR")
    shown = platform(*asked, "--sources", "people-first")
    assert shown.code == 0, shown
    assert "machine" in shown.out.splitlines()[2].split()
    found = json.loads(platform(*asked, "--sources", "people-first", "--json").out)
    (pair,) = found["pairs"]
    assert pair["by_people"]["topics"] == 1
    assert found["systems"][0]["measures"]["RR"]["machine_judged"] == 0.5
    alone = json.loads(platform(*asked, "--json").out)
    assert alone["pairs"][0]["difference"] == pair["by_people"]["difference"]


def test_a_collection_beside_a_pool_gives_topics_and_the_pool_the_judgments(platform, pool):
    asked = ("compare", "bad.run", "good.run", "--measure", "RR", "--json")
    found = json.loads(platform(*asked, "--qrels", "pool", "--collection", "small").out)
    assert [topic["query"] for topic in found["topics"]] == ["crizotinib"]


def test_another_collections_judgments_are_refused(platform, pool, folder):
    write(folder / "j.jsonl", judged(ANN, "x1", {"d1": 1}))
    done = platform("evaluate", "good.run", "--qrels", "j.jsonl", "--collection", "small")
    assert (done.code, done.out) == (2, "")
    assert "j.jsonl: no topic of 'small-test' is judged here." in done.err


def test_a_report_marks_grades_of_machines(platform, pool, folder):
    asked = ("report", "bad.run", "good.run", "--qrels", "pool", "--html", "r.html")
    assert platform(*asked, "--sources", "people-first").code == 0
    page = (folder / "r.html").read_text()
    assert "m judged by a machine" in page
    assert '"machine": [' in page or '"machine":[' in page
    assert platform(*asked).code == 0
    page = (folder / "r.html").read_text()
    assert "m judged by a machine" not in page
    assert "judgments: 2 documents by ann" in page


def test_sources_need_judgments_that_name_them(platform, pool, folder):
    (folder / "qrels.txt").write_text("q1 0 d1 1\n")
    shown = platform("evaluate", "good.run", "--qrels", "qrels.txt", "--sources", "people")
    assert shown.code == 2
    assert "--sources needs judgments that name their sources" in shown.err
    shown = platform("evaluate", "good.run", "--qrels", "pool", "--sources", "humans")
    assert (shown.code, "unknown source 'humans'" in shown.err) == (2, True)


def test_a_sample_of_strata_is_scored_by_its_own_measures(platform, folder):
    lines = [("q1", "d1", 1, 1), ("q1", "d2", 2, 2), ("q1", "d3", 2, 0)]
    made = make_pool(folder / "sample", lines, strata=True)
    write(made / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 1}))
    shown = platform("evaluate", "good.run", "--qrels", "sample", "--json")
    (run,) = shown.json["runs"]
    assert [*run["measures"]] == ["infNDCG", "infAP"]
    assert platform("qrels", "write", "sample", "-o", "q.txt").out == "q.txt\n"
    again = platform("evaluate", "good.run", "--qrels", "q.txt", "--json")
    assert again.json["runs"][0]["measures"] == run["measures"]


def test_written_qrels_score_as_the_pool_does(platform, pool):
    written = platform("qrels", "write", "pool", "-o", "q.txt", "--sources", "people-first")
    assert (written.code, written.out) == (0, "q.txt\n")
    asked = ("evaluate", "bad.run", "good.run", "--measure", "RR", "--json", "--qrels")
    assert means(platform(*asked, "q.txt")) == means(
        platform(*asked, "pool", "--sources", "people-first")
    )
