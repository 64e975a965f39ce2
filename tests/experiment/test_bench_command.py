"""`platform bench rerankers`, as a user calls it."""

import json

import pytest
from commands import call

pytestmark = pytest.mark.java


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many" / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "title": "Cancer", "text": f"cell{n}"} for n in range(30)]
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    (tmp_path / "many" / "corpus.jsonl").write_text(lines)
    (tmp_path / "many" / "queries.jsonl").write_text('{"_id": "q1", "text": "cancer"}\n')
    (tmp_path / "many" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    return tmp_path


def test_it_prints_a_line_for_each_reranker(folder, capsys, monkeypatch, fresh_home):
    options = ("--collection", "many", "--documents", 20, "--device", "cpu", "--rounds", 2)
    rerankers = ("--reranker", "revdocid", "--reranker", "bm25-text")
    result = call(capsys, monkeypatch, "bench", "rerankers", *options, *rerankers)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == "Milliseconds for one model to score 20 documents of a topic"
    assert [line.split()[:2] for line in lines[2:]] == [
        ["reranker", "device"],
        ["revdocid", "cpu"],
        ["bm25-text", "cpu"],
    ]
    result = call(capsys, monkeypatch, "bench", "rerankers", *options, *rerankers, "--json")
    timings = result.json["timings"]
    assert [timing["measurements"] for timing in timings] == [2, 2]
    assert all(timing["median_ms"] > 0 for timing in timings)


def test_more_documents_than_there_are_is_refused(folder, capsys, monkeypatch, fresh_home):
    options = ("--collection", "many", "--reranker", "revdocid", "--device", "cpu")
    result = call(capsys, monkeypatch, "bench", "rerankers", *options)
    assert result.code == 2
    assert "30 different candidates, not 500" in result.err
