"""Indexes that Anserini built: their stored documents, and runs over them."""

import json

import pytest
from commands import call

from irplatform import run
from irplatform.errors import InputError
from irplatform.lucene.java import anserini_program
from irplatform.lucene.stored import from_stored
from irplatform.registry.loading import registry
from irplatform.retrieval.indexed import IndexedCorpus, in_index

DOCUMENTS = {
    "d1": ("Crizotinib in lung cancer", "ALK inhibitors."),
    "d2": ("Liposarcoma", "A case of lung metastasis."),
    "d3": ("Mice", "Nothing about cancer."),
}


@pytest.mark.parametrize(
    ("record", "title", "text", "fields"),
    [
        ({"id": "1", "contents": "words"}, "", "words", {}),
        ({"_id": "1", "title": "T", "text": "body"}, "T", "body", {}),
        ({"id": "1", "title": "T", "contents": "T\nbody"}, "T", "body", {}),
        ({"id": "1", "title": "T", "abstract": "A", "contents": "T A"}, "T", "A", {}),
        (
            {"id": "1", "title": "T", "abstract": "A", "fields": {"mesh": ["a", "b"]}},
            *("T", "A", {"mesh": ("a", "b")}),
        ),
        (
            {"id": "1", "text": "x", "url": "u", "n": 3, "keys": ["k"]},
            *("", "x", {"url": "u", "keys": ("k",)}),
        ),
    ],
)
def test_a_record_in_json_becomes_a_document(record, title, text, fields):
    document = from_stored("1", json.dumps(record))
    assert (document.id, document.title, document.abstract, dict(document.fields)) == (
        "1",
        title,
        text,
        fields,
    )


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ("plain words", "plain words"),
        ("<DOC>\n<TITLE>A</TITLE> b &lt; c</DOC>", "A b &lt; c"),
        ("a < b", "a < b"),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_any_other_record_is_text(record, text):
    assert from_stored("1", record).text == text


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Index three documents as Anserini does, with some of its options; the folder."""
    source = tmp_path_factory.mktemp("source")
    with (source / "docs.jsonl").open("w") as file:
        for doc_id, (title, text) in DOCUMENTS.items():
            record = {"id": doc_id, "contents": f"{title} {text}"}
            file.write(json.dumps(record) + "\n")

    def make(*options):
        folder = tmp_path_factory.mktemp("index") / "theirs"
        arguments = ["-collection", "JsonCollection", "-input", str(source), "-index", str(folder)]
        anserini_program("io.anserini.index.IndexCollection").main(
            [*arguments, "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", *options]
        )
        return folder

    return make


@pytest.fixture(scope="module")
def raw(build):
    return build("-storeRaw")


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    (tmp_path / "small" / "qrels").mkdir(parents=True)
    with (tmp_path / "small" / "corpus.jsonl").open("w") as file:
        for doc_id, (title, text) in DOCUMENTS.items():
            file.write(json.dumps({"_id": doc_id, "title": title, "text": text}) + "\n")
    queries = [{"_id": "q1", "text": "lung cancer"}, {"_id": "q2", "text": "mice"}]
    (tmp_path / "small" / "queries.jsonl").write_text(
        "".join(json.dumps(q) + "\n" for q in queries)
    )
    (tmp_path / "small" / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td3\t2\n"
    )
    return tmp_path


@pytest.mark.java
@pytest.mark.parametrize("option", ["-storeRaw", "-storeContents"])
def test_an_existing_index_takes_the_place_of_the_documents(build, small, option):
    folder = build(option)
    options = {"rerankers": "bm25-text", "interpolate": 0, "measures": ["AP"]}
    run("small", run_dir="ours", **options)
    report = run("small", index=folder, run_dir="theirs", **options)
    for name in ("bm25.run", "bm25-text.run"):
        first, second = ((small / place / name).read_text() for place in ("ours", "theirs"))
        assert first == second
    metadata = json.loads((small / "theirs" / "bm25.run.meta.json").read_text())
    assert metadata["implementation"]["call"]["settings"]["index"] == str(folder)
    assert (
        metadata["data"]["test collection"]["documents"] == IndexedCorpus(folder, None).fingerprint
    )
    assert report.final_stage.measures["AP"] == pytest.approx((1 / 3 + 1) / 2)


@pytest.mark.java
def test_the_documents_of_an_index_are_a_corpus(raw, small):
    collection = registry().collection("small")
    indexed = in_index(collection, raw)
    assert [document.id for document in indexed.corpus] == [*DOCUMENTS]
    assert indexed.corpus.count() == 3
    assert indexed.corpus.name == "theirs"
    assert collection.corpus.same_documents(indexed.corpus)
    assert indexed.corpus.fingerprint != collection.corpus.fingerprint


@pytest.mark.java
@pytest.mark.parametrize(
    ("options", "message"),
    [((), "does not store its documents, which rerankers read"), (None, "no Lucene index in this")],
)
def test_an_index_without_documents_is_refused_in_a_line(
    build, small, capsys, monkeypatch, options, message
):
    folder = small if options is None else build(*options)
    result = call(capsys, monkeypatch, "run", "--collection", "small", "--index", folder)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert message in result.err
    assert not (small / "runs").exists()


@pytest.mark.java
def test_feedback_needs_the_words_of_documents(build, small):
    with pytest.raises(InputError, match="rm3 reads the words of documents"):
        run("small", first_stages="rm3", index=build("-storeContents"))
    assert run("small", first_stages="rm3", index=build("-storeRaw")).systems[0].name == "rm3"
