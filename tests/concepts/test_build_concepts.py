"""`platform concepts build`: sizes, options, and graphs that are refused."""

import json
import time

import pytest
from commands import call

from irplatform.concepts import ConceptOptions, build
from irplatform.concepts.graph import ConceptGraph
from irplatform.knowledge import add


def test_build_names_the_collection_as_the_user_did(concepts, here, monkeypatch, capsys):
    done = call(capsys, monkeypatch, "concepts", "build", "--collection", "./small", "--workers=1")
    assert done.out.splitlines()[0] == "collection: ./small"


def test_build_tells_sizes_and_edges_by_source(concepts):
    done = concepts("build", "--workers", "1", "--json")
    assert (done.code, done.json["documents"], done.json["links"]) == (0, 4, 7)
    assert done.json["collection"] == "small"
    edges = {(each["relation"], each["kb"]): each["edges"] for each in done.json["edges"]}
    assert edges == {("document-concept", "text"): 7, ("is-a", "own"): 4, ("is-a", "second"): 1}
    again = concepts("build")
    assert "concepts per document: 1.75" in again.out
    assert "per 1,000 documents:" in again.out
    assert "is-a" in again.out


def test_seconds_are_those_of_the_whole_build_and_of_finding_concepts(concepts, here, monkeypatch):
    table_of = build.concept_table
    monkeypatch.setattr(build, "concept_table", lambda names: time.sleep(0.3) or table_of(names))
    facts = concepts("build", "--workers", "1", "--json").json
    found = facts["seconds_finding_concepts"]
    assert facts["seconds"] > found + 0.3  # the names were brought together first
    assert facts["per_1000_documents"]["seconds_finding_concepts"] == round(1000 * found / 4, 2)
    again = concepts("build").out
    assert f"\nseconds: {facts['seconds']}\nseconds finding concepts: {found}\n" in again
    assert " seconds finding concepts, 1,750 links," in again


def test_an_empty_collection_is_refused_as_by_index(concepts, here):
    (here / "small" / "corpus.jsonl").write_text("")
    done = concepts("build", "--workers", "1")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1] == "platform: the corpus 'small' has no documents."
    assert [path for path in here.glob("home/concepts/*") if path.is_dir()] == []


def test_the_order_of_kinds_makes_no_second_graph(concepts):
    one, other = (
        concepts("build", "--workers=1", "--json", *(f"--kind={kind}" for kind in kinds)).json
        for kinds in (("gene", "disease"), ("disease", "gene", "disease"))
    )
    assert one["folder"] == other["folder"]
    everything = ("other", "gene", "variant", "drug", "disease")
    assert ConceptOptions(kinds=everything) == ConceptOptions()
    assert ConceptOptions(linker_kinds=("drug", "disease")) == ConceptOptions()


def test_the_default_identity_is_as_it_always_was(here):
    """Trained models depend on it."""
    assert ConceptGraph.identity(ConceptOptions(linker="scispacy"))["options"] == {
        "knowledge": ["own", "second"],
        "kinds": ["disease", "gene", "drug", "variant", "other"],
        "model": "auto",
        "linker": "scispacy",
        "threshold": 0.85,
        "linker_kinds": ["disease", "drug"],
    }


def test_a_damaged_graph_is_told_in_a_line(concepts, here):
    assert concepts("build", "--workers", "1").code == 0
    (facts,) = here.glob("home/concepts/*/graph.json")
    folder = here / "moved"
    facts.parent.rename(folder)
    (folder / "table" / "names.utf8").write_bytes(b"")
    for arguments in (("show", "melanoma"), ("export", "x.graphml")):
        done = concepts(*arguments, "--graph", str(folder))
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f"{folder}/table/names.utf8: this file of a concept graph is damaged" in done.err
        assert f"Delete {folder} and run `platform concepts build` again." in done.err


def test_a_graph_of_another_collection_is_refused(concepts, graph):
    done = concepts("show", "melanoma", "--graph", str(graph.folder))
    assert done.code == 2
    assert "built for other documents (articles)" in done.err


def test_a_graph_of_another_pipeline_is_refused(concepts, here):
    assert concepts("build", "--workers", "1").code == 0
    (folder,) = (here / "home" / "concepts").glob("*/graph.json")
    facts = json.loads(folder.read_text())
    facts["pipeline"]["scispacy"] = "0.1"
    folder.write_text(json.dumps(facts))
    (folder.parent / "manifest.json").unlink()
    done = concepts("show", "melanoma", "--graph", str(folder.parent))
    assert done.code == 2
    assert "another pipeline (scispacy 0.1, now " in done.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--kb", "own"), "--kb would change"),
        (("--kind", "gene", "--model", "none"), "--kind and --model would change"),
        (("--linker", "scispacy", "--threshold", "0.5"), "--linker and --threshold would change"),
    ],
)
def test_what_a_graph_is_made_of_is_not_asked_of_one_that_is_made(concepts, graph, given, told):
    done = concepts("show", "melanoma", "--graph", str(graph.folder), *given)
    assert done.code == 2
    assert told in done.err


def test_a_graph_is_compared_with_the_pipeline_of_its_own_options(concepts, here):
    assert concepts("build", "--workers", "1", "--model", "none", "--kind", "gene").code == 0
    (folder,) = (here / "home" / "concepts").glob("*/graph.json")
    assert concepts("show", "MET", "--graph", str(folder.parent)).code == 0


def test_a_threshold_without_its_linker_is_refused(concepts, here):
    done = concepts("build", "--threshold", "0.5")
    assert done.code == 2
    assert "--threshold is an option of scispaCy's linker" in done.err
    assert list((here / "home").glob("concepts/*")) == []


def test_a_kind_that_the_linker_does_not_find_is_refused_and_nothing_is_left(concepts, here):
    done = concepts("build", "--linker", "scispacy", "--kind", "gene")
    assert done.code == 2
    assert "both in kinds (gene) and in linker_kinds (disease, drug)" in done.err
    assert list((here / "home").glob("concept*/*.partial")) == []
    assert list((here / "home").glob("concepts/*")) == []


def test_the_linkers_options_make_no_second_graph_without_it(here):
    plain = ConceptGraph.identity(ConceptOptions())
    assert ConceptGraph.identity(ConceptOptions(threshold=0.5, linker_kinds=("gene",))) == plain
    linked = ConceptGraph.identity(ConceptOptions(linker="scispacy"))
    assert ConceptGraph.identity(ConceptOptions(linker="scispacy", threshold=0.5)) != linked


def test_knowledge_bases_without_names_are_refused_and_nothing_is_left(concepts, here):
    (here / "edges.sif").write_text(
        "source\tmetaedge\ttarget\nGene::9021\tGpBP\tBiological Process::GO:0071357\n"
    )
    add("hetionet", [here / "edges.sif"])
    done = concepts("build", "--kb", "hetionet")
    assert done.code == 2
    assert "the knowledge bases (hetionet) hold no names" in done.err
    assert "`platform kb list`" in done.err
    assert list((here / "home").glob("concept*/*.partial")) == []
    assert list((here / "home").glob("concepts/*")) == []


def test_a_document_without_text_has_no_concepts_and_is_counted(concepts):
    done = concepts("build", "--workers", "1")
    assert "without text, and so without concepts: 1 document" in done.err
    assert concepts("show", "d3").out.startswith("document d3: 0 concepts")


@pytest.mark.parametrize("given", [("second,own",), ("second, own",), ("second", "own")])
def test_knowledge_bases_are_named_one_by_one_or_with_commas(concepts, given):
    flags = [each for name in given for each in ("--kb", name)]
    done = concepts("build", "--workers", "1", "--json", *flags)
    assert done.json["knowledge"] == "second, own"


def test_an_empty_list_of_knowledge_bases_is_refused(concepts):
    done = concepts("build", "--kb", " ,")
    assert (done.code, done.out) == (2, "")
    assert "--kb is empty" in done.err


def test_wrong_options_are_named(concepts):
    assert concepts("build", "--workers", "many").code == 2
    done = concepts("build", "--kb", "hgnc")
    assert done.code == 2
    assert "the knowledge base 'hgnc' is not installed" in done.err
