"""`platform concepts show`: concepts of documents, texts and names, and what is near them."""

import pytest


def test_show_tells_a_documents_concepts_and_their_relations(concepts):
    text = concepts("show", "d2").out
    assert "document d2: 4 concepts" in text
    assert "2 × melanoma  (disease, X:2)" in text
    assert "melanoma → neoplasm  (is-a, second)" in text


@pytest.mark.parametrize("name", ["melanoma", "X:2", "x:2", "Z:2", "malignant skin tumors"])
def test_show_tells_a_concepts_neighbourhood(concepts, name):
    concept = concepts("show", name, "--json").json["concept"]
    assert (concept["id"], concept["kind"], concept["documents"]) == ("X:2", "disease", 1)
    assert concept["mentioned_in"] == [{"id": "d2", "count": 2}]
    assert [(edge["kb"], edge["forward"]) for edge in concept["edges"]] == [
        ("own", True),
        ("second", True),
    ]
    assert "in 1 document\n" in concepts("show", name).out


def test_show_tells_what_else_a_text_names(concepts):
    result = concepts("show", "gefitinib in melanoma with BRAF V600E")
    assert result.out.startswith("X:7  Gefitinib")
    assert result.out.endswith("named beside it  melanoma (X:2), BRAF V600E (X:14), BRAF (X:13)\n")
    facts = concepts("show", "melanoma BRAF", "--json").json
    assert [concept["id"] for concept in (facts["concept"], *facts["others"])] == ["X:2", "X:13"]
    assert "named beside it" not in concepts("show", "melanoma").out


def test_show_tells_names_that_differ_in_more_than_case(concepts):
    assert "  names  Gefitinib; Iressa; ZD1839\n" in concepts("show", "gefitinib").out


def test_show_tells_a_concept_by_its_name_also_of_a_kind_that_is_not_linked(concepts):
    by_name, by_id = (
        concepts("show", "--kind", "disease", name, "--json").json for name in ("BRAF", "X:13")
    )
    assert by_name == by_id
    assert (by_name["concept"]["kind"], by_name["concept"]["documents"]) == ("gene", 0)


def test_what_is_not_there_is_said(concepts):
    result = concepts("show", "nothing of the kind")
    assert result.code == 1
    assert "'nothing of the kind' is neither a document nor" in result.out
    assert "Near it" not in result.out


def test_what_is_spelt_nearly_so_is_named_as_kb_show_does(concepts):
    result = concepts("show", "melanomma")
    assert result.code == 1
    assert result.out.endswith("of this graph. Near it: melanoma (X:2)\n")
    (near,) = concepts("show", "melanomma", "--json").json["nearest"]
    assert (near["id"], near["name"]) == ("X:2", "melanoma")
    assert "Near it: melanoma (X:2)" in concepts("export", "x.graphml", "--around", "melanomma").err


def test_a_document_without_concepts_has_nothing_around_it(concepts, workspace):
    result = concepts("export", "part.graphml", "--around", "d3")
    assert result.code == 2
    assert "document 'd3' has no concepts" in result.err
    assert not (workspace / "part.graphml").exists()
