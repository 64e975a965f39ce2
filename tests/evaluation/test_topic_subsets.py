"""Averages over topics that a first stage serves, and over those that training has seen or not."""

import pytest
from commands import call

import irplatform as ir
from irplatform.errors import InputError
from irplatform.evaluation.topics import parse_among, spelled_otherwise


@pytest.fixture
def folder(tmp_path):
    """Three test topics: q1 shares its article with training; q3's article is found by no run."""
    lines = "".join(f'{{"_id": "d{n}", "title": "t", "text": "x"}}\n' for n in range(6))
    (tmp_path / "corpus.jsonl").write_text(lines)
    topics = "".join(f'{{"_id": "q{n}", "text": "cells"}}\n' for n in range(4))
    (tmp_path / "queries.jsonl").write_text(topics)
    (tmp_path / "qrels").mkdir()
    header = "query-id\tcorpus-id\tscore\n"
    (tmp_path / "qrels" / "train.tsv").write_text(header + "q0\td1\t1\nq0\td2\t0\n")
    (tmp_path / "qrels" / "test.tsv").write_text(header + "q1\td1\t1\nq2\td2\t1\nq3\td3\t1\n")
    (tmp_path / "measures.txt").write_text("Success@1\n")
    rows = [
        "q1 Q0 d1 1 2 r",
        "q1 Q0 d2 2 1 r",
        "q2 Q0 d4 1 2 r",
        "q2 Q0 d2 2 1 r",
        "q3 Q0 d4 1 1 r",
    ]
    (tmp_path / "r.run").write_text("".join(f"{row}\n" for row in rows))
    return tmp_path


@pytest.fixture
def evaluate(capsys, monkeypatch, folder):
    """Runs `platform evaluate … r.run`."""

    def run(*options):
        return call(
            capsys, monkeypatch, "evaluate", folder / "r.run", "--collection", folder, *options
        )

    return run


@pytest.mark.parametrize(
    ("options", "mean", "count"),
    [
        ([], 1 / 3, 3),
        (["--among", "{run}"], 1 / 2, 2),
        (["--among", "{run}@1"], 1, 1),
        (["--among", "{run}@1000"], 1 / 2, 2),
        (["--relevant", "seen"], 1, 1),
        (["--relevant", "unseen"], 0, 2),
        (["--relevant", "unseen", "--among", "{run}"], 0, 1),
    ],
)
def test_the_mean_is_over_the_topics_that_count(evaluate, folder, options, mean, count):
    arguments = [option.format(run=folder / "r.run") for option in options]
    outcome = evaluate(*arguments, "--per-topic", "--json")
    (run,) = outcome.json["runs"]
    assert run["measures"] == {"Success@1": pytest.approx(mean)}
    assert len(run["per_topic"]["Success@1"]) == count
    assert "no judgments" not in outcome.err
    notice = "1 topic counts" if count == 1 else f"{count} topics count"
    assert (notice in outcome.err) == bool(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--among", "{run}@0"], "write a run and a depth"),
        (["--among", "nope@5"], "no such file"),
    ],
)
def test_mistakes_are_named(evaluate, folder, options, message):
    outcome = evaluate(*(option.format(run=folder / "r.run") for option in options))
    assert outcome.code == 2
    assert message in outcome.err


def test_seen_needs_a_training_partner(evaluate, folder):
    (folder / "qrels" / "train.tsv").unlink()
    outcome = evaluate("--relevant", "seen")
    assert outcome.code == 2
    assert "--relevant needs a collection with a training partner: '" in outcome.err
    assert "-test' has none with judgments." in outcome.err


def test_measures_of_sampled_judgments_alone_need_all_topics(evaluate, folder):
    (folder / "sampled.txt").write_text("q1 0 d1 1 1\nq2 0 d2 1 1\n")
    arguments = ("--sampled-qrels", folder / "sampled.txt", "--relevant", "seen")
    refused = evaluate(*arguments)
    assert refused.code == 2
    assert refused.err == (
        "platform: infNDCG and infAP cannot be limited to some topics. Name other measures with "
        "--measure.\n"
    )
    (run,) = evaluate(*arguments, "--measure", "Success@1", "--json").json["runs"]
    assert run["measures"] == {"Success@1": 1.0}


def test_no_topic_left_is_an_error(evaluate, folder):
    (folder / "none.run").write_text("q1 Q0 d5 1 1 r\n")
    assert "no topic is left" in evaluate("--among", folder / "none.run").err


def test_a_file_with_an_at_sign_in_its_name_is_that_file(tmp_path):
    path = tmp_path / "a@5"
    path.write_text("")
    assert parse_among(str(path)) == (path, 1000)
    with pytest.raises(InputError):
        parse_among("a.run@five")


@pytest.mark.parametrize(
    ("ids", "others", "message"),
    [
        (["007"], ["8", "7"], "'007' and '7' differ by leading zeros alone: write them alike."),
        (["q7"], ["Q7"], "'q7' and 'Q7' differ by capitals alone: write them alike."),
        (["7.0"], ["7"], "'7.0' and '7' differ by a final .0 alone: write them alike."),
        (["7", "8"], ["7", "9"], ""),
        (["1"], ["2"], ""),
    ],
)
def test_ids_that_are_spelled_otherwise_are_told(ids, others, message):
    assert spelled_otherwise(ids, others) == message


def test_a_run_whose_topics_are_spelled_otherwise_is_told():
    with pytest.raises(InputError, match="'007' and '7' differ by leading zeros alone"):
        ir.evaluate({"a": {"007": {"d": 1.0}}}, qrels={"7": {"d": 1}}, measures="RR")
