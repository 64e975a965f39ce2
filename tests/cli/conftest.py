"""A user's folder with a small collection, and `platform` to call there."""

import json

import pytest
from commands import call
from strangers import platform_with

CORPUS = [
    {"_id": "d1", "title": "Crizotinib in lung cancer", "text": "ALK."},
    {"_id": "d2", "title": "Liposarcoma", "text": "A case."},
    {"_id": "d3", "title": "Mice", "text": "Nothing."},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder: `small` is a collection, `good.run` a run of it."""
    place = tmp_path / "here"
    (place / "small" / "qrels").mkdir(parents=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    lines = "".join(json.dumps(document) + "\n" for document in CORPUS)
    (place / "small" / "corpus.jsonl").write_text(lines)
    queries = [{"_id": "q1", "text": "crizotinib"}, {"_id": "q2", "text": "mice"}]
    (place / "small" / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    (place / "small" / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td3\t2\n"
    )
    (place / "good.run").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\nq2 Q0 d2 1 1.0 x\n")
    return place


@pytest.fixture
def platform(folder, capsys, monkeypatch):
    """Call the command line."""
    return lambda *arguments: call(capsys, monkeypatch, *arguments)


@pytest.fixture
def drugs(folder, platform):
    """The knowledge base `own`."""
    (folder / "own.tsv").write_text("id\tname\tkind\tsynonyms\nDRUG:c\tXalkori\tdrug\tcrizotinib\n")
    assert platform("kb", "add", "own", "own.tsv").code == 0


@pytest.fixture
def parted(folder):
    """The collection `small` with topics in parts, of which the default plan was chosen on one."""
    parts = [{"disease": "melanoma", "gene": "BRAF (V600E)"}, {"disease": "mice", "gene": "ALK"}]
    queries = [
        {"_id": f"q{number}", "text": "mice", "metadata": part}
        for number, part in enumerate(parts, start=1)
    ]
    (folder / "small" / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    return folder


@pytest.fixture
def with_plugin(folder, tmp_path):
    """Call `platform` in a process of its own where a plugin with this code is installed."""

    def call(code, *arguments):
        return platform_with(code, tmp_path, *arguments, cwd=folder)

    return call


@pytest.fixture
def demo_index(folder, cache_of_module, monkeypatch):
    """The file's cache, in which `demo` is indexed once; the folder has one of its own."""
    monkeypatch.setenv("IRPLATFORM_HOME", str(cache_of_module))
