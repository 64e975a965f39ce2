"""Commands that need documents alone: no split is asked for, and hits can be recognized."""

import json

import pytest

TEXT = "Crizotinib in ALK-positive lung cancer " + "and what became of the patients " * 20


@pytest.fixture
def unsplit(folder):
    """A folder of splits none of which is `test`, whose documents have no titles."""
    (folder / "small" / "qrels" / "test.tsv").rename(folder / "small" / "qrels" / "dev.tsv")
    documents = [{"_id": "d1", "text": TEXT}, {"_id": "d2", "title": "Mice", "text": "x"}]
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    (folder / "small" / "corpus.jsonl").write_text(lines + '{"_id": "d3", "text": ""}\n')


@pytest.mark.java
def test_a_hit_without_a_title_shows_the_beginning_of_its_text(platform, unsplit, monkeypatch):
    command = ("search", "--collection", "small", "--query")
    for columns, most in ((80, 80), (50, 60), (10, 60)):
        monkeypatch.setenv("COLUMNS", str(columns))
        (_, hit) = platform(*command, "crizotinib").out.splitlines()
        assert "d1  Crizotinib in ALK-positive" in hit
        assert hit.endswith(" …")
        assert len(hit) <= most
    (hit,) = platform(*command, "crizotinib", "--json").json["hits"]
    assert (hit["title"], hit["abstract"]) == ("", TEXT)
    assert platform(*command, "mice").out.splitlines()[1].endswith("d2  Mice")


@pytest.mark.java
def test_no_split_is_asked_for(platform, unsplit, folder):
    assert platform("index", "--collection", "small").code == 0
    assert platform("search", "--collection", "small", "--query", "mice").code == 0
    refused = platform("search", "--collection", "small", "--topic", "q1")
    assert (refused.code, "there is no split 'test'" in refused.err) == (2, True)
    log = ["query\tuser", "x\ty"]
    (folder / "log.tsv").write_text("\n".join(log))
    (folder / "a.xml").write_text("<article/>")
    for command in (
        ("qrels", "from-citations", "a.xml", "--collection", "small", "--out", "o"),
        ("qrels", "from-clicks", "log.tsv", "--collection", "small", "--out", "o"),
        ("collections", "build", "mesh-queries", "--from", "small", "--out", "o"),
        ("concepts", "build", "--collection", "small"),
    ):
        outcome = platform(*command)
        assert outcome.code == 2, command  # for another reason: there is nothing to make them of
        assert "split" not in outcome.err, command
        assert "unknown command" not in outcome.err, command


def test_documents_of_a_reference_need_no_split(platform, unsplit, folder):
    (folder / "judged" / "qrels").mkdir(parents=True)
    (folder / "judged" / "corpus.toml").write_text('collection = "../small"\n')
    (folder / "judged" / "queries.jsonl").write_text('{"_id": "q1", "text": "mice"}\n')
    qrels = "query-id\tcorpus-id\tscore\nq1\td2\t1\n"
    (folder / "judged" / "qrels" / "test.tsv").write_text(qrels)
    outcome = platform("collections", "show", "judged")
    assert outcome.code == 0, outcome.err
    assert "\ntraining " in outcome.out
    assert "no partner: rerankers that learn are cross-validated, or need --train-on" in outcome.out


@pytest.fixture
def corpus_alone(folder):
    """A folder without topics and judgments."""
    (folder / "alone").mkdir()
    (folder / "small" / "corpus.jsonl").rename(folder / "alone" / "corpus.jsonl")


@pytest.mark.java
@pytest.mark.usefixtures("corpus_alone", "drugs")
def test_a_corpus_without_topics_is_searched_and_linked(platform):
    assert platform("index", "--collection", "alone").code == 0
    answer = platform("search", "--collection", "alone", "--query", "mice", "--json").json
    assert [hit["id"] for hit in answer["hits"]] == ["d3"]
    assert platform("concepts", "build", "--collection", "alone").code == 0
    facts = platform("collections", "show", "alone", "--json").json
    assert (facts["id"], facts["topics"], facts["judgments"]) == ("alone", 0, None)
    assert facts["example_document"]["id"] == "d1"
    checked = platform("collections", "check", "alone")
    assert checked.code == 0
    assert "there are no topics: nothing can be run, only searched" in checked.out


@pytest.mark.usefixtures("corpus_alone")
@pytest.mark.parametrize(
    "command",
    [
        ("run", "--collection", "alone"),
        ("run", "--collection", "alone", "--first-stage", "judged", "--reranker", "bm25-text"),
        ("search", "--collection", "alone", "--topic", "q1"),
        ("submit", "check", "good.run", "--collection", "alone"),
    ],
)
def test_what_needs_topics_says_where_it_looked(platform, folder, command):
    refused = platform(*command)
    assert (refused.code, refused.err) == (
        2,
        "platform: alone: there are no topics here: neither queries.jsonl nor queries.jsonl.gz. "
        "Documents alone can be searched with `platform search --query`.\n",
    )
    assert not (folder / "runs").exists()


@pytest.mark.usefixtures("corpus_alone")
def test_judgments_without_topics_do_not_make_a_run(platform, folder):
    (folder / "small" / "queries.jsonl").unlink()
    (folder / "small" / "qrels").rename(folder / "alone" / "qrels")
    assert "there are no topics here" in platform("run", "--collection", "alone").err
    assert platform("evaluate", "--collection", "alone", "good.run").code == 0
