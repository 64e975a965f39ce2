"""Runs in JSON are read wherever runs are."""

import json

import pytest

import irplatform as ir
from irplatform.errors import InputError
from irplatform.runs import read_run

MAPPING = {"4": {"d1": 1.5, "d2": 9}, "5": {"d3": -0.5}}
ORDER = {"4": ("d2", "d1"), "5": ("d3",)}


def read(tmp_path, content, name="my.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_run(path)


@pytest.mark.parametrize(
    "content",
    [
        MAPPING,
        {"model_meta": {"size": 3}, "hf": {"dev": MAPPING}},
        {"name": "bm25", "run": MAPPING},
        {"4": [["d1", 1.5], ["d2", 9]], "5": [["d3", 0]]},
        {"4": ["d2", "d1"], "5": ["d3"]},
        {"4": [{"docno": "d1", "score": "1.5"}, {"docno": "d2", "score": "9"}],
         "5": [{"docno": "d3", "score": "1"}]},
        [{"query_id": 4, "doc_id": "d1", "rank": 2}, {"query_id": 4, "doc_id": "d2", "rank": 1},
         {"query_id": 5, "doc_id": "d3", "rank": 1}],
        [{"qid": "4", "documents": ["d2", "d1"]}, {"qid": "5", "docs": [{"id": "d3", "rank": 1}]}],
    ],
)  # fmt: skip
def test_every_form_gives_the_same_rankings(tmp_path, content):
    run = read(tmp_path, content)
    assert {topic: ranking.doc_ids for topic, ranking in run.rankings.items()} == ORDER
    assert run.name == "my"


def test_utf_16_is_read(tmp_path):
    (tmp_path / "a.json").write_bytes('{"4": {"d1": 1.5, "d2": 2}}'.encode("utf-16"))
    assert read_run(tmp_path / "a.json").rankings["4"].doc_ids == ("d2", "d1")


@pytest.mark.parametrize(
    "content",
    [
        {"4": {"d1": 1, "d2": 2}},
        {"4": {"d1": 2, "d2": 3, "d3": 1}},
        {"4": [["d1", 0], ["d2", 1]]},
        {"4": {"d1": "1", "d2": "2"}},
        {"hf": {"4": {"d1": 1, "d2": 2}}},
        [{"qid": 4, "docid": "d1", "score": 1}, {"qid": 4, "docid": "d2", "score": 2}],
        {"4": {f"d{n}": n / 9 for n in range(6)}},
    ],
)
def test_numbers_that_may_be_ranks_or_distances_are_refused_until_a_run_says_which(
    tmp_path, content
):
    message = "they may be ranks, or distances. `platform submit fix .*a.json -o NEW.run` writes"
    with pytest.raises(InputError, match=message):
        read(tmp_path, content, "a.json")
    for order in ("ranks", "scores"):
        ir.fix_run(tmp_path / "a.json", tmp_path / order, order=order)
    by_rank, by_score = (read_run(tmp_path / order).rankings["4"] for order in ("ranks", "scores"))
    assert by_rank.doc_ids == by_score.doc_ids[::-1]


def test_whole_numbers_that_fall_are_scores(tmp_path):
    run = read(tmp_path, {"4": {"d1": 2, "d2": 1}, "5": {"d3": 1}})
    assert run.rankings["4"].doc_ids == ("d1", "d2")


def test_lines_are_read_one_by_one_and_name_the_run(tmp_path):
    lines = [
        {"qid": "4", "docno": "d1", "score": 1.5, "run_id": 7},
        {"qid": "4", "docno": "d2", "score": 9},
    ]
    run = read(tmp_path, "\n\n".join(map(json.dumps, lines)), "a.jsonl")
    assert (run.name, run.rankings["4"].doc_ids) == ("7", ("d2", "d1"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"questions": [{"id": "q", "documents": ["1"]}]},
            "this is JSON, not a run. Looked for were",
        ),
        ({"a": MAPPING, "b": MAPPING}, "this JSON has 2 runs: a, b. Give each its own file"),
        ({"4": {"d1": 1}, "5": {"d2": 1}, "6": {"d3": "high"}}, "topic '6' has no documents with"),
        ({"4": {"d1": None, "d2": 1}}, "the score of 'd1' for '4' is None; it must be"),
        ('{"4": {"d1": NaN, "d2": 1}}', "the score of 'd1' for '4' is nan; it must be a number"),
        ({"4": [["d1", 2], ["d1", 1]]}, "document 'd1' comes twice for topic '4'"),
        ([{"qid": 1.5, "docid": "d", "score": 1}], "the id of a topic is 1.5. Write it as text"),
        ('{"4": {"d1": 1,', "this is not JSON"),
        ({"4": {"d1": {"rank": 1, "score": 2.5}}}, "this is JSON, not a run"),
    ],
)
def test_what_is_no_run_is_refused_with_what_was_looked_for(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


def test_runs_in_json_are_scored_and_fused_and_the_check_says_what_writes_them(tmp_path):
    (tmp_path / "my.json").write_text(json.dumps(MAPPING))
    (tmp_path / "qrels.json").write_text(json.dumps({"4": {"d1": 1}, "5": {"d3": 1}}))
    path = str(tmp_path / "my.json")
    (evaluation,) = ir.evaluate(path, qrels=tmp_path / "qrels.json", measures=["RR"]).values()
    assert evaluation.aggregate == {"RR": 0.75}
    (check,) = ir.check_runs(path).values()
    assert check.refused
    assert (check.topics, check.results) == (2, (1, 2))
    assert "this is a run in JSON; TREC takes lines" in check.problems[0].message
    assert ir.fix_run(path, tmp_path / "out").check.topics == 2
