"""What is written in BEIR layout: these bytes, and nothing that was not asked for."""

import gzip

import pytest

from irplatform.collections.beir import (
    BeirWriter,
    corpus_writer,
    open_beir,
    qrels_path,
    write_measures,
)
from irplatform.evaluation.qrels import read_qrels
from irplatform.plugin import Document

DOCUMENTS = [
    Document("d1", "A title", "An “abstract”", {"year": "2001", "mesh": ("Humans", "Mice")}),
    Document("d2", "", "No title"),
]


def write(folder):
    with BeirWriter(folder) as files:
        files.query("q1", "first", {"mesh": ("Humans",), "year": "2001"})
        files.judge("train", "q1", {"d1": 2, "d2": 0})
        files.query("q2", "zwölf")
        files.judge("test", "q2", {"d2": 1})
        files.qrels("test").write(b"q1\td1\t1\n")
    return folder


def test_queries_and_judgments_are_written_in_the_order_they_come(tmp_path):
    folder = write(tmp_path / "new" / "folder")
    assert (folder / "queries.jsonl").read_bytes() == (
        '{"_id":"q1","text":"first","metadata":{"mesh":["Humans"],"year":"2001"}}\n'
        '{"_id":"q2","text":"zwölf"}\n'
    ).encode()
    header = b"query-id\tcorpus-id\tscore\n"
    assert qrels_path(folder, "train").read_bytes() == header + b"q1\td1\t2\nq1\td2\t0\n"
    assert qrels_path(folder, "test").read_bytes() == header + b"q2\td2\t1\nq1\td1\t1\n"
    assert {p.name for p in (folder / "qrels").iterdir()} == {"train.tsv", "test.tsv"}


def test_levels_are_written_below_their_own_header_and_read_back(tmp_path):
    judged = {"q1": {"d1": 5.5, "d2": 0.0}, "q2": {"d1": 100.0}}
    with BeirWriter(tmp_path) as files:
        for query, levels in judged.items():
            files.judge("test", query, levels)
    path = qrels_path(tmp_path, "test")
    assert path.read_text().splitlines()[:2] == ["query-id\tcorpus-id\tlevel", "q1\td1\t5.5"]
    assert read_qrels(path) == judged


def test_metadata_are_left_out_where_there_are_none_but_not_where_they_are_empty(tmp_path):
    with BeirWriter(tmp_path) as files:
        files.query("q1", "one", {})
        files.query("q2", "two")
    lines = (tmp_path / "queries.jsonl").read_bytes().splitlines()
    assert lines == [b'{"_id":"q1","text":"one","metadata":{}}', b'{"_id":"q2","text":"two"}']


def test_files_are_closed_where_the_block_fails(tmp_path):
    with pytest.raises(KeyboardInterrupt), BeirWriter(tmp_path) as files:
        qrels = files.qrels("test")
        raise KeyboardInterrupt
    assert qrels.closed
    with pytest.raises(ValueError, match="closed"):
        files.query("q1", "one")


def test_documents_come_with_their_fields_or_without(tmp_path):
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
        with corpus_writer(tmp_path / name, fields=name == "with") as add:
            for document in DOCUMENTS:
                add(document)
    first = '{"_id":"d1","title":"A title","text":"An “abstract”"'
    assert (
        gzip.decompress((tmp_path / "with" / "corpus.jsonl.gz").read_bytes())
        == (
            f'{first},"metadata":{{"year":"2001","mesh":["Humans","Mice"]}}}}\n'
            '{"_id":"d2","title":"","text":"No title","metadata":{}}\n'
        ).encode()
    )
    assert (
        gzip.decompress((tmp_path / "without" / "corpus.jsonl.gz").read_bytes())
        == (f'{first}}}\n{{"_id":"d2","title":"","text":"No title"}}\n').encode()
    )


def test_what_was_written_is_a_collection(tmp_path):
    folder = write(tmp_path / "mine")
    write_measures(folder, ["AP", "P@5"])
    with corpus_writer(folder) as add:
        for document in DOCUMENTS:
            add(document)
    assert (folder / "measures.txt").read_bytes() == b"AP\nP@5\n"
    collection = open_beir(folder)
    assert collection.load_qrels() == {"q2": {"d2": 1}, "q1": {"d1": 1}}
    assert {t.id: t.query for t in collection.load_topics()} == {"q1": "first", "q2": "zwölf"}
    assert list(collection.corpus) == DOCUMENTS
    assert collection.measures == ("AP", "P@5")
    assert [t.id for t in collection.training().load_topics()] == ["q1"]
