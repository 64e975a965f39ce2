"""`platform concepts`: build, show, check, export, and what users are told when it cannot be."""

import json
import re
import time
from xml.etree import ElementTree

import networkx
import pytest
from commands import call
from concept_data import ARTICLES, KB, SECOND_KB, Articles
from kb_formats import add

from irplatform.concepts import ConceptOptions, build
from irplatform.concepts.build import graph_identity
from irplatform.concepts.check import check
from irplatform.concepts.export import neighbourhood, to_networkx
from irplatform.errors import InputError

MESH = "\n".join(
    [
        "D008545\tMelanoma\tMalignant Melanoma\tC04.557\t",
        "D009369\tNeoplasms\tTumor|Neoplasm\tC04\t",
        "D006801\tHumans\tHuman\tB01\t",
        "D010361\tPatients\tPatient\tM01\t",
    ]
)
HEADINGS = {"d1": ["Humans", "Melanoma/drug therapy*"], "d2": ["Melanoma", "Neoplasms", "Nowhere"]}
CHECKED = [("d1", "Humans and patients", ""), ("d2", "A melanoma", ""), ("d3", "Melanoma", "")]


@pytest.fixture
def here(tmp_path, monkeypatch):
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
def concepts(here, capsys, monkeypatch):
    def concepts(what, *arguments):
        options = ("--collection", "small", *arguments)
        return call(capsys, monkeypatch, "concepts", what, *options)

    return concepts


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
    assert graph_identity(ConceptOptions(linker="scispacy"))["options"] == {
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


def test_show_tells_a_documents_concepts_and_their_relations(concepts):
    told = concepts("show", "d2").out
    assert "document d2: 4 concepts" in told
    assert "2 × melanoma  (disease, X:2)" in told
    assert "melanoma → neoplasm  (is-a, second)" in told


def test_check_without_mesh_is_refused_before_a_graph_is_built(concepts, here):
    done = concepts("check")
    assert done.code == 2
    assert "mesh is not among the knowledge bases of the graph (own, second)" in done.err
    assert not (here / "home" / "concepts").exists()


@pytest.mark.parametrize("what", ["melanoma", "X:2", "x:2", "Z:2", "malignant skin tumors"])
def test_show_tells_a_concepts_neighbourhood(concepts, what):
    told = concepts("show", what, "--json").json["concept"]
    assert (told["id"], told["kind"], told["documents"]) == ("X:2", "disease", 1)
    assert told["mentioned_in"] == [{"id": "d2", "count": 2}]
    assert [(each["kb"], each["forward"]) for each in told["edges"]] == [
        ("own", True),
        ("second", True),
    ]
    assert "in 1 document\n" in concepts("show", what).out


def test_show_tells_what_else_a_text_names(concepts):
    done = concepts("show", "gefitinib in melanoma with BRAF V600E")
    assert done.out.startswith("X:7  Gefitinib")
    assert done.out.endswith("named beside it  melanoma (X:2), BRAF V600E (X:14), BRAF (X:13)\n")
    told = concepts("show", "melanoma BRAF", "--json").json
    assert [each["id"] for each in (told["concept"], *told["others"])] == ["X:2", "X:13"]
    assert "named beside it" not in concepts("show", "melanoma").out


def test_show_tells_names_that_differ_in_more_than_case(concepts):
    assert "  names  Gefitinib; Iressa; ZD1839\n" in concepts("show", "gefitinib").out


def test_show_tells_a_concept_by_its_name_also_of_a_kind_that_is_not_linked(concepts):
    by_name, by_id = (
        concepts("show", "--kind", "disease", what, "--json").json for what in ("BRAF", "X:13")
    )
    assert by_name == by_id
    assert (by_name["concept"]["kind"], by_name["concept"]["documents"]) == ("gene", 0)


def test_what_is_not_there_is_said(concepts):
    done = concepts("show", "nothing of the kind")
    assert done.code == 1
    assert "'nothing of the kind' is neither a document nor" in done.out
    assert "Near it" not in done.out


def test_what_is_spelt_nearly_so_is_named_as_kb_show_does(concepts):
    done = concepts("show", "melanomma")
    assert done.code == 1
    assert done.out.endswith("of this graph. Near it: melanoma (X:2)\n")
    (near,) = concepts("show", "melanomma", "--json").json["nearest"]
    assert (near["id"], near["name"]) == ("X:2", "melanoma")
    assert "Near it: melanoma (X:2)" in concepts("export", "x.graphml", "--around", "melanomma").err


def test_export_writes_graphml_with_kinds_counts_and_sources(concepts, here):
    done = concepts("export", "all.graphml")
    assert done.code == 0
    graph = networkx.read_graphml(here / "all.graphml", force_multigraph=True)
    assert graph.nodes["X:2"] == {"kind": "disease", "name": "melanoma"}
    assert graph.nodes["doc:d2"]["kind"] == "document"
    documents = [each for each, facts in graph.nodes.items() if facts["kind"] == "document"]
    assert documents == ["doc:d1", "doc:d2", "doc:d3", "doc:d4"]  # two without concepts
    assert [facts["count"] for facts in graph["doc:d2"]["X:2"].values()] == [2]
    assert {facts["kb"] for facts in graph["X:2"]["X:1"].values()} == {"own", "second"}
    some = concepts("export", "some.graphml", "--around", "d1", "--json").json
    held = networkx.read_graphml(here / "some.graphml", force_multigraph=True)
    assert len(held) == 4
    edges = held.number_of_edges()
    assert some == {"path": "some.graphml", "nodes": 4, "edges": edges, "unmentioned_left_out": 0}


def test_export_tells_how_many_concepts_are_left_out(concepts):
    told = concepts("export", "whole.graphml").out
    assert told.endswith(" nodes (without 13 concepts that no document mentions), 10 edges\n")
    assert concepts("export", "again.graphml", "--json").json["unmentioned_left_out"] == 13
    assert "without" not in concepts("export", "part.graphml", "--around", "X:8").out


def test_every_edge_of_an_export_has_its_own_id(graph, concepts, here):
    concepts("export", "all.graphml")
    edges = ElementTree.parse(here / "all.graphml").findall(".//{*}edge")
    ids = [edge.get("id") for edge in edges]
    assert len(ids) == len(set(ids)) == 10
    held = networkx.read_graphml(here / "all.graphml", force_multigraph=True)
    made = to_networkx(graph, limit=1000)
    assert dict(held.nodes(data=True)) == dict(made.nodes(data=True))
    assert sorted(map(str, held.edges(data=True))) == sorted(map(str, made.edges(data=True)))


def test_how_far_around_nothing_is_refused(concepts, here):
    done = concepts("export", "x.graphml", "--hops", "2")
    assert done.code == 2
    assert done.err == "platform: --hops has no effect without --around.\n"
    assert not (here / "x.graphml").exists()


def test_export_writes_over_no_file(concepts, here):
    (here / "mine.graphml").write_text("something of mine")
    done = concepts("export", "mine.graphml")
    assert done.code == 2
    assert "this file already exists" in done.err
    assert (here / "mine.graphml").read_text() == "something of mine"


def test_export_of_too_much_is_refused(graph, concepts):
    done = concepts("export", "all.graphml", "--limit", "3")
    assert done.code == 2
    assert "there are more than 3 edges." in done.err
    with pytest.raises(InputError, match="neither a document nor the id"):
        neighbourhood(graph, "nothing of the kind", 1)


def test_edges_are_counted_as_they_are_made(graph):
    for part in ((None, None), neighbourhood(graph, "d2", 1), neighbourhood(graph, "neoplasm", 2)):
        edges = to_networkx(graph, *part, limit=1000).number_of_edges()
        assert to_networkx(graph, *part, limit=edges).number_of_edges() == edges
        with pytest.raises(InputError, match=f"more than {edges - 1} edges"):
            to_networkx(graph, *part, limit=edges - 1)


def test_a_document_without_concepts_has_nothing_around_it(concepts, here):
    done = concepts("export", "part.graphml", "--around", "d3")
    assert done.code == 2
    assert "document 'd3' has no concepts" in done.err
    assert not (here / "part.graphml").exists()


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


@pytest.fixture
def checked(fresh_home, tmp_path):
    from irplatform.concepts.build import open_graph

    (tmp_path / "mesh.tsv").write_text(MESH)
    add("mesh", [tmp_path / "mesh.tsv"])
    corpus = Articles(CHECKED, HEADINGS)
    return open_graph(corpus, ConceptOptions(), workers=1), corpus


def test_check_counts_links_among_headings(checked):
    """Right: Humans in d1, Melanoma in d2. Missed: Melanoma in d1, Neoplasms in d2."""
    facts = check(*checked)
    assert facts["documents"] == 2
    assert facts["unknown_headings"] == 1
    figures = facts["all"]
    assert (figures["headings"], figures["links"]) == (4, 3)
    assert (figures["precision"], figures["recall"]) == (round(2 / 3, 4), 0.5)
    assert figures["recall_near"] == 0.75  # Neoplasms is one step from Melanoma
    assert facts["without_check_tags"]["precision"] == 0.5
    assert facts["disease"]["headings"] == 3
    assert facts["gene"] == {
        "headings": 0, "links": 0,
        "precision": None, "recall": None, "precision_near": None, "recall_near": None,
    }  # fmt: skip
    misses = {(each["document"], each["heading"]) for each in facts["misses"]}
    assert misses == {("d1", "Melanoma"), ("d2", "Neoplasms")}
    (false,) = facts["false_links"]
    assert (false["document"], false["linked"]) == ("d1", "Patients")
    assert "[patients]" in false["text"]


def test_check_tells_no_precision_where_nothing_is_linked(concepts, here):
    (here / "mesh.tsv").write_text(MESH)
    add("mesh", [here / "mesh.tsv"])
    headings = {"mesh": ["Humans"]}
    article = {"_id": "d1", "title": "Nothing", "text": "", "metadata": headings}
    (here / "small" / "corpus.jsonl").write_text(json.dumps(article))
    done = concepts("check")
    assert done.code == 0, done.err
    assert re.search(r"^all +1 +0 +- +0.000 +- +0.000$", done.out, re.MULTILINE)
    assert concepts("check", "--json").json["all"]["precision"] is None


def test_check_shows_as_many_examples_as_asked(checked):
    facts = check(*checked, examples=1)
    assert (len(facts["misses"]), len(facts["false_links"])) == (1, 1)
    assert facts["misses"] == check(*checked, examples=1)["misses"]


def test_check_needs_mesh_and_headings(checked, graph, corpus):
    with pytest.raises(InputError, match=r"mesh is not among .* \(own, second\)"):
        check(graph, corpus)
    with pytest.raises(InputError, match="no document has headings in a field 'keywords'"):
        check(*checked, "keywords")


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
    plain = graph_identity(ConceptOptions())
    assert graph_identity(ConceptOptions(threshold=0.5, linker_kinds=("gene",))) == plain
    linked = graph_identity(ConceptOptions(linker="scispacy"))
    assert graph_identity(ConceptOptions(linker="scispacy", threshold=0.5)) != linked


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
