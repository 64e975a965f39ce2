"""`platform concepts export`: a graph as GraphML, and the part of it around a concept."""

from xml.etree import ElementTree

import networkx
import pytest
from concept_data import ARTICLES, Articles

from irplatform.concepts import ConceptOptions
from irplatform.concepts.export import neighbourhood, to_networkx
from irplatform.errors import InputError
from irplatform.knowledge import add


def test_export_writes_graphml_with_kinds_counts_and_sources(concepts, workspace):
    result = concepts("export", "all.graphml")
    assert result.code == 0
    graph = networkx.read_graphml(workspace / "all.graphml", force_multigraph=True)
    assert graph.nodes["X:2"] == {"kind": "disease", "name": "melanoma"}
    assert graph.nodes["doc:d2"]["kind"] == "document"
    documents = [node for node, facts in graph.nodes.items() if facts["kind"] == "document"]
    assert documents == ["doc:d1", "doc:d2", "doc:d3", "doc:d4"]  # two without concepts
    assert [facts["count"] for facts in graph["doc:d2"]["X:2"].values()] == [2]
    assert {facts["kb"] for facts in graph["X:2"]["X:1"].values()} == {"own", "second"}
    summary = concepts("export", "some.graphml", "--around", "d1", "--json").json
    subgraph = networkx.read_graphml(workspace / "some.graphml", force_multigraph=True)
    assert len(subgraph) == 4
    edges = subgraph.number_of_edges()
    assert summary == {
        "path": "some.graphml",
        "nodes": 4,
        "edges": edges,
        "unmentioned_left_out": 0,
    }


def test_export_tells_how_many_concepts_are_left_out(concepts):
    message = concepts("export", "whole.graphml").out
    assert message.endswith(" nodes (without 13 concepts that no document mentions), 10 edges\n")
    assert concepts("export", "again.graphml", "--json").json["unmentioned_left_out"] == 13
    assert "without" not in concepts("export", "part.graphml", "--around", "X:8").out


def test_every_edge_of_an_export_has_its_own_id(graph, concepts, workspace):
    concepts("export", "all.graphml")
    edges = ElementTree.parse(workspace / "all.graphml").findall(".//{*}edge")
    ids = [edge.get("id") for edge in edges]
    assert len(ids) == len(set(ids)) == 10
    copy = networkx.read_graphml(workspace / "all.graphml", force_multigraph=True)
    original = to_networkx(graph, limit=1000)
    assert dict(copy.nodes(data=True)) == dict(original.nodes(data=True))
    assert sorted(map(str, copy.edges(data=True))) == sorted(map(str, original.edges(data=True)))


def test_how_far_around_nothing_is_refused(concepts, workspace):
    result = concepts("export", "x.graphml", "--hops", "2")
    assert result.code == 2
    assert result.err == "platform: --hops has no effect without --around.\n"
    assert not (workspace / "x.graphml").exists()


def test_export_writes_over_no_file(concepts, workspace):
    (workspace / "mine.graphml").write_text("something of mine")
    result = concepts("export", "mine.graphml")
    assert result.code == 2
    assert "this file already exists" in result.err
    assert (workspace / "mine.graphml").read_text() == "something of mine"


def test_export_of_too_much_is_refused(graph, concepts):
    result = concepts("export", "all.graphml", "--limit", "3")
    assert result.code == 2
    assert "there are more than 3 edges." in result.err
    with pytest.raises(InputError, match="neither a document nor the id"):
        neighbourhood(graph, "nothing of the kind", 1)


def test_edges_are_counted_as_they_are_made(graph):
    for part in ((None, None), neighbourhood(graph, "d2", 1), neighbourhood(graph, "neoplasm", 2)):
        edges = to_networkx(graph, *part, limit=1000).number_of_edges()
        assert to_networkx(graph, *part, limit=edges).number_of_edges() == edges
        with pytest.raises(InputError, match=f"more than {edges - 1} edges"):
            to_networkx(graph, *part, limit=edges - 1)


def test_a_neighbourhood_grows_by_hops(graph):
    melanoma, neoplasm = graph.concept_of("X:2"), graph.concept_of("X:1")
    assert neighbourhood(graph, "melanoma", 1)[0] == [1]
    assert {melanoma, neoplasm} <= set(neighbourhood(graph, "melanoma", 1)[1])
    assert melanoma in neighbourhood(graph, "d1", 3)[1]
    assert melanoma not in neighbourhood(graph, "d1", 2)[1]
    assert to_networkx(graph, [1], [melanoma], limit=1000).number_of_edges() == 1


@pytest.fixture
def layers(fresh_home, tmp_path):
    """Twelve layers of four concepts, each below all of the one before: four million ways down."""
    rows = ["id\tname\tkind\tparents\txrefs"]
    for layer in range(12):
        parents = "|".join(f"L:{layer - 1}{n}" for n in range(4)) if layer else ""
        rows += [f"L:{layer}{n}\tname {layer} {n}\tdisease\t{parents}\tM:1" for n in range(4)]
    (tmp_path / "layers.tsv").write_text("\n".join(rows))
    (tmp_path / "top.tsv").write_text("id\tname\tkind\nM:1\ttop\tdisease\n")
    for name in ("top", "layers"):
        add(name, [tmp_path / f"{name}.tsv"])


def test_many_ways_to_a_concept_are_gone_once(layers):
    from irplatform.concepts.build import open_graph

    options = ConceptOptions(knowledge=("top", "layers"))
    graph = open_graph(Articles(ARTICLES), options, workers=1)
    assert graph.ids[graph.concept_of("M:1")] == graph.ids[graph.concept_of("L:00")]
    assert len(neighbourhood(graph, "L:00", 12)[1]) == graph.concept_count == 48
