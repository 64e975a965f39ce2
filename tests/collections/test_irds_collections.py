"""Datasets of ir_datasets are read through the library, from files that lie in its cache."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
from typing import NamedTuple

import ir_datasets
import lz4.block
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import (
    BaseDocs,
    BaseQrels,
    BaseQueries,
    BaseScoredDocs,
    GenericDoc,
    GenericQuery,
    GenericScoredDoc,
    TrecQrel,
)
from ir_datasets.formats.trec import TrecSubQrel
from ir_datasets.util import Cache, Download, RequestsDownload

from irplatform import run
from irplatform.collections.irds import exists, open_dataset
from irplatform.collections.irds_corpora import document, layout, topic
from irplatform.collections.irds_downloads import what_would_be_downloaded
from irplatform.data import subtopics_of
from irplatform.errors import InputError, PlatformError


class PmDoc(NamedTuple):
    doc_id: str
    title: str
    abstract: str
    year: int
    mesh: list[str]
    source: bytes


class PmQuery(NamedTuple):
    query_id: str
    disease: str
    gene: str
    demographic: str

    def default_text(self):
        return f"{self.disease} {self.gene} {self.demographic}"


class PageDoc(NamedTuple):
    doc_id: str
    title: str
    parts: tuple[tuple[str, str], ...]

    def default_text(self):
        return f"{self.title} {' '.join(text for _, text in self.parts)}"


def test_a_record_with_title_and_abstract_keeps_the_rest_as_fields():
    record = PmDoc("1", "T", None, 1999, ["A", "B"], b"<html>")
    assert layout(PmDoc).fields == ("year", "mesh")
    found = document(record)
    assert (found.id, found.title, found.abstract) == ("1", "T", "")
    assert found.fields == {"year": "1999", "mesh": ("A", "B")}


def test_a_record_with_nothing_but_text_has_an_abstract():
    found = document(GenericDoc("1", "text"))
    assert (found.title, found.abstract, found.fields) == ("", "text", {})


def test_a_record_without_a_text_gives_its_default_text_less_the_title():
    found = document(PageDoc("1", "Head", (("a", "first"), ("b", "second"))))
    assert (found.title, found.abstract) == ("Head", "first second")


class Image(NamedTuple):
    doc_id: str
    url: str
    png: bytes


def test_a_record_without_any_text_is_an_empty_document():
    found = document(Image("1", "http://example.org", b""))
    assert (found.title, found.abstract, found.fields) == ("", "", {"url": "http://example.org"})


class Section(NamedTuple):
    title: str
    text: str


class FullText(NamedTuple):
    doc_id: str
    title: str
    abstract: str
    body: tuple[Section, ...]


class Trial(NamedTuple):
    doc_id: str
    title: str
    summary: str
    detailed_description: str
    eligibility: str


def test_the_text_of_a_full_text_goes_on_with_its_sections():
    found = document(FullText("1", "T", "short", (Section("Methods", "long"), Section("", "end"))))
    assert (found.title, found.abstract, found.fields) == ("T", "short\nMethods\nlong\nend", {})
    assert document(FullText("1", "T", "short", ())).abstract == "short"


def test_the_text_of_a_trial_has_its_description_and_criteria():
    found = document(Trial("1", "T", "summary", "", "adults"))
    assert (found.abstract, found.fields) == ("summary\nadults", {})
    assert layout(Trial).fields == ()


@pytest.mark.parametrize("dataset_id", ["cord19/fulltext", "pmc/v2", "clinicaltrials/2021"])
def test_full_texts_and_trials_are_searched_whole(dataset_id):
    assert layout(ir_datasets.load(dataset_id).docs_cls()).further


def test_the_body_of_a_page_that_is_bytes_is_no_text():
    assert layout(ir_datasets.load("clueweb12").docs_cls()).further == ()


def test_the_query_of_a_precision_medicine_topic_is_disease_and_gene():
    found = topic(PmQuery("7", "melanoma", "BRAF", "64-year-old male"))
    assert found.query == "melanoma BRAF"
    assert found.fields["demographic"] == "64-year-old male"


def test_the_query_of_another_topic_is_its_default_text():
    assert topic(GenericQuery("1", " two  words ")).query == "two words"


class Docs(BaseDocs):
    def docs_iter(self):
        return iter([GenericDoc("a", "alpha"), GenericDoc("b", "beta")])

    def docs_count(self):
        return 2


class Queries(BaseQueries):
    def __init__(self, query_id):
        self.query_id = query_id

    def queries_iter(self):
        return iter([GenericQuery(self.query_id, "words")])


class Qrels(BaseQrels):
    def __init__(self, query_id):
        self.query_id = query_id

    def qrels_iter(self):
        return iter([TrecQrel(self.query_id, "a", 1, "0")])


@pytest.fixture
def registered(monkeypatch):
    """A dataset with the splits train, dev and test, known under a name of its own."""
    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))
    docs = Docs()
    ir_datasets.registry.register("local", Dataset(docs))
    for split in ("train", "dev", "test"):
        ir_datasets.registry.register(f"local/{split}", Dataset(docs, Queries(split), Qrels(split)))
    return "local"


def test_splits_share_documents_and_train_and_validate_each_other(registered):
    collection = open_dataset("local/test")
    training = collection.training()
    assert training.metadata["ir_datasets id"] == "local/train"
    assert training.validation().metadata["ir_datasets id"] == "local/dev"
    assert training.corpus.fingerprint == collection.corpus.fingerprint
    assert collection.corpus.name == "local"
    assert [(d.id, d.abstract) for d in collection.corpus] == [("a", "alpha"), ("b", "beta")]
    assert collection.corpus.count() == 2
    assert collection.load_qrels() == {"test": {"a": 1}}
    assert [t.id for t in training.load_topics()] == ["train"]


class Scored(BaseScoredDocs):
    def scoreddocs_iter(self):
        return iter([GenericScoredDoc("test", "b", 2.5), GenericScoredDoc("test", "a", 1.5)])


def test_a_dataset_may_bring_candidates_with_scores(registered):
    dataset = Dataset(Docs(), Queries("test"), Qrels("test"), Scored())
    ir_datasets.registry.register("local/scored", dataset)
    assert open_dataset("local/scored").load_scored() == {"test": {"b": 2.5, "a": 1.5}}
    assert open_dataset("local/test").load_scored is None


@pytest.mark.java
@pytest.mark.usefixtures("registered", "fresh_home")
def test_the_candidates_of_a_dataset_are_reranked(tmp_path):
    dataset = Dataset(Docs(), Queries("test"), Qrels("test"), Scored())
    ir_datasets.registry.register("local/scored", dataset)
    found = run(
        "local/scored",
        first_stages="scoreddocs",
        rerankers="bm25-text",
        interpolate=0,
        measures="RR",
        run_dir=tmp_path,
    )
    assert found.first_stage == "scoreddocs"
    assert (tmp_path / "scoreddocs.run").read_text() == (
        "test Q0 b 1 2.5 scoreddocs\ntest Q0 a 2 1.5 scoreddocs\n"
    )
    assert found.final_stage.measures["RR"] == 0.5
    assert found.ceiling["RR"] == 1.0
    assert found.candidates.facts["protocol"] == "scoreddocs"


def test_a_large_download_of_candidates_is_refused_before_anything_is_done(tmp_path, registered):
    class Large(Scored):
        def __init__(self):
            mirror = RequestsDownload("https://example.org/top1000.gz")
            self.source = Download([mirror], tmp_path / "top1000.gz", size_hint=3_000_000_000)

    dataset = Dataset(Docs(), Queries("q"), Qrels("q"), Large())
    ir_datasets.registry.register("large", dataset)
    with pytest.raises(InputError, match=r"collections download large --scoreddocs` fetches them"):
        run("large", first_stages="scoreddocs", run_dir=tmp_path / "runs")


class PassageQrel(NamedTuple):
    query_id: str
    doc_id: str
    start: int
    relevance: int


class PassageQrels(BaseQrels):
    def qrels_iter(self):
        grades = {"a": (0, 2, 1, 0), "b": (-1, 0), "c": (-1,)}
        return iter(PassageQrel("1", d, n, g) for d in grades for n, g in enumerate(grades[d]))


def test_a_document_has_the_grade_of_its_best_passage(registered):
    dataset = Dataset(Docs(), Queries("1"), PassageQrels())
    ir_datasets.registry.register("local/passages", dataset)
    assert open_dataset("local/passages").load_qrels() == {"1": {"a": 2, "b": 0, "c": -1}}


class SubtopicQrels(BaseQrels):
    def qrels_iter(self):
        return iter([TrecSubQrel("1", "a", 0, "x"), TrecSubQrel("1", "a", 1, "y")])


def test_subtopics_are_kept(registered):
    dataset = Dataset(Docs(), Queries("1"), SubtopicQrels())
    ir_datasets.registry.register("local/diversity", dataset)
    qrels = open_dataset("local/diversity").load_qrels()
    assert qrels == {"1": {"a": 1}}
    assert subtopics_of(qrels) == {"1": {"x": {"a": 0}, "y": {"a": 1}}}


class RepeatedDocs(Docs):
    def docs_iter(self):
        return iter([GenericDoc("a", "alpha"), GenericDoc("b", "beta"), GenericDoc("a", "")])

    def docs_count(self):
        return 3


def test_of_several_records_of_a_paper_in_cord19_the_first_one_counts(registered):
    dataset = Dataset(RepeatedDocs(), Queries("1"), Qrels("1"))
    ir_datasets.registry.register("cord19/local", dataset)
    corpus = open_dataset("cord19/local").corpus
    assert [(d.id, d.abstract) for d in corpus] == [("a", "alpha"), ("b", "beta")]
    assert (corpus.count(), corpus.size_hint()) == (None, 3)


def test_dev_is_not_validated_on_itself_and_train_trains_nothing(registered):
    assert open_dataset("local/dev").training().validation is None
    assert open_dataset("local/train").training is None


def test_other_names_of_splits_are_known():
    assert open_dataset("nfcorpus/test/nontopic").training().id == "nfcorpus-train-nontopic"
    assert open_dataset("wikir/en1k/test").training().validation().id == "wikir-en1k-validation"
    assert open_dataset("msmarco-passage/dev/small").training().validation is None


def test_ids_are_known_or_not():
    assert exists("beir/nfcorpus/test")
    assert not exists("beir/nfcorpus/tests")


def test_downloads_are_told_apart_by_part_and_left_out_where_they_are_there(tmp_path, registered):
    url = RequestsDownload("https://example.org/docs.gz")
    docs, dataset_docs = tmp_path / "docs.gz", Docs()
    dataset_docs.source = [Download([url], cache_path=docs, size_hint=5_000_000)]
    queries = Queries("q")
    queries.stream = Cache(
        Download([RequestsDownload("https://example.org/q")]), tmp_path / "queries"
    )
    ir_datasets.registry.register("needy", Dataset(dataset_docs, queries))
    needed = what_would_be_downloaded("needy")
    assert [(d.source, d.size, d.path) for d in needed] == [
        ("https://example.org/docs.gz", 5_000_000, docs),
        ("https://example.org/q", None, None),
    ]
    docs.touch()
    assert [d.source for d in what_would_be_downloaded("needy")] == ["https://example.org/q"]
    (tmp_path / "queries").touch()
    assert what_would_be_downloaded("needy") == []


def test_a_failed_download_is_one_clear_line_after_an_announcement(tmp_path, registered, capsys):
    class Failing(Docs):
        def __init__(self):
            mirror = RequestsDownload("https://example.org/docs.gz")
            self.source = Download([mirror], tmp_path / "docs.gz", size_hint=2_400_000)

        def docs_iter(self):
            raise ConnectionError("Max retries exceeded with url: /docs.gz (Caused by …)")

    ir_datasets.registry.register("failing", Dataset(Failing(), Queries("q")))
    with pytest.raises(PlatformError) as error:
        list(open_dataset("failing").corpus)
    assert str(error.value) == (
        "ir_datasets cannot get the docs of 'failing' (ConnectionError). Run this again with a "
        f"network, or put there by hand: https://example.org/docs.gz (2.4 MB) at "
        f"{tmp_path / 'docs.gz'}."
    )
    assert "downloads 1 file: https://example.org/docs.gz (2.4 MB) to " in capsys.readouterr().err


def _of_zip(path):
    with zipfile.ZipFile(path) as archive:
        yield from archive.namelist()


def _of_gzip(path):
    with gzip.open(path, "rt") as lines:
        yield from list(lines)


def _of_json(path):
    with path.open("rb") as file:
        yield from list(map(json.loads, file))


def _of_lz4(path):
    with path.open("rb") as file:
        yield lz4.block.decompress(file.read())


@pytest.mark.parametrize("part", ["docs", "queries", "qrels"])
@pytest.mark.parametrize(
    ("reader", "content", "reason"),
    [
        (_of_zip, b"<html>not found</html>", "BadZipFile"),
        (_of_gzip, gzip.compress(b"1 two\n" * 999, mtime=0)[:-9], "EOFError"),
        (_of_gzip, b"1 two\n", "BadGzipFile"),
        (_of_json, b'{"a": 1}\n{"a"', "JSONDecodeError"),
        (_of_json, b'{"a": "\xff"}', "UnicodeDecodeError"),
        (_of_lz4, lz4.block.compress(b"words" * 99)[:-5], "LZ4BlockError"),
    ],
)
def test_a_damaged_file_of_the_library_is_explained(
    tmp_path, registered, monkeypatch, part, reader, content, reason
):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    (tmp_path / "source").write_bytes(content)

    class Damaged(Docs, Queries, Qrels):
        def docs_iter(self):
            yield from reader(tmp_path / "source")

        queries_iter = qrels_iter = docs_iter

    damaged = Damaged("q")
    ir_datasets.registry.register("damaged", Dataset(damaged, damaged, damaged))
    held = open_dataset("damaged")
    read = {"docs": lambda: list(held.corpus), "queries": held.load_topics}.get(
        part, held.load_qrels
    )
    with pytest.raises(InputError) as error:
        read()
    assert str(error.value).startswith(
        f"{tmp_path / 'damaged'}: ir_datasets cannot read the {part} of 'damaged' ({reason}: "
    )
    assert "remove the folder and run this again" in str(error.value)


def test_a_fault_of_the_library_is_let_through(registered):
    class Faulty(Docs):
        def docs_iter(self):
            raise KeyError("a fault of the library")

    ir_datasets.registry.register("faulty", Dataset(Faulty(), Queries("q")))
    with pytest.raises(KeyError):
        list(open_dataset("faulty").corpus)


PROGRAM = """
import json
from irplatform.collections.inspection import describe
from irplatform.collections.irds_downloads import what_would_be_downloaded
from irplatform.collections.names import resolve
collection = resolve("beir/nfcorpus/test", {})
facts = describe(collection)
print(json.dumps({
    "documents": [[d.id, d.title, d.abstract, dict(d.fields)] for d in collection.corpus],
    "topics": [[t.id, t.query] for t in collection.load_topics()],
    "qrels": collection.load_qrels(),
    "training": [t.id for t in collection.training().load_topics()],
    "validation": [t.id for t in collection.training().validation().load_topics()],
    "facts": facts,
    "left": len(what_would_be_downloaded("beir/nfcorpus/test")),
}))
"""


@pytest.fixture
def nfcorpus_home(tmp_path):
    """A cache of ir_datasets that holds a tiny nfcorpus.zip, as it would lie there downloaded."""
    path = tmp_path / "irds" / "beir/nfcorpus/source.zip"
    path.parent.mkdir(parents=True)
    metadata = {"url": "http://example.org"}
    documents = [
        {"_id": f"MED-{i}", "title": f"Title {i}", "text": f"Text {i}", "metadata": metadata}
        for i in range(3)
    ]
    queries = [{"_id": f"PLAIN-{i}", "text": f"query {i}", "metadata": metadata} for i in range(3)]
    with zipfile.ZipFile(path, "w") as archive:
        for name, records in (("corpus", documents), ("queries", queries)):
            lines = "".join(json.dumps(record) + "\n" for record in records)
            archive.writestr(f"nfcorpus/{name}.jsonl", lines)
        for i, split in enumerate(("train", "dev", "test")):
            rows = f"query-id\tcorpus-id\tscore\nPLAIN-{i}\tMED-{i}\t{i}\n"
            archive.writestr(f"nfcorpus/qrels/{split}.tsv", rows)
    return tmp_path / "irds"


def test_a_dataset_whose_download_is_there_is_read_without_a_network(nfcorpus_home):
    # In a process of its own: the library settles where its cache lies when it is imported.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "IR_DATASETS_HOME": str(nfcorpus_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "downloads" not in done.stderr
    found = json.loads(done.stdout)
    assert found["documents"][1] == ["MED-1", "Title 1", "Text 1", {"url": "http://example.org"}]
    assert found["topics"] == [["PLAIN-2", "query 2"]]
    assert found["qrels"] == {"PLAIN-2": {"MED-2": 2}}
    assert found["training"] == ["PLAIN-0"]
    assert found["validation"] == ["PLAIN-1"]
    assert found["left"] == 0
    assert found["facts"]["downloads"] == []
    assert found["facts"]["judgments"]["per_grade"] == {"2": 1}


def test_what_is_not_there_is_described_without_being_downloaded(tmp_path):
    program = (
        "import json; from irplatform.collections.inspection import describe\n"
        "from irplatform.collections.irds import open_dataset\n"
        "print(json.dumps(describe(open_dataset('beir/nfcorpus/test'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "IR_DATASETS_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    facts = json.loads(done.stdout)
    (download,) = facts["downloads"]
    assert download["source"].endswith("/nfcorpus.zip")
    assert download["bytes"] == 2448432
    assert facts["documents"] == 3633
    assert "topics" not in facts


def test_the_parts_of_a_topic_are_flat_and_not_empty():
    found = topic(PmQuery("7", "\n  melanoma\n  (skin) ", "BRAF", " "))
    assert found.fields == {"disease": "melanoma (skin)", "gene": "BRAF"}
