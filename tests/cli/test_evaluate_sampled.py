"""`platform evaluate` with sampled judgments, of a file or of a collection."""

import json
import shutil

import pytest

SAMPLED = "q1 0 d1 1 1\nq1 0 d2 2 -1\nq2 0 d3 1 2\nq2 0 d2 1 0\n"


@pytest.fixture
def sampled(folder):
    (folder / "sampled.txt").write_text(SAMPLED)
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d3 2\n")
    (folder / "tiny.toml").write_text(
        'id = "tiny"\nmeasures = ["AP", "P@1"]\n'
        '[documents]\nfiles = ["small/corpus.jsonl"]\nid = "_id"\nabstract = "text"\n'
        '[topics]\nfile = "small/queries.jsonl"\nformat = "beir"\n'
        '[qrels]\nfile = "qrels.txt"\nsampled = "sampled.txt"\n'
    )
    (folder / "half.run").write_text("q1 Q0 d1 1 2.0 x\n")
    return folder


def make_unjudged(folder):
    (folder / "unjudged").mkdir()
    for name in ("corpus.jsonl", "queries.jsonl"):
        shutil.copy(folder / "small" / name, folder / "unjudged")


def measures(outcome):
    assert outcome.code == 0, outcome
    return outcome.json["runs"][0]["measures"]


def test_five_columns_are_recognised_and_reported_by_the_inferred_measures(platform, sampled):
    values = measures(platform("evaluate", "good.run", "--qrels", "sampled.txt", "--json"))
    assert list(values) == ["infNDCG", "infAP"]
    assert values["infNDCG"] == 0.5


def test_other_measures_take_the_judged_documents(platform, sampled):
    options = ("--measure", "P(rel=2)@1", "--measure", "Judged@2")
    values = measures(
        platform("evaluate", "good.run", "--qrels", "sampled.txt", *options, "--json")
    )
    assert values == {"P(rel=2)@1": 0.0, "Judged@2": 0.75}


def test_sampled_judgments_stand_beside_ordinary_ones(platform, sampled):
    options = ("--qrels", "qrels.txt", "--sampled-qrels", "sampled.txt")
    values = measures(platform("evaluate", "good.run", *options, "--json"))
    assert list(values) == ["infNDCG", "infAP", "nDCG@20", "AP", "P@10", "RR", "R@1000"]


def test_sampled_judgments_stand_beside_a_collection_that_has_none(platform, sampled):
    make_unjudged(sampled)
    options = ("--collection", "unjudged:unjudged", "--sampled-qrels", "sampled.txt")
    values = measures(platform("evaluate", "good.run", *options, "--json"))
    assert list(values)[:3] == ["infNDCG", "infAP", "nDCG@20"]
    others = ("--measure", "P(rel=2)@1", "--measure", "Judged@2")
    values = measures(platform("evaluate", "good.run", *options, *others, "--json"))
    assert values == {"P(rel=2)@1": 0.0, "Judged@2": 0.75}


def test_a_collections_sampled_judgments_come_first(platform, sampled):
    values = measures(platform("evaluate", "good.run", "--collection", "tiny.toml", "--json"))
    assert list(values) == ["infNDCG", "infAP", "AP", "P@1"]


def test_a_collection_may_place_the_measures_itself(platform, sampled):
    text = (sampled / "tiny.toml").read_text().replace('["AP"', '["AP", "infNDCG"')
    (sampled / "tiny.toml").write_text(text)
    values = measures(platform("evaluate", "good.run", "--collection", "tiny.toml", "--json"))
    assert list(values) == ["AP", "infNDCG", "infAP", "P@1"]


def test_infap_is_ir_measures_where_judgments_are_ordinary(platform, sampled):
    options = ("--measure", "infAP", "--measure", "infAP(rel=2)", "--json")
    values = measures(platform("evaluate", "good.run", "--qrels", "qrels.txt", *options))
    assert list(values) == ["infAP", "infAP(rel=2)"]


def test_topics_without_results_are_left_out_and_that_is_said(platform, sampled):
    options = ("--qrels", "sampled.txt", "--measure", "infNDCG", "--measure", "P@1")
    outcome = platform("evaluate", "half.run", *options, "--json", "--per-topic")
    (entry,) = outcome.json["runs"]
    assert entry["measures"] == {"infNDCG": 1.0, "P@1": 0.5}
    assert entry["per_topic"] == {"infNDCG": {"q1": 1.0}, "P@1": {"q1": 1.0, "q2": 0.0}}
    assert "they count as 0, but are left out of the mean of infNDCG" in outcome.err


def test_where_all_measures_leave_topics_out_none_is_said_to_count(platform, sampled):
    outcome = platform("evaluate", "half.run", "--qrels", "sampled.txt")
    assert outcome.err == (
        "half: 1 topic with no results (they are left out of the mean of infNDCG and infAP, as "
        "in TREC's own program; tests between runs count them as 0): q2\n"
    )


def test_topics_without_sampled_judgments_are_named_and_not_said_to_count(platform, sampled):
    (sampled / "more.txt").write_text("q1 0 d1 1\nq2 0 d3 2\nq3 0 d1 0\n")
    (sampled / "three.run").write_text("".join(f"q{n} Q0 d1 1 2.0 x\n" for n in (1, 2, 3)))
    options = ("--qrels", "more.txt", "--sampled-qrels", "sampled.txt", "--measure", "infNDCG")
    notice = "three: 1 topic without sampled judgments (they do not count for infNDCG): q3"
    assert platform("evaluate", "three.run", *options).err.splitlines() == [notice]
    notices = platform("evaluate", "three.run", *options, "--measure", "AP").err.splitlines()
    assert notices[0] == notice
    assert notices[1].startswith("1 topic without a relevant document")


def test_infap_of_ordinary_judgments_counts_topics_without_results(platform, sampled):
    options = ("--qrels", "qrels.txt", "--measure", "infAP")
    outcome = platform("evaluate", "half.run", *options, "--json")
    assert measures(outcome) == {"infAP": 0.5}
    assert outcome.err == "half: 1 topic with no results (they count as 0): q2\n"


def test_other_depths_leave_topics_out_too_and_tests_count_them(platform, sampled):
    options = ("--qrels", "sampled.txt", "--measure", "infNDCG@1", "--json")
    outcome = platform("evaluate", "half.run", "good.run", *options)
    assert measures(outcome) == {"infNDCG@1": 1.0}
    assert "left out of the mean of infNDCG@1, as in" in outcome.err
    compared = platform("compare", "half.run", "good.run", *options)
    assert compared.json["pairs"][0]["topics"] == 2
    assert compared.json["systems"][0]["measures"]["infNDCG@1"]["mean"] == 0.5
    assert "half: 1 topic with no results (they count as 0): q2" in compared.err


def test_runs_with_different_topics_are_compared(platform, sampled):
    outcome = platform("evaluate", "half.run", "good.run", "--qrels", "sampled.txt")
    assert outcome.code == 0, outcome
    assert [line.split()[:2] for line in outcome.out.splitlines()[2:4]] == [
        ["half", "1.0000"],
        ["good", "0.5000"],
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--collection", "small", "--measure", "infNDCG"), "'infNDCG' needs sampled judgments"),
        (
            ("--qrels", "qrels.txt", "--measure", "infNDCG"),
            "give `platform evaluate` or `compare` --sampled-qrels",
        ),
        (("--qrels", "sampled.txt", "--measure", "infNDCG@0"), "takes only a cutoff"),
        (("--qrels", "sampled.txt", "--measure", "infAP(rel=2)"), "takes only a cutoff"),
        (("--collection", "small", "--measure", "infNDCG@10"), "needs sampled judgments"),
        (("--qrels", "sampled.txt", "--measure", "infndcg"), "Did you mean 'infNDCG'?"),
        (("--qrels", "sampled.txt", "--sampled-qrels", "sampled.txt"), "give one of the two"),
        (("--sampled-qrels", "qrels.txt"), "qrels.txt:1: 4 columns"),
        (("--collection", "unjudged"), "'unjudged-unjudged' has no judgments. (`platform evaluate"),
        (("--qrels", "bad.txt"), "bad.txt:2: 4 columns. Every line needs five columns"),
        (("--collection", "small", "--qrels", "qrels.txt"), "give either --collection or --qrels"),
    ],
)
def test_a_mistake_is_answered_in_a_line(platform, sampled, arguments, message):
    (sampled / "bad.txt").write_text("q1 0 d1 1 1\nq1 0 d2 1\n")
    make_unjudged(sampled)
    refused = platform("evaluate", "good.run", *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
    assert len(refused.err.splitlines()) == 1


def test_broken_sampled_judgments_stop_a_run_before_it_writes(platform, sampled):
    (sampled / "sampled.txt").write_text("q1 0 d1 1\n")
    refused = platform("run", "--collection", "tiny.toml", "--run-dir", "out")
    assert refused.code == 2
    assert "sampled.txt:1: 4 columns" in refused.err
    assert not (sampled / "out").exists()


@pytest.mark.java
def test_a_run_reports_and_keeps_them(platform, sampled):
    outcome = platform("run", "--collection", "tiny.toml", "--run-dir", "out", "--json")
    assert outcome.code == 0, outcome
    assert list(outcome.json["runs"][0]["measures"]) == ["infNDCG", "infAP", "AP", "P@1"]
    scores = json.loads((sampled / "out" / "scores.json").read_text())
    assert list(scores["systems"]["bm25"]["per_topic"]) == ["infNDCG", "infAP", "AP", "P@1"]
    meta = json.loads((sampled / "out" / "bm25.run.meta.json").read_text())
    assert "sampled qrels" in meta["data"]["test collection"]


def test_a_run_of_topics_with_sampled_judgments_alone_is_scored(platform, sampled):
    (sampled / "first.txt").write_text("q1 0 d1 1\n")
    (sampled / "second.run").write_text("q2 Q0 d3 1 2.0 x\n")
    options = ("--qrels", "first.txt", "--sampled-qrels", "sampled.txt", "--measure", "infNDCG")
    outcome = platform("evaluate", "second.run", *options, "--json")
    assert measures(outcome) == {"infNDCG": 1.0}
    assert "none of its documents" not in outcome.err
    (sampled / "third.run").write_text("q3 Q0 d3 1 2.0 x\n")
    refused = platform("evaluate", "third.run", *options)
    assert refused.code == 2
    assert "its 1 topics (q3) is among the 2 judged ones (q1, q2)" in refused.err


def test_every_pair_of_runs_is_compared_on_the_same_topics(platform, sampled):
    for name, topics in {"a": ["q1"], "b": ["q1"], "c": ["q1", "q2"]}.items():
        lines = [f"{topic} Q0 d{n} {n} {9 - n}.0 {name}\n" for topic in topics for n in (1, 3)]
        (sampled / f"{name}.run").write_text("".join(lines))
    (sampled / "b.run").write_text("q1 Q0 d3 1 2.0 b\nq1 Q0 d1 2 1.0 b\n")
    outcome = platform("compare", "a.run", "b.run", "c.run", "--qrels", "sampled.txt", "--json")
    assert [p["topics"] for p in outcome.json["pairs"] if p["measure"] == "infNDCG"] == [2, 2]


@pytest.mark.parametrize(
    ("ordinary", "measure"), [("q1 0 d1 1\n", "nDCG@20"), ("q2 0 d3 1\nq3 0 d3 1\n", "infNDCG")]
)
def test_a_run_of_topics_that_the_measures_asked_for_do_not_know_is_refused(
    platform, sampled, ordinary, measure
):
    (sampled / "other.txt").write_text(ordinary)
    (sampled / "pools.txt").write_text("q1 0 d1 1 1\nq2 0 d3 1 1\nq3 0 d3 1 -1\n")
    topic = "q2" if measure == "nDCG@20" else "q3"
    (sampled / "other.run").write_text(f"{topic} Q0 d3 1 2.0 x\n")
    files = ("--qrels", "other.txt", "--sampled-qrels", "pools.txt")
    refused = platform("evaluate", "other.run", *files, "--measure", measure)
    assert (refused.code, refused.out) == (2, "")
    assert f"none of its 1 topics ({topic}) is among the" in refused.err
    outcome = platform(
        "evaluate", "other.run", *files, "--measure", "nDCG@20", "--measure", "infAP"
    )
    assert outcome.code == 0
