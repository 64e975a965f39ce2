"""The graph on disk: what documents are joined to, resumed builds, what is refused."""

import json

import numpy as np
import pytest
from concept_data import ARTICLES, Articles

from irplatform.collection_resources import CollectionResources
from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import TIMING, build_facts, concept_graph, open_graph
from irplatform.concepts.graph import ConceptGraph
from irplatform.concepts.pipeline import versions
from irplatform.errors import InputError
from irplatform.knowledge import add

NOT_COMPARED = {TIMING, "manifest.json"}


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in NOT_COMPARED
    }


def links(graph, row):
    concepts, counts, offsets = graph.concepts_of(np.array([row]))
    assert offsets.tolist() == [0, len(concepts)]
    assert sorted(concepts.tolist()) == concepts.tolist()
    return {
        graph.names[concept]: count
        for concept, count in zip(concepts.tolist(), counts.tolist(), strict=True)
    }


def test_documents_are_joined_to_what_they_mention(graph):
    """An abbreviation that a knowledge base knows; a gene; a variant with its gene."""
    assert links(graph, 0) == {"Gefitinib": 1, "MET": 2, "non-small cell lung cancer": 2}
    assert links(graph, 1) == {"BRAF": 1, "BRAF V600E": 1, "melanoma": 2, "neoplasm": 1}
    assert links(graph, 2) == links(graph, 3) == {}


def test_rows_and_frequencies_agree(graph):
    rows = graph.documents
    assert rows.indptr.tolist() == [0, 3, 7, 7, 7]
    frequency = np.bincount(rows.indices, minlength=graph.concept_count)
    assert graph.document_frequency.tolist() == frequency.tolist()
    melanoma = graph.concept_of("X:2")
    assert graph.mentioned_in(melanoma)[0].tolist() == [1]
    assert [array.tolist() for array in graph.mentioned_in(melanoma)] == [[1], [2]]
    assert [graph.doc_ids[row] for row in range(4)] == [doc_id for doc_id, _, _ in ARTICLES]
    assert graph.row_of("d2") == 1
    assert graph.row_of("nothing") is None


def test_concepts_of_several_documents_lie_one_behind_the_other(graph):
    concepts, counts, offsets = graph.concepts_of(np.array([1, 2, 0]))
    assert offsets.tolist() == [0, 4, 4, 7]
    one, _, _ = graph.concepts_of(np.array([0]))
    assert concepts[4:].tolist() == one.tolist()
    assert len(counts) == 7


def test_documents_without_text_are_counted_and_told(kb_home, capsys):
    graph = open_graph(Articles(ARTICLES[1:]), ConceptOptions(kinds=("gene",)), workers=1)
    assert (graph.facts["without_text"], graph.facts["without_concept"]) == (1, 2)
    assert "without text, and so without concepts: 1 document" in capsys.readouterr().err


def test_a_topic_finds_its_concepts_and_narrower_ones(graph):
    names = [graph.names[concept] for concept in graph.find("AR and BRAF V600E in cancer")]
    assert names == ["AR", "BRAF V600E", "BRAF", "neoplasm"]
    assert [graph.names[c] for c in graph.find("BRAF V600E")] == ["BRAF V600E", "BRAF"]
    matches = graph.find("MET amplification, BRAF (V600E), AR (L701H)")
    assert [graph.names[c] for c in matches] == ["MET", "BRAF V600E", "BRAF", "AR"]
    expanded = {graph.names[concept] for concept in graph.find("cancer", expand=1)}
    assert expanded == {
        "neoplasm", "melanoma", "non-small cell lung cancer", "small cell carcinoma", "lung cancer",
    }  # fmt: skip
    assert graph.find("nothing of the kind").tolist() == []


def test_what_is_narrower_is_below_and_so_many_steps_away(fresh_home, tmp_path):
    lines = ["id\tname\tkind\tsynonyms\tparents\txrefs", "L:0\tdisease zero\tdisease\t\t\t"]
    lines += [f"L:{n}\tdisease {n}\tdisease\t\tL:{n - 1}\t" for n in (1, 2, 3)]
    (tmp_path / "line.tsv").write_text("\n".join(lines) + "\n")
    add("line", [tmp_path / "line.tsv"])
    graph = open_graph(Articles(), ConceptOptions(knowledge=("line",)), workers=1)
    start = np.array([graph.concept_of("L:1")])
    for steps, below in enumerate(("L:1", "L:1 L:2", "L:1 L:2 L:3", "L:1 L:2 L:3")):
        descendants = graph.narrower(start, steps).tolist()
        assert [graph.ids[concept] for concept in descendants] == below.split()


def test_the_adjacency_has_every_related_pair_once(graph):
    matrix = graph.adjacency()
    pairs = {
        (concept, other)
        for concept in range(graph.concept_count)
        for other, _, _ in graph.neighbours(concept)
    }
    assert set(zip(*map(np.ndarray.tolist, matrix.nonzero()), strict=True)) == pairs
    assert matrix.nnz == len(pairs)
    assert (matrix != matrix.T).nnz == 0
    assert graph.adjacency(["drug-gene"]).nnz == 0


def test_several_processes_make_the_same_graph(kb_home, graph, monkeypatch, tmp_path):
    monkeypatch.setattr("irplatform.concepts.build.BATCH_DOCUMENTS", 1)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path))
    (tmp_path / "kb").symlink_to(kb_home / "kb")
    other = open_graph(Articles(), ConceptOptions(), workers=2)
    assert other.folder != graph.folder
    assert contents(other.folder) == contents(graph.folder)


@pytest.mark.parametrize("broken", [1, 3])
def test_a_build_that_was_interrupted_goes_on_and_gives_the_same_bytes(
    kb_home, graph, monkeypatch, tmp_path, capsys, broken
):
    class Killed(Articles):
        def __iter__(self):
            for number, document in enumerate(self.documents):
                if number == broken:
                    raise KeyboardInterrupt
                yield document

    monkeypatch.setattr("irplatform.concepts.build.BATCH_DOCUMENTS", 1)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path))
    (tmp_path / "kb").symlink_to(kb_home / "kb")
    with pytest.raises(KeyboardInterrupt):
        concept_graph(Killed(), ConceptOptions(), 1)
    (partial,) = tmp_path.glob("concepts/*.partial")
    with (partial / "documents.indices.int32").open("ab") as file:
        file.write(b"half a batch")
    artifact = concept_graph(Articles(), ConceptOptions(), 1)
    if broken > 1:  # the stream is read one document ahead
        assert "going on after" in capsys.readouterr().err
    assert contents(artifact.path) == contents(graph.folder)


def test_a_second_call_finds_the_graph(kb_home, corpus, graph):
    artifact = concept_graph(corpus, ConceptOptions(), 1)
    assert not artifact.built
    assert artifact.path == graph.folder
    facts = build_facts(corpus, ConceptOptions(), 1)
    assert facts["edges"][0] == {"relation": "document-concept", "kb": "text", "edges": 7}
    assert facts["per_1000_documents"]["links"] == 1750
    assert facts["concepts_per_document"] == 1.75


def test_other_options_make_another_graph(kb_home, corpus, graph):
    other = open_graph(corpus, ConceptOptions(kinds=("disease",)), workers=1)
    assert other.fingerprint != graph.fingerprint
    assert set(other.kinds[other.documents.indices].tolist()) == {0}


def test_two_documents_of_one_id_are_refused(kb_home):
    with pytest.raises(InputError, match="two documents have the id 'd1'"):
        open_graph(Articles([ARTICLES[0], ARTICLES[0]]), ConceptOptions(), workers=1)


def test_a_graph_of_other_documents_is_refused(graph):
    assert graph.require(corpus="f1") is graph
    with pytest.raises(InputError, match=r"built for other documents \(articles\)"):
        graph.require(corpus="f2")


def test_a_graph_of_another_pipeline_is_refused(graph):
    now = versions(ConceptOptions())
    assert graph.require(corpus="f1", pipeline=now) is graph
    changed = rf"another pipeline \(pipeline {now['pipeline']}, now 99\)"
    with pytest.raises(InputError, match=changed):
        graph.require(corpus="f1", pipeline={**now, "pipeline": "99"})


def test_a_graph_of_another_version_is_refused(graph, tmp_path):
    facts = {**graph.facts, "version": 99}
    (tmp_path / "graph.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="version 99, but this platform reads 1"):
        ConceptGraph(tmp_path)
    with pytest.raises(InputError, match="there is no concept graph here"):
        ConceptGraph(tmp_path / "nowhere")


def test_without_knowledge_bases_there_is_no_graph(fresh_home):
    with pytest.raises(InputError, match="needs knowledge bases, and none is installed"):
        concept_graph(Articles(), ConceptOptions(), 1)


def test_resources_lend_it_built_and_recorded(kb_home, corpus, graph):
    resources = CollectionResources(corpus, device="cpu", seed=1, threads=1)
    lent = resources.concepts()
    assert lent is resources.concepts(ConceptOptions())
    assert lent.fingerprint == graph.fingerprint == resources.artifacts["concepts"]
