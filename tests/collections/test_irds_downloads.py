"""Files of ir_datasets: downloads that are missing, in place, failed or damaged."""

import errno
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from contextlib import contextmanager

import ir_datasets
import lz4.block
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.util import Cache, Download, RequestsDownload
from irds_parts import Docs, Qrels, Queries, Scored

from irplatform import run
from irplatform.collections.irds import open_dataset
from irplatform.collections.irds_downloads import fetch, what_would_be_downloaded
from irplatform.errors import InputError, PlatformError
from irplatform.system import console


def test_a_large_download_of_candidates_is_refused_before_anything_is_done(tmp_path, registered):
    class Large(Scored):
        def __init__(self):
            mirror = RequestsDownload("https://example.org/top1000.gz")
            self.source = Download([mirror], tmp_path / "top1000.gz", size_hint=3_000_000_000)

    dataset = Dataset(Docs(), Queries("q"), Qrels("q"), Large())
    ir_datasets.registry.register("large", dataset)
    with pytest.raises(InputError, match=r"collections download large --scoreddocs` fetches them"):
        run("large", first_stages="scoreddocs", run_dir=tmp_path / "runs")


class Served:
    """A source of a file."""

    url = "https://example.org/docs.gz"

    def __init__(self, content):
        self.content = content

    @contextmanager
    def stream(self):
        assert os.environ["IR_DATASETS_DL_DISABLE_PBAR"] == "true"
        yield io.BytesIO(self.content)


def test_a_download_says_how_much_of_which_file_is_here(tmp_path, registered, capsys, monkeypatch):
    monkeypatch.setattr(console, "_LINE_INTERVAL", 0)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    content = bytes(300 << 10)
    digest = hashlib.md5(content).hexdigest()
    dataset_docs, queries = Docs(), Queries("q")
    for number, part in enumerate((dataset_docs, queries)):
        mirror = Served(content)
        mirror.url += f"?part={number}"
        place = tmp_path / f"{number}.gz"
        part.source = Download([mirror], place, digest, size_hint=len(content))
    ir_datasets.registry.register("served", Dataset(dataset_docs, queries))
    assert fetch(["served"]) == 2
    progress = capsys.readouterr().err
    assert "file 1 of 2, fetching docs.gz?part=0: 64 of 300 kB after" in progress
    assert "file 2 of 2, fetching docs.gz?part=1: 300 of 300 kB after" in progress
    assert (tmp_path / "1.gz").read_bytes() == content
    assert "IR_DATASETS_DL_DISABLE_PBAR" not in os.environ


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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_no_download_is_no_missing_network(tmp_path, registered, number):
    refused = OSError(number, os.strerror(number), str(tmp_path / "docs.gz"))

    class Full(Docs):
        def __init__(self):
            mirror = RequestsDownload("https://example.org/docs.gz")
            self.source = Download([mirror], tmp_path / "docs.gz", size_hint=2_400_000)

        def docs_iter(self):
            raise RuntimeError("All download sources failed", [("a mirror", refused)])

    ir_datasets.registry.register("full", Dataset(Full(), Queries("q")))
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        list(open_dataset("full").corpus)
    assert caught.value is refused


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
    collection = open_dataset("damaged")
    read = {"docs": lambda: list(collection.corpus), "queries": collection.load_topics}.get(
        part, collection.load_qrels
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
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "IR_DATASETS_HOME": str(nfcorpus_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "downloads" not in result.stderr
    summary = json.loads(result.stdout)
    assert summary["documents"][1] == ["MED-1", "Title 1", "Text 1", {"url": "http://example.org"}]
    assert summary["topics"] == [["PLAIN-2", "query 2"]]
    assert summary["qrels"] == {"PLAIN-2": {"MED-2": 2}}
    assert summary["training"] == ["PLAIN-0"]
    assert summary["validation"] == ["PLAIN-1"]
    assert summary["left"] == 0
    assert summary["facts"]["downloads"] == []
    assert summary["facts"]["judgments"]["per_grade"] == {"2": 1}


def test_what_is_not_there_is_described_without_being_downloaded(tmp_path):
    program = (
        "import json; from irplatform.collections.inspection import describe\n"
        "from irplatform.collections.irds import open_dataset\n"
        "print(json.dumps(describe(open_dataset('beir/nfcorpus/test'))))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "IR_DATASETS_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    facts = json.loads(result.stdout)
    (download,) = facts["downloads"]
    assert download["source"].endswith("/nfcorpus.zip")
    assert download["bytes"] == 2448432
    assert facts["documents"] == 3633
    assert "topics" not in facts
