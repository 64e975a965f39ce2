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
    asked = ("search", "--collection", "small", "--query")
    for columns, most in ((80, 80), (50, 60), (10, 60)):
        monkeypatch.setenv("COLUMNS", str(columns))
        (_, hit) = platform(*asked, "crizotinib").out.splitlines()
        assert "d1  Crizotinib in ALK-positive" in hit
        assert hit.endswith(" …")
        assert len(hit) <= most
    (hit,) = platform(*asked, "crizotinib", "--json").json["hits"]
    assert (hit["title"], hit["abstract"]) == ("", TEXT)
    assert platform(*asked, "mice").out.splitlines()[1].endswith("d2  Mice")


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
        done = platform(*command)
        assert done.code == 2, command  # for another reason: there is nothing to make them of
        assert "split" not in done.err, command
        assert "unknown command" not in done.err, command


def test_documents_of_a_reference_need_no_split(platform, unsplit, folder):
    (folder / "judged" / "qrels").mkdir(parents=True)
    (folder / "judged" / "corpus.toml").write_text('collection = "../small"\n')
    (folder / "judged" / "queries.jsonl").write_text('{"_id": "q1", "text": "mice"}\n')
    qrels = "query-id\tcorpus-id\tscore\nq1\td2\t1\n"
    (folder / "judged" / "qrels" / "test.tsv").write_text(qrels)
    shown = platform("collections", "show", "judged")
    assert shown.code == 0, shown.err
    assert "\ntraining " in shown.out
    assert "no partner: rerankers that learn are cross-validated, or need --train-on" in shown.out
