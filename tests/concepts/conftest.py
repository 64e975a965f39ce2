"""Concept graphs of small articles, and `platform concepts` to call on them."""

import json

import pytest
from commands import call
from concept_data import ARTICLES, KB, SECOND_KB, Articles

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import concept_table, open_graph
from irplatform.concepts.table import ConceptTable
from irplatform.knowledge import add


@pytest.fixture(scope="module")
def kb_home(cache_of_module, tmp_path_factory):
    """The file's cache, with two small knowledge bases."""
    place = tmp_path_factory.mktemp("concepts")
    for name, text in (("own", KB), ("second", SECOND_KB)):
        (place / f"{name}.tsv").write_text(text)
        add(name, [place / f"{name}.tsv"])
    return cache_of_module


@pytest.fixture(scope="module")
def table(kb_home):
    return ConceptTable(concept_table(("own", "second")))


@pytest.fixture(scope="module")
def corpus():
    return Articles()


@pytest.fixture(scope="module")
def graph(kb_home, corpus):
    return open_graph(corpus, ConceptOptions(), workers=1)


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """The working folder: `small` is a collection, `own` and `second` are knowledge bases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    for name, text in (("own", KB), ("second", SECOND_KB)):
        (tmp_path / f"{name}.tsv").write_text(text)
        add(name, [tmp_path / f"{name}.tsv"])
    place = tmp_path / "small"
    (place / "qrels").mkdir(parents=True)
    lines = [json.dumps({"_id": i, "title": t, "text": a}) for i, t, a in ARTICLES]
    (place / "corpus.jsonl").write_text("\n".join(lines))
    (place / "queries.jsonl").write_text('{"_id": "q1", "text": "melanoma"}\n')
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    return tmp_path


@pytest.fixture
def concepts(workspace, capsys, monkeypatch):
    """Call `platform concepts` on the collection."""

    def concepts(command, *arguments):
        options = ("--collection", "small", *arguments)
        return call(capsys, monkeypatch, "concepts", command, *options)

    return concepts
