"""MEDLINE 2017 of ir_datasets: whole articles from its files; large downloads are asked for.

In processes of their own: the library settles where its cache lies when it is imported.
"""

import gzip
import json
import os
import subprocess
import sys

import pytest
from pubmed_files import DISEASES, GENES, medline_home, write_tar

pytest.importorskip("ir_datasets")
PROGRAM = """
import json
from irplatform.collections.names import resolve

collection = resolve("trec-pm-2017", {})
corpus = collection.corpus
print(json.dumps({
    "documents": [[d.id, d.title, d.abstract, dict(d.fields)] for d in corpus],
    "fields": corpus.fields,
    "count": corpus.count(),
    "shared": collection.training().corpus.fingerprint == corpus.fingerprint,
    "topics": [[t.query, dict(t.fields)] for t in collection.load_topics()],
    "qrels": collection.load_qrels(),
}))
"""
RUN = ("run", "--reranker", "delta", "--collection", "trec-pm-2017")
TINY = (
    "--set=loop.epochs=2",
    "--set=vectors.dimensions=8",
    "--set=filters=4",
    "--set=vectors.epochs=1",
    "--device=cpu",
    "--threads=1",
)


@pytest.fixture
def python(tmp_path):
    """Runs Python in an empty folder with a cache of ir_datasets in `irds`, without a network."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"))
    environment = {
        **os.environ,
        **dict.fromkeys(proxies, "http://127.0.0.1:9"),
        "IR_DATASETS_HOME": str(tmp_path / "irds"),
        "IRPLATFORM_HOME": str(tmp_path / "home"),
        "IR_DATASETS_DL_TRIES": "1",
    }
    folder = tmp_path / "here"
    folder.mkdir()

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def platform(python):
    """Runs `platform ARGUMENTS…` there."""
    return lambda *arguments: python("-m", "irplatform", *arguments)


def test_articles_are_read_whole_from_the_downloaded_files(tmp_path, python):
    medline_home(tmp_path / "irds")
    result = python("-c", PROGRAM)
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    documents = {doc_id: rest for doc_id, *rest in summary["documents"]}
    assert len(documents) == len(summary["documents"]) == 2 * len(DISEASES) * len(GENES) + 4
    assert documents["1000"] == [
        "BRAF in melanoma.",
        "BACKGROUND: Melanoma with BRAF. RESULTS: therapy of patients in a trial with response and "
        "survival.",
        {"mesh": ["Melanoma", "Humans"], "year": "2016"},
    ]
    assert documents["AACR_2015-1"] == ["Talk 1", "Abstract 1.", {}]
    assert documents["9"][0] == "Second version"
    assert "mesh" in summary["fields"]
    assert summary["count"] is None
    assert summary["shared"]


def test_topics_have_their_parts_by_name(tmp_path, python):
    medline_home(tmp_path / "irds")
    summary = json.loads(python("-c", PROGRAM).stdout)
    query, fields = summary["topics"][0]
    assert query == "Melanoma BRAF (V600E)"
    assert fields == {
        "disease": "Melanoma",
        "gene": "BRAF (V600E)",
        "demographic": "64-year-old male",
        "other": "none",
    }
    assert summary["qrels"]["1"]["1000"] == 2


def test_a_damaged_part_is_named(tmp_path, python):
    home = medline_home(tmp_path / "irds")
    part = home / "medline/2017/part3.tar.gz"
    part.write_bytes(part.read_bytes()[:300])
    result = python("-m", "irplatform", "collections", "check", "trec-pm-2017")
    assert result.returncode == 2
    assert f"platform: {part}: this is not a whole tar archive" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_damaged_file_in_a_part_is_named(tmp_path, python):
    home = medline_home(tmp_path / "irds")
    part = home / "medline/2017/part3.tar.gz"
    write_tar(part, {"n.xml.gz": gzip.compress(b"<PubmedArticleSet>\n<PubmedArticle>")})
    result = python("-m", "irplatform", "collections", "check", "trec-pm-2017")
    assert result.returncode == 2
    assert f"platform: {part}/n.xml.gz:2: this is not well-formed XML" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        RUN,
        ("train", "--reranker", "delta", "--collection", "trec-pm-2017"),
        ("index", "--collection", "trec-pm-2017"),
        ("search", "--collection", "trec-pm-2017", "--query", "melanoma"),
    ],
    ids=lambda command: command[0],
)
def test_gigabytes_are_not_downloaded_without_being_asked_for(tmp_path, platform, command):
    result = platform(*command)
    assert result.returncode == 2
    assert result.stdout == ""
    message, hint = result.stderr.splitlines()
    assert "'trec-pm-2017' needs 10 files that are not here, 22.3 GB in all" in message
    assert "Nothing has been downloaded" in message
    assert (
        f"`platform collections download trec-pm-2017` fetches them to {tmp_path}/irds" in message
    )
    assert "`platform collections build trec-pm-pool-2017`" in hint
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_documents_read_in_a_program_are_refused_in_the_same_way(python):
    program = "from irplatform.collections.names import resolve; "
    result = python("-c", f"{program}next(iter(resolve('trec-pm-2017', {{}}).corpus))")
    last = result.stderr.splitlines()[-1]
    assert "'medline/2017' needs 6 files that are not here, 22.3 GB in all" in last
    assert "`platform collections download medline/2017`" in last


def test_a_download_that_fails_says_how_to_go_on(tmp_path, platform):
    home = medline_home(tmp_path / "irds")  # the large files are here: any disk has room for more
    removed = [*(home / "medline" / "trec-pm-2017").iterdir()]
    for file in removed:
        file.unlink()
    result = platform("collections", "download", "trec-pm-2017")
    assert result.returncode == 1
    assert f"downloading {len(removed)} files, " in result.stderr
    assert f"0 of {len(removed)} files are here; the same command" in result.stderr


def test_what_is_there_is_not_downloaded(tmp_path, platform):
    medline_home(tmp_path / "irds")
    result = platform("collections", "download", "trec-pm-2017")
    assert (result.returncode, result.stdout) == (0, "trec-pm-2017: nothing is missing.\n")


def test_a_collection_from_elsewhere_has_no_downloads(platform):
    result = platform("collections", "download", "demo")
    assert result.returncode == 2
    assert "'demo' is not a collection of ir_datasets: it has no downloads." in result.stderr


@pytest.mark.java
@pytest.mark.slow
def test_the_readmes_command_runs_to_its_table(tmp_path, platform):
    medline_home(tmp_path / "irds")
    result = platform(*RUN, *TINY, "--json")
    assert result.returncode == 0, result.stderr
    first, reranked = json.loads(result.stdout)["runs"]
    assert (first["name"], reranked["name"]) == ("bm25", "delta")
    assert first["measures"]["R@1000"] == 1.0
    assert set(first["measures"]) >= {"nDCG@20", "AP", "P@10", "Rprec", "Judged@20"}
    again = platform(*RUN, *TINY)
    assert again.returncode == 0
    assert "bm25" in again.stdout
    assert "delta" in again.stdout

    # The index has all that is needed: the 22 GB of files may go.
    for path in (tmp_path / "irds/medline/2017").iterdir():
        path.unlink()
    without = platform(*RUN, *TINY)
    assert without.returncode == 0, without.stderr
    assert [line.rsplit(None, 1)[0] for line in without.stdout.splitlines()[2:4]] == [
        line.rsplit(None, 1)[0] for line in again.stdout.splitlines()[2:4]
    ]
