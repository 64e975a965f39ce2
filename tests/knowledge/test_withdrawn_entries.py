"""Withdrawn, obsolete and merged entries are no concepts; their names are those of their heirs."""

import json

import pytest
from ontologies import OBO_IN_OWL, OBO_PURL

from irplatform.knowledge import add, open_knowledge

_HGNC = "hgnc_id\tsymbol\tname\tlocus_group\tlocus_type\tstatus\talias_symbol\n"
_LIVING = "HGNC:11\tTHNA\tthing A\tprotein-coding gene\tgene with protein product\tApproved\t\n"
_GONE = [
    "HGNC:12\tOLDA\tsymbol withdrawn, see HGNC:11\t\t\t\t\n",
    "HGNC:12\tOLDA~withdrawn\tsymbol withdrawn, see [THNA](/data/x/#!/hgnc_id/HGNC:11)\t\t\t\t\n",
    "HGNC:12\tOLDA\tSymbol withdrawn, see THNA\twithdrawn\twithdrawn\tSymbol Withdrawn\t\n",
    "HGNC:12\tOLDA\tsymbol withdrawn, see HGNC:13\t\t\t\t\n"
    "HGNC:13\tMIDA\tsymbol withdrawn, see HGNC:11\t\t\t\t\n",
    "HGNC:12\tOLDA\tsymbol withdrawn see HGNC:11 and HGNC:99\t\t\tentry withdrawn\t\n",
]
_NEVER = [
    "HGNC:12\tOLDA\tentry withdrawn\t\t\t\t\n",
    "HGNC:12\tOLDA~withdrawn\t\t\t\t\t\n",
    "HGNC:12\tOLDA\tsome thing\t\twithdrawn\t\t\n",
    "HGNC:12\tOLDA\tsome thing\t\t\tEntry Withdrawn\t\n",
    "HGNC:12\tOLDA\tENTRY WITHDRAWN\t\t\tApproved\t\n",
]


def _as_json(table):
    header, *lines = (line.split("\t") for line in table.splitlines())
    docs = [{k: v for k, v in zip(header, line, strict=True) if v} for line in lines]
    return json.dumps({"response": {"docs": docs}})


def _as_custom(table):
    header = "HGNC ID\tApproved symbol\tApproved name\tLocus group\tLocus type\tStatus\tAliases\n"
    return table.replace(_HGNC, header)


@pytest.mark.parametrize("lines", _GONE)
@pytest.mark.parametrize("form", [str, _as_json, _as_custom])
def test_a_withdrawn_symbol_is_a_name_of_the_gene_that_replaced_it(fresh_home, write, form, lines):
    add("hgnc", [write("genes.txt", form(_HGNC + lines + _LIVING))])
    knowledge = open_knowledge(["hgnc"])
    assert [concept.id for concept in knowledge.concepts()] == ["HGNC:11"]
    assert [concept.id for concept in knowledge.find("OLDA")] == ["HGNC:11"]
    assert not knowledge.find("symbol withdrawn, see HGNC:11")
    assert "HGNC:12" in knowledge.concept("HGNC:11").xrefs


@pytest.mark.parametrize("lines", _NEVER)
@pytest.mark.parametrize("form", [str, _as_json, _as_custom])
def test_a_withdrawn_entry_is_no_gene(fresh_home, write, capsys, form, lines):
    add("hgnc", [write("genes.txt", form(_HGNC + lines + _LIVING))])
    knowledge = open_knowledge(["hgnc"])
    assert [concept.id for concept in knowledge.concepts()] == ["HGNC:11"]
    assert not knowledge.find("OLDA")
    assert "left out: 1 withdrawn gene." in capsys.readouterr().err


def test_two_genes_that_replaced_one_are_not_the_same(fresh_home, write):
    lines = "HGNC:12\tOLDA\tsymbol withdrawn, see HGNC:11 and HGNC:14\t\t\t\t\n"
    other = _LIVING.replace("HGNC:11\tTHNA", "HGNC:14\tTHNB")
    add("hgnc", [write("genes.txt", _HGNC + lines + _LIVING + other)])
    knowledge = open_knowledge(["hgnc"])
    assert {concept.id for concept in knowledge.find("OLDA")} == {"HGNC:11", "HGNC:14"}
    assert knowledge.same_as("HGNC:11") == []


def test_a_withdrawn_drug_is_a_drug(read):
    text = (
        "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Groups\n"
        "DB1,,Thingafil,,,,withdrawn\n"
    )
    assert read("drugbank", "drugs.csv", text)[1]["DRUGBANK:DB1"].kind == "drug"


def test_rejected_evidence_of_civic_is_none(read):
    columns = "molecular_profile\tmolecular_profile_id\tdisease\tdoid\ttherapies\tevidence_type\t"
    columns += "evidence_level\tevidence_status\n"
    lines = "THN A1C\t1\tOddness\t77\tThingafil\tPredictive\tA\t{}\n"
    text = columns + lines.format("rejected")
    assert read("civic", "c.tsv", text)[2] == {}
    assert read("civic", "c.tsv", columns + lines.format("accepted"))[2]


_OBO = """format-version: 1.2

[Term]
id: DOID:20
name: oddness

[Term]
id: DOID:21
{}
"""
_OBSOLETE = {
    "obo": [
        'name: obsolete quirk\nis_obsolete: true\nreplaced_by: DOID:20 ! oddness',
        "name: quirk\nis_obsolete: True\nreplaced_by: DOID:20",
        "name: OBSOLETE: quirk\nproperty_value: IAO:0100001 DOID:20",
        'name: quirk\nproperty_value: owl:deprecated "true" xsd:boolean\n'
        f'property_value: {OBO_PURL}IAO_0100001 "DOID:20" xsd:string',
        "name: other\nsynonym: \"quirk\" EXACT []\nis_obsolete: 1\nuse_term: DOID:20",
        "name: quirk\nis_obsolete: true\nreplaced_by: DOID:22\n\n[Term]\nid: DOID:22\n"
        "name: between\nis_obsolete: true\nreplaced_by: DOID:20",
    ],
    "json": [
        {"lbl": "quirk", "meta": {"deprecated": True, "basicPropertyValues": [{
            "pred": f"{OBO_PURL}IAO_0100001", "val": f"{OBO_PURL}DOID_20"}]}},
        {"lbl": "quirk", "meta": {"deprecated": "true", "basicPropertyValues": [{
            "pred": f"{OBO_PURL}IAO_0100001", "val": "DOID:20"}]}},
        {"lbl": "quirk", "meta": {"basicPropertyValues": [
            {"pred": "http://www.w3.org/2002/07/owl#deprecated", "val": "true"},
            {"pred": "http://purl.org/dc/terms/isReplacedBy", "val": "DOID:20"}]}},
        {"lbl": "obsolete quirk", "meta": {"basicPropertyValues": [
            {"pred": "IAO:0100001", "val": "DOID:20"}]}},
        {"lbl": "other", "meta": {"deprecated": 1, "synonyms": [
            {"pred": "hasExactSynonym", "val": "quirk"}],
            "basicPropertyValues": [{"pred": "IAO:0100001", "val": "DOID:20"}]}},
    ],
    "owl": [
        '<rdfs:label>quirk</rdfs:label><owl:deprecated rdf:datatype="x#boolean">true'
        f'</owl:deprecated><obo:IAO_0100001 rdf:resource="{OBO_PURL}DOID_20"/>',
        "<rdfs:label>quirk</rdfs:label><owl:deprecated>1</owl:deprecated>"
        "<obo:IAO_0100001>DOID:20</obo:IAO_0100001>",
        "<rdfs:label>obsolete_quirk</rdfs:label><obo:IAO_0100001>DOID:20</obo:IAO_0100001>",
        '<rdf:type rdf:resource="http://www.w3.org/2002/07/owl#DeprecatedClass"/>'
        "<rdfs:label>quirk</rdfs:label><in:replacedBy>DOID:20</in:replacedBy>",
        f'<rdfs:label>quirk</rdfs:label><rdfs:subClassOf rdf:resource="{OBO_IN_OWL}ObsoleteClass"/>'
        "<obo:IAO_0100001>DOID:20</obo:IAO_0100001>",
        "<rdfs:label>quirk (obsolete)</rdfs:label><owl:deprecated>TRUE</owl:deprecated>"
        "<obo:IAO_0100001>DOID:20</obo:IAO_0100001>",
    ],
}  # fmt: skip


def _ontology(form, term):
    if form == "obo":
        return "t.obo", _OBO.format(term)
    if form == "json":
        nodes = [
            {"id": f"{OBO_PURL}DOID_20", "lbl": "oddness"},
            {"id": f"{OBO_PURL}DOID_21"} | term,
        ]
        return "t.json", json.dumps({"graphs": [{"nodes": nodes}]})
    return (
        "t.owl",
        f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:in="{OBO_IN_OWL}" xmlns:obo="{OBO_PURL}">
 <owl:Class rdf:about="{OBO_PURL}DOID_20"><rdfs:label>oddness</rdfs:label></owl:Class>
 <owl:Class rdf:about="{OBO_PURL}DOID_21">{term}</owl:Class></rdf:RDF>""",
    )


@pytest.mark.parametrize(
    ("form", "term"), [(form, term) for form, terms in _OBSOLETE.items() for term in terms]
)
def test_an_obsolete_term_names_what_replaced_it(fresh_home, write, form, term):
    add("mine", [write(*_ontology(form, term))])
    knowledge = open_knowledge(["mine"])
    assert [concept.id for concept in knowledge.concepts()] == ["DOID:20"]
    assert [concept.id for concept in knowledge.find("quirk")] == ["DOID:20"]
    assert "DOID:21" in knowledge.concept("DOID:20").xrefs


@pytest.mark.parametrize(
    ("form", "term"),
    [
        ("obo", "name: quirk\nis_obsolete: true\nconsider: DOID:20"),
        ("obo", "name: obsolete: quirk"),
        ("json", {"lbl": "quirk", "meta": {"deprecated": "True"}}),
        ("owl", "<rdfs:label>OBSOLETE: quirk</rdfs:label>"),
        ("owl", "<rdfs:label>quirk</rdfs:label><owl:deprecated>true</owl:deprecated>"),
    ],
)
def test_an_obsolete_term_without_a_successor_is_not_known(fresh_home, write, form, term):
    add("mine", [write(*_ontology(form, term))])
    assert not open_knowledge(["mine"]).find("quirk")


def test_terms_that_replace_each_other_are_no_endless_chain(fresh_home, write):
    terms = "name: quirk\nis_obsolete: true\nreplaced_by: DOID:22\n\n[Term]\nid: DOID:22\n"
    terms += "name: between\nis_obsolete: true\nreplaced_by: DOID:21\nreplaced_by: DOID:20"
    add("mine", [write(*_ontology("obo", terms))])
    assert {c.id for c in open_knowledge(["mine"]).find("quirk")} == {"DOID:20"}
