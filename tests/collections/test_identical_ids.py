"""Topics that are documents of their collection: told, and left out on request."""

import json

import pytest

import irplatform as ir
from irplatform.collections.beir import open_beir
from irplatform.collections.derived import joined
from irplatform.collections.identical_ids import (
    ignoring_identical_ids,
    is_document,
    notice_of_documents,
)
from irplatform.collections.inspection import check
from irplatform.collections.toml import open_toml
from irplatform.data import Document, Topic
from irplatform.experiment.calls import describe_data
from irplatform.runs import Ranking, Run

TEXTS = {
    "n1": "Statins lower the risk of stroke.",
    "n2": "No: they raise it.",
    "n3": "Sleep helps memory, as trials show.",
}
QUERIES = {"n1": "statins lower the risk  of stroke", "n3": TEXTS["n3"]}


@pytest.fixture
def folder(tmp_path):
    def lines(texts):
        return "".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in texts.items())

    path = tmp_path / "debate"
    (path / "qrels").mkdir(parents=True)
    (path / "corpus.jsonl").write_text(lines(TEXTS))
    (path / "queries.jsonl").write_text(lines(QUERIES))
    judged = "query-id\tcorpus-id\tscore\nn1\tn2\t1\nn3\tn2\t1\n"
    (path / "qrels" / "test.tsv").write_text(judged)
    (path / "qrels" / "train.tsv").write_text(judged)
    return path


def run_of(topics):
    return Run("own", {t: Ranking.of([t, "n2"], [2.0, 1.0]) for t in topics})


def test_a_topic_is_a_document_by_its_words_not_by_case_or_marks():
    topic = Topic("7", "Statins, in trials")
    assert is_document(topic, Document("7", "", "statins in  TRIALS."))
    assert is_document(topic, Document("7", "Statins", "in trials"))
    assert not is_document(topic, Document("7", "", "Statins in trials of 2012"))
    assert not is_document(Topic("7", "?"), Document("7", "", "!"))


def test_a_collection_that_leaves_them_out_says_so_to_every_topic_also_in_training(folder):
    usual = open_beir(folder)
    assert {topic.left_out for topic in usual.topics} == {()}
    ignoring = ignoring_identical_ids(usual)
    assert [topic.left_out for topic in ignoring.topics] == [("n1",), ("n3",)]
    assert [topic.left_out for topic in ignoring.training().topics] == [("n1",), ("n3",)]
    assert ignoring_identical_ids(ignoring) is ignoring


def test_topics_of_joined_collections_keep_the_ids_that_they_leave_out(folder):
    ignoring = ignoring_identical_ids(open_beir(folder))
    union = joined([ignoring, open_beir(folder, "train")])
    assert union.ignore_identical_ids
    assert {t.id: t.left_out for t in union.topics}["debate-test:n1"] == ("n1",)


def test_only_fingerprints_of_collections_with_the_setting_change(folder):
    usual = open_beir(folder)
    assert len(usual.topics[0].describe()) == 3
    ignoring = ignoring_identical_ids(usual)
    before, after = describe_data(usual, None), describe_data(ignoring, None)
    assert {k for k in before if before[k] != after[k]} == {"topics"}


def test_a_collection_file_has_the_setting(folder):
    path = folder.parent / "c.toml"
    path.write_text(
        'id = "c"\n[documents]\nfiles = ["debate/corpus.jsonl"]\nid = "_id"\nabstract = "text"\n'
        '[topics]\nfile = "debate/queries.jsonl"\nformat = "beir"\nignore_identical_ids = true\n'
    )
    assert [topic.left_out for topic in open_toml(path, open_beir).topics] == [("n1",), ("n3",)]


def test_a_run_that_finds_them_is_told(folder):
    collection = open_beir(folder)
    notice = notice_of_documents(run_of(QUERIES), collection)
    assert notice.startswith(
        "2 topics of own found the document with its own id and words: ignore_identical_ids=True "
    )
    assert notice_of_documents(run_of(QUERIES), ignoring_identical_ids(collection)) == ""


def test_equal_ids_with_other_words_mean_nothing(folder):
    (folder / "queries.jsonl").write_text(
        '{"_id": "n1", "text": "stroke"}\n{"_id": "n3", "text": "memory"}\n'
    )
    collection = open_beir(folder)
    assert notice_of_documents(run_of(QUERIES), collection) == ""
    assert not [f for f in check(collection) if f.kind == "topics that are documents"]


def test_the_check_of_a_collection_finds_them(folder):
    collection = open_beir(folder)
    (finding,) = [f for f in check(collection) if f.kind == "topics that are documents"]
    assert (finding.count, finding.examples, finding.serious) == (2, ("n1", "n3"), False)
    assert finding.message.startswith("2 of 2 topics have the id and words of a document")
    kinds = {finding.kind for finding in check(ignoring_identical_ids(collection))}
    assert "topics that are documents" not in kinds


def test_runs_are_scored_without_them(folder, capsys):
    runs = {"own": run_of(QUERIES)}
    for source in ({"collection": folder}, {"qrels": folder / "qrels" / "test.tsv"}):
        usual = ir.evaluate(runs, measures="RR", **source)["own"]
        assert usual.aggregate == {"RR": 0.5}
        notice = "found the document with its own id" in capsys.readouterr().err
        assert notice == ("collection" in source)
        without = ir.evaluate(runs, measures="RR", ignore_identical_ids=True, **source)["own"]
        assert without.aggregate == {"RR": 1.0}
        assert not capsys.readouterr().err


@pytest.mark.parametrize("name", ["beir/arguana", "beir/quora/test", "beir/quora/dev"])
def test_datasets_whose_topics_are_documents_leave_them_out(name, monkeypatch):
    irds = pytest.importorskip("irplatform.collections.irds")
    pytest.importorskip("ir_datasets")
    monkeypatch.setattr(irds, "_topics", lambda name: [Topic("q", "words")])
    assert irds.open_dataset(name).topics[0].left_out == ("q",)
    assert irds.open_dataset("beir/nfcorpus/test").topics[0].left_out == ()
