"""A graph in the cache with files that are cut off or damaged is made again."""

import os

from concept_data import ARTICLES, KB, Articles

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import build_facts, concept_graph, open_graph
from irplatform.knowledge import add


def test_a_graph_of_nothing_that_documents_mention_is_whole(fresh_home, tmp_path):
    """Without relations and links, many of its files are empty."""
    (tmp_path / "own.tsv").write_text("id\tname\tkind\nX:1\tmelanoma\tdisease\n")
    add("own", [tmp_path / "own.tsv"])
    graph = open_graph(Articles(ARTICLES[2:]), ConceptOptions(), workers=1)
    assert (graph.facts["links"], len(graph.concepts.indices)) == (0, 0)


def test_in_the_cache_what_is_cut_off_is_made_again(fresh_home, tmp_path, capsys):
    (tmp_path / "own.tsv").write_text(KB)
    add("own", [tmp_path / "own.tsv"])
    artifact = concept_graph(Articles(), ConceptOptions(), 1)
    os.truncate(artifact.path / "documents.indices.int32", 4)
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
