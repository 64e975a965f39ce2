"""A graph with files that are cut off, missing or something else is told in a line."""

import os
import shutil

import pytest
from concept_data import ARTICLES, KB, Articles

from irplatform.concepts import ConceptGraph, ConceptOptions
from irplatform.concepts.build import build_facts, concept_graph, open_graph
from irplatform.concepts.table import ConceptTable
from irplatform.errors import InputError
from irplatform.knowledge import add

NEVER_READ = {"manifest.json", "timing.json"}


@pytest.fixture
def copy(graph, tmp_path):
    shutil.copytree(graph.folder, tmp_path / "copy")
    return tmp_path / "copy"


def _cut(path):
    os.truncate(path, path.stat().st_size // 2)


def _shorten_by_a_byte(path):
    os.truncate(path, path.stat().st_size - 1)


def _empty(path):
    os.truncate(path, 0)


@pytest.mark.parametrize("damage", [_cut, _shorten_by_a_byte, _empty, os.unlink])
def test_every_file_that_is_cut_off_or_missing_is_named(copy, damage):
    files = [each for each in copy.rglob("*") if each.is_file() and each.name not in NEVER_READ]
    assert len(files) > 30
    for file in files:
        whole = file.read_bytes()
        if not whole:
            continue
        damage(file)
        with pytest.raises(InputError) as raised:
            ConceptGraph(copy)
        told = str(raised.value)
        assert told.startswith((f"{file.with_suffix('')}", f"{copy}: there is no concept graph"))
        assert "\n" not in told
        assert "`platform concepts build`" in told
        file.write_bytes(whole)
    assert ConceptGraph(copy).names_of(1) != []


def test_what_is_wrong_with_a_file_and_what_to_do_is_said(copy):
    os.truncate(copy / "documents.indices.int32", 4)
    with pytest.raises(InputError) as raised:
        ConceptGraph(copy)
    assert str(raised.value) == (
        f"{copy}/documents.indices.int32: this file of a concept graph has 4 bytes, not 28. Delete "
        f"{copy} and run `platform concepts build` again."
    )
    shutil.rmtree(copy / "table")
    with pytest.raises(InputError) as raised:
        ConceptGraph(copy)
    assert str(raised.value).startswith(f"{copy}/table/table.json: this file of a concept graph is")
    assert f"is missing. Delete {copy} and run" in str(raised.value)


@pytest.mark.parametrize("file", ["documents.indptr.int64", "table/names.first.int64"])
def test_offsets_that_came_back_as_zeros_are_told(copy, file):
    (copy / file).write_bytes(bytes((copy / file).stat().st_size))
    with pytest.raises(InputError, match=r"this file of a concept graph ends with 0, not \d"):
        ConceptGraph(copy)


@pytest.mark.parametrize("file", ["graph.json", "table/table.json"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no JSON", "is no JSON."),
        ("\xff", "is no JSON."),
        ("[]", "is no JSON object."),
        ('{"version": %d}', "lacks '(corpus|concepts)'."),
    ],
)
def test_facts_that_are_none_are_told(copy, file, text, told):
    version = {"graph.json": 1, "table/table.json": 5}[file]
    (copy / file).write_text(text.replace("%d", str(version)), encoding="latin-1")
    with pytest.raises(InputError, match=told) as raised:
        ConceptGraph(copy)
    assert raised.value.path == copy / file


def test_a_graph_of_nothing_that_documents_mention_is_whole(fresh_home, tmp_path):
    """Without relations and links, many of its files are empty."""
    (tmp_path / "own.tsv").write_text("id\tname\tkind\nX:1\tmelanoma\tdisease\n")
    add("own", [tmp_path / "own.tsv"])
    graph = open_graph(Articles(ARTICLES[2:]), ConceptOptions(), workers=1)
    assert (graph.facts["links"], len(graph.concepts.indices)) == (0, 0)


def test_in_the_cache_what_is_cut_off_is_made_again(fresh_home, tmp_path, capsys):
    (tmp_path / "own.tsv").write_text(KB)
    add("own", [tmp_path / "own.tsv"])
    made = concept_graph(Articles(), ConceptOptions(), 1)
    os.truncate(made.path / "documents.indices.int32", 4)
    assert concept_graph(Articles(), ConceptOptions(), 1).built
    assert "is made again" in capsys.readouterr().err
    assert open_graph(Articles(), ConceptOptions()).document_count == 4


def test_in_the_cache_a_damaged_file_is_made_again(fresh_home, tmp_path, capsys):
    (tmp_path / "own.tsv").write_text(KB)
    add("own", [tmp_path / "own.tsv"])
    place = concept_graph(Articles(), ConceptOptions(), 1).path
    for name in ("timing.json", "graph.json"):
        (place / name).write_text(" " * (place / name).stat().st_size)
        assert build_facts(Articles(), ConceptOptions(), 1)["documents"] == 4
        assert "is made again" in capsys.readouterr().err


def test_a_damaged_table_alone_is_told(table, tmp_path):
    shutil.copytree(table.folder, tmp_path / "concepts")
    _empty(tmp_path / "concepts" / "names.utf8")
    with pytest.raises(InputError, match=f"Delete {tmp_path}/concepts and run"):
        ConceptTable(tmp_path / "concepts")
