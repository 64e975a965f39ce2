"""TIRA's two forms of input become a run and its metadata, as TIRA takes them."""

import gzip
import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEXTS = {
    f"d{n}": f"Melanoma with BRAF in case {n}. " + "Vemurafenib helps. " * (n % 4) for n in range(9)
}
QUERIES = {"q1": "vemurafenib melanoma", "q2": "BRAF case 3", "q3": "helps"}
FULL_RANK = [
    {"docno": doc_id, "text": text, "original_document": {}} for doc_id, text in TEXTS.items()
]
TOPICS = [
    {"qid": qid, "query": query, "original_query": {"query_id": qid, "title": "A title"}}
    for qid, query in QUERIES.items()
]
CANDIDATES = [
    {**topic, "docno": doc_id, "text": TEXTS[doc_id], "rank": rank, "score": 10.0 - rank}
    for topic in TOPICS
    for rank, doc_id in enumerate(["d3", "d1", "d8", "d2"], start=1)
]


def write(path, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.fixture
def full(folder):
    write(folder / "full" / "documents.jsonl.gz", FULL_RANK)
    write(folder / "full" / "queries.jsonl", TOPICS)
    (folder / "full" / "metadata.json").write_text('{"ir_datasets_id": "cases"}')
    return folder / "full"


@pytest.fixture
def rerank(folder):
    write(folder / "re" / "rerank.jsonl.gz", CANDIDATES)
    return folder / "re"


def rows(out):
    return [line.split() for line in (Path(out) / "run.txt").read_text().splitlines()]


def accepted(out):
    """Return the verdict of TIRA's checker, where it is installed."""
    checker = pytest.importorskip("tira.check_format")
    check = checker.RunWithIrMetadata()
    check.apply_configuration_and_throw_if_invalid(None)
    status, message = check.check_format(Path(out))
    return status == checker.FormatMsgType.OK, message


def test_documents_are_searched(platform, folder, full):
    outcome = platform("tira", "--input", full, "--output", "out", "--tag", "mine")
    assert outcome.out == "out: run.txt and ir-metadata.yml, 3 topics of a full-rank input\n", (
        outcome
    )
    assert "lacks your team and repository, which some tasks require" in outcome.err
    assert "judgments" not in outcome.err
    run = rows("out")
    assert {row[0] for row in run} == set(QUERIES)
    assert {row[2] for row in run} <= set(TEXTS)
    assert {row[5] for row in run} == {"mine"}
    metadata = yaml.safe_load((folder / "out" / "ir-metadata.yml").read_text())
    assert metadata["data"]["test collection"]["name"] == "cases"


def test_documents_without_text_are_told_and_do_not_stop_a_sandbox(platform, folder):
    empty = [{"docno": f"e{n}", "text": ""} for n in range(9)]
    write(folder / "full" / "documents.jsonl", [*FULL_RANK, *empty])
    write(folder / "full" / "queries.jsonl", TOPICS)
    outcome = platform("tira", "--input", folder / "full", "--output", "out")
    assert (outcome.code, len({row[0] for row in rows("out")})) == (0, 3)
    assert "WARNING: 9 of 18 documents have no text." in outcome.err


def test_longevals_folder_of_documents_and_table_of_topics_are_read(platform, folder):
    documents = [{"id": doc_id, "title": "", "abstract": text} for doc_id, text in TEXTS.items()]
    (folder / "le").mkdir()
    write(folder / "le" / "documents" / "documents_1.jsonl", documents[:6])
    write(folder / "le" / "documents" / "documents_2.jsonl.gz", documents[3:])
    table = "".join(f"{topic}\t{query}\n" for topic, query in QUERIES.items())
    (folder / "le" / "queries.txt").write_text(table)
    outcome = platform("tira", "--input", folder / "le", "--output", "out")
    assert (outcome.code, {row[0] for row in rows("out")}) == (0, set(QUERIES)), outcome
    assert "documents: 3 lines with a document that came before, such as 'd3'" in outcome.err


def test_several_first_stages_are_refused(platform, full):
    command = ("tira", "--input", full, "--output", "out", "--first-stage", "bm25,qld")
    outcome = platform(*command)
    assert (outcome.code, "this takes one collection and one first stage" in outcome.err) == (
        2,
        True,
    ), outcome


def test_candidates_are_reranked_and_nothing_else(platform, folder, rerank, monkeypatch):
    monkeypatch.setenv("inputDataset", str(rerank))
    monkeypatch.setenv("outputDir", str(folder / "out"))
    monkeypatch.setenv("IRPLATFORM_TEAM", "us")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/us")
    (folder / "out").mkdir()  # a sandbox brings it
    outcome = platform("tira", "--reranker", "bm25-text", "--json")
    assert (outcome.code, outcome.json["form"], outcome.json["missing"]) == (0, "re-rank", [])
    run = rows("out")
    assert len(run) == 12
    assert {row[2] for row in run} == {"d1", "d2", "d3", "d8"}
    assert next(row[2] for row in run if row[0] == "q3") == "d3"  # three times in a short text
    method = yaml.safe_load((folder / "out" / "ir-metadata.yml").read_text())["method"]
    assert method["name"] == "candidates → bm25-text"
    assert method["description"].startswith("the run candidates is given; bm25-text reranks ")


def test_only_the_first_candidates_are_reranked_if_asked(platform, rerank):
    command = ("tira", "--input", rerank, "--reranker", "revdocid", "--interpolate", "0")
    for out, options in (("all", ()), ("two", ("--rerank-depth", "2"))):
        assert platform(*command, "--output", out, *options).code == 0
    first = {out: [row[2] for row in rows(out) if row[0] == "q1"] for out in ("all", "two")}
    assert first == {"all": ["d8", "d3", "d2", "d1"], "two": ["d3", "d1", "d8", "d2"]}


def test_the_dockerfile_calls_it_as_a_sandbox_does(platform, folder, rerank, monkeypatch):
    monkeypatch.setenv("inputDataset", str(rerank))
    monkeypatch.setenv("outputDir", str(folder / "out"))
    lines = (ROOT / "examples" / "tira" / "Dockerfile").read_text().splitlines()
    (entry,) = (line for line in lines if line.startswith("ENTRYPOINT"))
    name, *arguments = json.loads(entry.removeprefix("ENTRYPOINT"))
    assert name == "platform"
    assert platform(*arguments).code == 0
    assert len(rows("out")) == 12


def test_tiras_checker_accepts_both(platform, full, rerank, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TEAM", "us")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/us")
    platform("tira", "--input", full, "--output", "one")
    platform("tira", "--input", rerank, "--output", "two", "--reranker", "dlh13")
    for out in ("one", "two"):
        is_ok, message = accepted(out)
        assert is_ok, message


def test_an_input_without_topics_is_refused(platform, folder):
    (folder / "in").mkdir()
    (folder / "in" / "documents.jsonl").write_text('{"docno": "d1", "text": "gene"}')
    (folder / "in" / "queries.jsonl").touch()
    refused = platform("tira", "--input", "in", "--output", "out")
    assert (refused.code, refused.err) == (
        2,
        "platform: in/queries.jsonl: there are no topics in this file.\n",
    )
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        (CANDIDATES, (), "rerank.jsonl is there to be reranked: name a --reranker."),
        (
            [{"qid": "q1"}],
            ("--reranker", "dlh13"),
            "rerank.jsonl:1: this line has no 'query' (keys: qid).",
        ),
        ([], ("--reranker", "dlh13"), "there are no candidates in this file."),
        (
            [CANDIDATES[0] | {"score": "high"}],
            ("--reranker", "dlh13"),
            "rerank.jsonl:1: the score 'high' is not a number.",
        ),
        (["x"], ("--reranker", "dlh13"), "rerank.jsonl:1: this line is not a JSON object."),
    ],
)
def test_candidates_that_cannot_be_reranked_are_refused(platform, folder, lines, options, said):
    write(folder / "re" / "rerank.jsonl", lines)
    outcome = platform("tira", "--input", "re", "--output", "out", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert not (folder / "out").exists()


def test_other_folders_are_refused(platform, folder):
    (folder / "none").mkdir()
    outcome = platform("tira", "--input", "none", "--output", "out")
    assert (
        "none: TIRA's input has documents.jsonl and queries.jsonl, or rerank.jsonl" in outcome.err
    )
    write(folder / "re" / "rerank.jsonl", CANDIDATES)
    (folder / "run.txt").write_text("")
    outcome = platform("tira", "--input", "re", "--output", ".", "--reranker", "dlh13")
    assert (outcome.code, "run.txt: there is a file of this name" in outcome.err) == (2, True)
