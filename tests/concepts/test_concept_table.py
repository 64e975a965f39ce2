"""Concepts of several knowledge bases: what is one, what stays apart, what is refused."""

import json

import pytest

from irplatform.concepts.build import concept_table
from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.merging import united
from irplatform.concepts.table import ConceptTable
from irplatform.concepts.table_build import build_table
from irplatform.errors import InputError, PlatformError
from irplatform.knowledge import add, installed, open_knowledge

HEAD = "id\tname\tkind\tsynonyms\tparents\txrefs\n"


@pytest.fixture
def bases(fresh_home, tmp_path):
    def bases(**tables):
        for name, rows in tables.items():
            (tmp_path / f"{name}.tsv").write_text(HEAD + "\n".join("\t".join(row) for row in rows))
            add(name, [tmp_path / f"{name}.tsv"])
        return open_knowledge(list(tables)).bases

    return bases


def ids(concepts):
    return [concept.ids for concept in concepts]


def test_a_reference_makes_one_concept_of_two(table):
    assert table.concept_of("X:2") == table.concept_of("Z:2")
    concept = table.concept_of("Z:2")
    assert (table.ids[concept], table.names[concept]) == ("X:2", "melanoma")
    assert "malignant skin tumor" in table.names_of(concept)


def test_equal_names_make_one_concept_of_two(table):
    assert table.concept_of("X:7") == table.concept_of("Z:3")
    assert table.concept_of("X:1") == table.concept_of("Z:1")
    assert table.concept_of("Q:1") is None


def test_two_that_refer_to_one_stay_two_and_the_one_of_its_name_wins(bases):
    one = [("M:1", "lung neoplasms", "disease", "", "", "")]
    two = [
        ("D:1", "benign lung thing", "disease", "", "", "M:1"),
        ("D:2", "lung cancer", "disease", "lung neoplasm", "", "M:1"),
    ]
    assert ids(united(bases(one=one, two=two))) == [["M:1", "D:2"], ["D:1"]]


def test_of_several_references_the_broader_wins(bases):
    one = [("M:1", "colorectal neoplasms", "disease", "", "", "")]
    two = [
        ("D:1", "colorectal carcinoma", "disease", "", "D:2", "M:1"),
        ("D:2", "colorectal cancer", "disease", "", "", "M:1"),
    ]
    assert ids(united(bases(one=one, two=two))) == [["M:1", "D:2"], ["D:1"]]


def test_genes_are_one_by_their_symbol_alone(bases):
    one = [("H:1", "BRAF", "gene", "MM", "", "")]
    two = [("N:1", "BRAF", "gene", "", "", ""), ("N:2", "MM", "gene", "", "", "")]
    assert ids(united(bases(one=one, two=two))) == [["H:1", "N:1"], ["N:2"]]


def test_a_gene_is_no_gene_whose_symbol_differs_in_case_unless_it_refers_to_it(bases):
    one = [("H:1", "BRAF", "gene", "", "", "")]
    two = [("N:1", "Braf", "gene", "", "", "")]
    assert ids(united(bases(one=one, two=two))) == [["H:1"], ["N:1"]]
    three = [("N:2", "Braf", "gene", "", "", "H:1")]
    assert ids(united(bases(one=one, three=three))) == [["H:1", "N:2"]]


def test_a_benign_thing_is_not_the_thing(bases):
    one = [("M:1", "skin neoplasms", "disease", "", "", "")]
    two = [("D:1", "skin benign neoplasm", "disease", "skin neoplasm", "", "M:1")]
    assert ids(united(bases(one=one, two=two))) == [["M:1"], ["D:1"]]


def test_the_name_itself_goes_before_a_synonym(bases):
    one = [("M:1", "gist", "disease", "", "", ""), ("M:2", "stromal tumor", "disease", "", "", "")]
    two = [("D:1", "stromal tumor", "disease", "gist", "", "")]
    assert ids(united(bases(one=one, two=two))) == [["M:1"], ["M:2", "D:1"]]


def test_a_disease_is_what_another_source_has_without_a_kind(bases):
    one = [("M:1", "fever", "disease", "pyrexia", "", "")]
    two = [("S:1", "pyrexia", "other", "", "", "")]
    (concept,) = united(bases(one=one, two=two))
    assert (concept.ids, concept.kind) == (["M:1", "S:1"], "disease")
    (turned,) = united(bases(two=two, one=one))
    assert (turned.ids, turned.name, turned.kind) == (["S:1", "M:1"], "pyrexia", "disease")


def test_a_reference_and_a_shared_synonym_go_before_a_broader_reference_alone(bases):
    one = [("M:1", "kidney neoplasms", "disease", "renal tumor", "", "")]
    two = [
        ("D:1", "broad thing", "disease", "", "", "M:1"),
        ("D:2", "narrow thing", "disease", "renal tumor", "D:1", "M:1"),
    ]
    assert ids(united(bases(one=one, two=two))) == [["M:1", "D:2"], ["D:1"]]


def test_a_gene_has_the_symbol_of_the_first_source_that_gives_symbols(bases):
    one = [("MESH:1", "Protein, B", "gene", "", "", "H:1")]
    two = [("H:1", "BRAF", "gene", "", "", "N:1")]
    three = [("N:1", "BRAF1", "gene", "", "", "")]
    (concept,) = united(bases(one=one, two=two, three=three))
    assert (concept.name, concept.symbol) == ("Protein, B", "BRAF")
    assert concept.names["BRAF1"] == "alias"
    zero = [("UMLS:1", "BRAF gene", "gene", "", "", "H:1")]
    (concept,) = united(bases(zero=zero, two=two))
    assert concept.symbol == "BRAF"


def test_an_id_that_is_referred_to_is_the_first_that_does_and_makes_no_edge_to_itself(
    bases, tmp_path
):
    rows = [
        ("A:1", "one", "disease", "", "Q:9", "Q:9"),
        ("A:2", "two", "disease", "", "A:1", "Q:9"),
    ]
    bases(own=rows)
    build_table(open_knowledge(["own"]).bases, tmp_path)
    table = ConceptTable(tmp_path)
    assert table.ids[table.concept_of("Q:9")] == "A:1"
    assert table.sources == [("own", "is-a", 1)]


def test_relations_stand_in_both_rows_with_their_source(graph):
    melanoma, neoplasm = graph.concept_of("X:2"), graph.concept_of("X:1")
    relations = {
        (other, str(source), forward) for other, source, forward in graph.neighbours(melanoma)
    }
    assert relations == {(neoplasm, "is-a (own)", True), (neoplasm, "is-a (second)", True)}
    assert (melanoma, graph.sources[0], False) in graph.neighbours(neoplasm)


def test_the_same_knowledge_bases_make_the_same_bytes(kb_home, tmp_path, table):
    build_table(open_knowledge(["own", "second"]).bases, tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (table.folder / path.name).read_bytes(), path.name


def test_knowledge_bases_without_names_are_refused(fresh_home, tmp_path):
    (tmp_path / "i.tsv").write_text(
        "entrez_gene_symbol\tgene_long_name\tinteraction_types\tdrug_name\n"
    )
    path = tmp_path / "edges.sif"
    path.write_text("source\tmetaedge\ttarget\nGene::9021\tGpBP\tBiological Process::GO:0071357\n")
    add("hetionet", [path])
    with pytest.raises(InputError, match=r"the knowledge bases \(hetionet\) hold no names"):
        concept_table(("hetionet",))


def _names_found(text):
    table = ConceptTable(concept_table(installed()))
    return [table.names[mention.concept] for mention in NameMatcher(table).mentions(text)]


@pytest.mark.parametrize("text", ["ovarian cancer", "ovary cancer"])
def test_a_diseases_name_is_no_side_effects_though_one_of_them_alone_is_the_same(bases, text):
    bases(
        first=[("A:1", "Ovarian Neoplasms", "disease", "ovarian cancer|ovary cancer", "", "")],
        second=[
            ("B:1", "ovarian cancer", "other", "", "", ""),
            ("B:2", "ovary cancer", "other", "", "", ""),
        ],
    )
    assert _names_found(text) == ["Ovarian Neoplasms"]


@pytest.mark.parametrize(
    ("text", "names"),
    [("three arms", []), ("an inhibitor", []), ("on a gene", []), ("upper arms", ["Arm"])],
)
def test_ordinary_words_and_articles_are_no_names(bases, text, names):
    bases(
        own=[
            ("A:1", "Arm", "other", "Arms|Upper Arms", "", ""),
            ("A:2", "Angiogenesis Inhibitors", "drug", "inhibitor, an", "", ""),
            ("A:3", "Genes, vif", "other", "Gene, A|A Gene|Genes, A", "", ""),
        ]
    )
    assert _names_found(text) == names


def test_a_table_of_another_version_is_refused(table, tmp_path):
    for path in table.folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    facts = json.loads((tmp_path / "table.json").read_text())
    (tmp_path / "table.json").write_text(json.dumps({**facts, "version": 99}))
    with pytest.raises(PlatformError, match="concepts of version 99"):
        ConceptTable(tmp_path)
