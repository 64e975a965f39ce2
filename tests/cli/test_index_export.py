"""`platform index --export` writes a retriever's own index, whole or not at all."""

import json

import pytest

from irplatform_encoders.sparse.json_vectors import read_vectors

VECTORS = {"d1": {"lung": 120, "cancer": 87}, "d2": {"cancer": 255}}


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    """The arguments that name a small collection, with vectors and topics of another program."""
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small" / "qrels").mkdir(parents=True)
    texts = "".join(
        json.dumps({"_id": d, "title": "", "text": f"text {d}"}) + "\n" for d in VECTORS
    )
    (tmp_path / "small" / "corpus.jsonl").write_text(texts)
    (tmp_path / "small" / "queries.jsonl").write_text('{"_id": "q1", "text": "cancer"}\n')
    (tmp_path / "small" / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td2\t1\n"
    )
    vectors = "".join(json.dumps({"id": d, "vector": v}) + "\n" for d, v in VECTORS.items())
    (tmp_path / "v.jsonl").write_text(vectors)
    (tmp_path / "t.tsv").write_text("q1\tcancer\n")
    return ["index", "--collection", "small"]


CHOSEN = ["--retriever", "sparse-encoder", "--set", "vectors=v.jsonl", "--set", "queries=t.tsv"]


@pytest.mark.java
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_an_index_is_written_for_other_programs(platform, arguments, tmp_path, name):
    outcome = platform(*arguments, *CHOSEN, "--export", name, "--json")
    assert outcome.code == 0, outcome.err
    facts = json.loads(outcome.out)
    assert facts["path"] == name
    assert facts["vectors"] == 2
    assert dict(read_vectors(tmp_path / name)) == VECTORS


@pytest.mark.java
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([*CHOSEN, "--export", "out.txt"], "says no format"),
        ([*CHOSEN], "--retriever and --export go together"),
        (["--export", "out.ciff"], "--retriever and --export go together"),
        (["--set", "vectors=v.jsonl"], "--set has no effect without --retriever"),
        (["--retriever", "bm25", "--export", "out.ciff"], "no index of its own"),
        (["--retriever", "sparse-encoder", "--export", "out.ciff"], "needs a model"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_a_line(platform, arguments, tmp_path, more, message):
    for name in ("out.txt", "out.ciff"):
        (tmp_path / name).write_text("of another time")
    outcome = platform(*arguments, *more)
    assert outcome.code == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    for name in ("out.txt", "out.ciff"):
        assert (tmp_path / name).read_text() == "of another time"
