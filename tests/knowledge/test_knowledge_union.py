"""Looking up names, climbing hierarchies, and what is the same in several sources."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from kb_data import OWN

from irplatform.knowledge import Knowledge, Name, add, open_knowledge

OTHER = """id\tname\tkind\tsynonyms\tparents\txrefs
MESH:D008545\tMelanoma\tdisease\tNaevocarcinoma\t\t
NCBIGENE:4233\tMET\tgene\tc-Met\t\t
X:2\tMelanoma (any)\tdisease\tblack cancer\t\tUMLS:C1
X:8\tmet\tother\t\t\t
DRUGBANK:DB00317\tgefitinib\tdrug\tZD1839\t\t
"""
NAMED = (
    "gene_name\tentrez_gene_id\treported_drug_response\tdrug_name\tdrug_trade_name\tdrug_class\n"
    "EGFR\t1956\tSensitivity\tIressa\t\tTKI\n"
)


@pytest.fixture
def union(small_knowledge, write):
    add("other", [write("other.tsv", OTHER)])
    add("dgidb", [write("dgidb.tsv", NAMED)])
    return open_knowledge(["own", "other", "dgidb"])


def ids(concepts):
    return [concept.id for concept in concepts]


def test_a_concept_is_found_by_any_of_its_names(small_knowledge):
    assert ids(small_knowledge.find("malignant Melanomas")) == ["X:2"]
    assert ids(small_knowledge.find("MM")) == ["X:2"]
    assert small_knowledge.find("no such thing") == []
    assert small_knowledge.find("") == small_knowledge.find("--") == []


def test_a_symbol_in_its_own_case_comes_first(small_knowledge):
    assert ids(small_knowledge.find("MET")) == ["X:5", "X:6"]
    assert ids(small_knowledge.find("Met")) == ["X:6", "X:5"]
    assert ids(small_knowledge.find("met")) == ["X:5", "X:6"], "the preferred name before an alias"


def test_a_genes_previous_symbol_comes_before_another_genes_alias(fresh_home, write):
    genes = (
        "hgnc_id\tsymbol\tname\tlocus_type\talias_symbol\tprev_symbol\n"
        "HGNC:21710\tTBC1D9\tTBC1 domain family member 9\tgene\tMDR1\t\n"
        "HGNC:40\tABCB1\tATP binding cassette subfamily B member 1\tgene\t\tMDR1\n"
    )
    add("hgnc", [write("hgnc.tsv", genes)])
    assert ids(open_knowledge(["hgnc"]).find("MDR1")) == ["HGNC:40", "HGNC:21710"]


def test_what_has_no_kind_comes_after_what_has_one(union):
    assert ids(union.find("met")) == ["X:5", "NCBIGENE:4233", "X:6", "X:8"]


def test_a_concept_of_several_sources_has_the_names_of_all(union):
    concept = union.concept("X:2")
    assert (concept.name, concept.kb) == ("melanoma", "own")
    assert Name("black cancer", "synonym") in concept.names
    assert Name("Melanoma (any)", "synonym") in concept.names
    assert [name.kind for name in concept.names].count("preferred") == 1
    assert concept.xrefs == ("MESH:D008545", "UMLS:C1")
    assert union.find("black cancer") == [concept]


def test_concepts_come_once_each(union):
    concept_ids = ids(union.concepts())
    assert len(concept_ids) == len(set(concept_ids)) == 13
    assert concept_ids == sorted(concept_ids)
    assert list(union.concepts()) == [union.concept(concept_id) for concept_id in concept_ids]
    assert ids(union.concepts("drug")) == ["DRUG:iressa", "DRUGBANK:DB00317", "X:7"]


def test_up_and_down_the_hierarchy(small_knowledge):
    assert ids(small_knowledge.parents("X:3")) == ["X:2"]
    assert ids(small_knowledge.children("X:2")) == ["X:3", "X:4"]
    assert ids(small_knowledge.ancestors("X:3")) == ["X:2", "X:1"]
    assert ids(small_knowledge.descendants("X:1")) == ["X:2", "X:3", "X:4"]
    assert ids(small_knowledge.descendants("X:1", limit=2)) == ["X:2", "X:3"]
    assert small_knowledge.parents("X:1") == small_knowledge.parents("nothing") == []


def test_a_circle_in_the_hierarchy_ends(fresh_home, write):
    add(
        "own", [write("a.tsv", "id\tname\tkind\tparents\nA:1\ta\tother\tA:2\nA:2\tb\tother\tA:1\n")]
    )
    assert ids(open_knowledge(["own"]).ancestors("A:1")) == ["A:2"]


def test_nothing_is_its_own_parent_or_partner(fresh_home, write):
    term = "[Term]\nid: DOID:1\nname: a\nis_a: DOID:1\nis_a: DOID:2\n"
    add("doid", [write("a.obo", f"format-version: 1.2\n{term}")])
    knowledge = open_knowledge(["doid"])
    assert [ends for base in knowledge.bases for ends in base.relation_ends()] == [
        ("DOID:1", "DOID:2", "is-a")
    ]
    assert knowledge.parents("DOID:1") == knowledge.children("DOID:1") == []


def test_the_same_thing_by_cross_reference_in_both_directions(union):
    assert ids(union.same_as("X:2")) == ["MESH:D008545"]
    assert ids(union.same_as("MESH:D008545")) == ["X:2"]
    assert ids(union.same_as("NCBIGENE:4233")) == ["X:5"]
    assert union.same_as("X:1") == union.same_as("nothing") == []


def test_drugs_are_the_same_by_name(union):
    assert set(ids(union.same_as("DRUG:iressa"))) == {"X:7", "DRUGBANK:DB00317"}
    assert "DRUG:iressa" in ids(union.same_as("DRUGBANK:DB00317"))


def test_two_things_that_refer_to_one_do_not_become_one(fresh_home, write):
    text = "id\tname\tkind\txrefs\nA:1\ta\tdisease\tM:1\nA:2\tb\tdisease\tM:1\nM:1\tm\tdisease\t\n"
    add("own", [write("a.tsv", text)])
    knowledge = open_knowledge(["own"])
    assert ids(knowledge.same_as("A:1")) == ["M:1"]
    assert ids(knowledge.same_as("M:1")) == ["A:1", "A:2"]


def test_relations_are_found_under_every_id_of_a_thing(union):
    (relation,) = union.relations("DRUGBANK:DB00317")
    assert (relation.source_id, relation.kind, relation.target_id, relation.kb) == (
        "DRUG:iressa",
        "drug-gene",
        "NCBIGENE:1956",
        "dgidb",
    )
    assert "Sensitivity" in relation.evidence
    assert union.relations("X:7", "drug-disease") == []
    assert union.relations("NCBIGENE:1956", "drug-gene") == [relation]
    assert union.relations("X:3") == [], "what is an is-a is asked for"
    assert [r.target_id for r in union.relations("X:3", "is-a")] == ["X:2"]


def test_names_that_begin_alike(small_knowledge):
    assert ids(small_knowledge.search("mel")) == ["X:2"]
    assert ids(small_knowledge.search("Malig")) == ["X:2"]
    assert ids(small_knowledge.search("", limit=2)) == ["X:7", "X:5"]


def test_many_names_of_one_concept_do_not_hide_the_next_that_begins_alike(write):
    names = "|".join(f"tumour {n}" for n in range(9))
    lines = f"id\tname\tsynonyms\tkind\nA:1\ttumour\t{names}\tdisease\n"
    add("one", [write("one.tsv", lines + "A:2\ttumour z\t\tdisease\n")])
    add("two", [write("two.tsv", "id\tname\tkind\nB:1\ttumour y\tdisease\n")])
    knowledge = open_knowledge(["one", "two"])
    assert ids(knowledge.search("tumour", limit=2)) == ["A:1", "B:1"]
    assert ids(knowledge.search("tumour", limit=3)) == ["A:1", "B:1", "A:2"]


def test_the_nearest_names(small_knowledge):
    assert ids(small_knowledge.nearest("melanomma"))[0] == "X:2"
    assert small_knowledge.nearest("zzz") == small_knowledge.nearest("") == []


def test_the_fingerprint_is_of_content_and_order(union, write):
    marks = {
        open_knowledge(names).fingerprint
        for names in (["own"], ["other"], ["own", "other"], ["other", "own"])
    }
    assert len(marks) == 4
    before = union.fingerprint
    assert open_knowledge(["own", "other", "dgidb", "own"]).fingerprint == before
    add("own", [write("own.tsv", OWN.replace("X:3", "X:33"))])
    assert open_knowledge(["own", "other", "dgidb"]).fingerprint != before


def test_many_threads_read_at_once(union):
    expected = ids(union.find("melanoma"))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: ids(union.find("melanoma")), range(200)))
    assert results == [expected] * 200


def test_the_file_cannot_be_written_to(small_knowledge):
    import sqlite3

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        small_knowledge.bases[0]._connection().execute("DELETE FROM concept")


def test_what_nobody_reads_any_more_is_closed_at_once(union):
    """Not when the garbage is collected: until then its files are open."""
    knowledge = Knowledge(union.bases)
    knowledge.concept("A:1")
    gone = weakref.ref(knowledge)
    gc.disable()
    try:
        del knowledge
        assert gone() is None
    finally:
        gc.enable()
