"""`platform concepts build`: sizes, options, and graphs that are refused."""

import json
import time

import pytest
from commands import call

from irplatform.concepts import ConceptOptions, build
from irplatform.concepts.graph import ConceptGraph
from irplatform.knowledge import add


def test_build_names_the_collection_as_the_user_did(concepts, workspace, monkeypatch, capsys):
    result = call(
        capsys, monkeypatch, "concepts", "build", "--collection", "./small", "--workers=1"
    )
    assert result.out.splitlines()[0] == "collection: ./small"


def test_build_tells_sizes_and_edges_by_source(concepts):
    result = concepts("build", "--workers", "1", "--json")
    assert (result.code, result.json["documents"], result.json["links"]) == (0, 4, 7)
    assert result.json["collection"] == "small"
    edges = {(edge["relation"], edge["kb"]): edge["edges"] for edge in result.json["edges"]}
    assert edges == {("document-concept", "text"): 7, ("is-a", "own"): 4, ("is-a", "second"): 1}
    again = concepts("build")
    assert "concepts per document: 1.75" in again.out
    assert "per 1,000 documents:" in again.out
    assert "is-a" in again.out


def test_seconds_are_those_of_the_whole_build_and_of_finding_concepts(
    concepts, workspace, monkeypatch
):
    table_of = build.concept_table
    monkeypatch.setattr(build, "concept_table", lambda names: time.sleep(0.3) or table_of(names))
    facts = concepts("build", "--workers", "1", "--json").json
    seconds = facts["seconds_finding_concepts"]
    assert facts["seconds"] > seconds + 0.3  # the names were brought together first
    assert facts["per_1000_documents"]["seconds_finding_concepts"] == round(1000 * seconds / 4, 2)
    again = concepts("build").out
    assert f"\nseconds: {facts['seconds']}\nseconds finding concepts: {seconds}\n" in again
    assert " seconds finding concepts, 1,750 links," in again


def test_an_empty_collection_is_refused_as_by_index(concepts, workspace):
    (workspace / "small" / "corpus.jsonl").write_text("")
    result = concepts("build", "--workers", "1")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1] == "platform: the corpus 'small' has no documents."
    assert [path for path in workspace.glob("home/concepts/*") if path.is_dir()] == []


def test_the_order_of_kinds_makes_no_second_graph(concepts):
    one, other = (
        concepts("build", "--workers=1", "--json", *(f"--kind={kind}" for kind in kinds)).json
        for kinds in (("gene", "disease"), ("disease", "gene", "disease"))
    )
    assert one["folder"] == other["folder"]
    everything = ("other", "gene", "variant", "drug", "disease")
    assert ConceptOptions(kinds=everything) == ConceptOptions()
    assert ConceptOptions(linker_kinds=("drug", "disease")) == ConceptOptions()


def test_the_default_identity_is_as_it_always_was(workspace):
    """Trained models depend on it."""
    assert ConceptGraph.identity(ConceptOptions(linker="scispacy"))["options"] == {
        "knowledge": ["own", "second"],
        "kinds": ["disease", "gene", "drug", "variant", "other"],
        "model": "auto",
        "linker": "scispacy",
        "threshold": 0.85,
        "linker_kinds": ["disease", "drug"],
    }


def test_a_damaged_graph_is_told_in_a_line(concepts, workspace):
    assert concepts("build", "--workers", "1").code == 0
    (facts,) = workspace.glob("home/concepts/*/graph.json")
    folder = workspace / "moved"
    facts.parent.rename(folder)
    (folder / "table" / "names.utf8").write_bytes(b"")
    for arguments in (("show", "melanoma"), ("export", "x.graphml")):
        result = concepts(*arguments, "--graph", str(folder))
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert f"{folder}/table/names.utf8: this file of a concept graph is damaged" in result.err
        assert f"Delete {folder} and run `platform concepts build` again." in result.err


def test_a_graph_of_another_collection_is_refused(concepts, graph):
    result = concepts("show", "melanoma", "--graph", str(graph.folder))
    assert result.code == 2
    assert "built for other documents (articles)" in result.err


def test_a_graph_of_another_pipeline_is_refused(concepts, workspace):
    assert concepts("build", "--workers", "1").code == 0
    (folder,) = (workspace / "home" / "concepts").glob("*/graph.json")
    facts = json.loads(folder.read_text())
    facts["pipeline"]["scispacy"] = "0.1"
    folder.write_text(json.dumps(facts))
    (folder.parent / "manifest.json").unlink()
    result = concepts("show", "melanoma", "--graph", str(folder.parent))
    assert result.code == 2
    assert "another pipeline (scispacy 0.1, now " in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kb", "own"), "--kb would change"),
        (("--kind", "gene", "--model", "none"), "--kind and --model would change"),
        (("--linker", "scispacy", "--threshold", "0.5"), "--linker and --threshold would change"),
    ],
)
def test_what_a_graph_is_made_of_is_not_asked_of_one_that_is_made(
    concepts, graph, options, message
):
    result = concepts("show", "melanoma", "--graph", str(graph.folder), *options)
    assert result.code == 2
    assert message in result.err


def test_a_graph_is_compared_with_the_pipeline_of_its_own_options(concepts, workspace):
    assert concepts("build", "--workers", "1", "--model", "none", "--kind", "gene").code == 0
    (folder,) = (workspace / "home" / "concepts").glob("*/graph.json")
    assert concepts("show", "MET", "--graph", str(folder.parent)).code == 0


def test_a_threshold_without_its_linker_is_refused(concepts, workspace):
    result = concepts("build", "--threshold", "0.5")
    assert result.code == 2
    assert "--threshold is an option of scispaCy's linker" in result.err
    assert list((workspace / "home").glob("concepts/*")) == []


def test_a_kind_that_the_linker_does_not_find_is_refused_and_nothing_is_left(concepts, workspace):
    result = concepts("build", "--linker", "scispacy", "--kind", "gene")
    assert result.code == 2
    assert "both in kinds (gene) and in linker_kinds (disease, drug)" in result.err
    assert list((workspace / "home").glob("concept*/*.partial")) == []
    assert list((workspace / "home").glob("concepts/*")) == []


def test_the_linkers_options_make_no_second_graph_without_it(workspace):
    plain = ConceptGraph.identity(ConceptOptions())
    assert ConceptGraph.identity(ConceptOptions(threshold=0.5, linker_kinds=("gene",))) == plain
    linked = ConceptGraph.identity(ConceptOptions(linker="scispacy"))
    assert ConceptGraph.identity(ConceptOptions(linker="scispacy", threshold=0.5)) != linked


def test_knowledge_bases_without_names_are_refused_and_nothing_is_left(concepts, workspace):
    (workspace / "edges.sif").write_text(
        "source\tmetaedge\ttarget\nGene::9021\tGpBP\tBiological Process::GO:0071357\n"
    )
    add("hetionet", [workspace / "edges.sif"])
    result = concepts("build", "--kb", "hetionet")
    assert result.code == 2
    assert "the knowledge bases (hetionet) hold no names" in result.err
    assert "`platform kb list`" in result.err
    assert list((workspace / "home").glob("concept*/*.partial")) == []
    assert list((workspace / "home").glob("concepts/*")) == []


def test_a_document_without_text_has_no_concepts_and_is_counted(concepts):
    result = concepts("build", "--workers", "1")
    assert "without text, and so without concepts: 1 document" in result.err
    assert concepts("show", "d3").out.startswith("document d3: 0 concepts")


@pytest.mark.parametrize("names", [("second,own",), ("second, own",), ("second", "own")])
def test_knowledge_bases_are_named_one_by_one_or_with_commas(concepts, names):
    flags = [flag for name in names for flag in ("--kb", name)]
    result = concepts("build", "--workers", "1", "--json", *flags)
    assert result.json["knowledge"] == "second, own"


def test_an_empty_list_of_knowledge_bases_is_refused(concepts):
    result = concepts("build", "--kb", " ,")
    assert (result.code, result.out) == (2, "")
    assert "--kb is empty" in result.err


def test_wrong_options_are_named(concepts):
    assert concepts("build", "--workers", "many").code == 2
    result = concepts("build", "--kb", "hgnc")
    assert result.code == 2
    assert "the knowledge base 'hgnc' is not installed" in result.err
