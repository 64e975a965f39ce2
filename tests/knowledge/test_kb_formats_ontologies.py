"""Ontologies as a JSON list, in OBO, as OBO graphs, and in OWL."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ontologies import OBO_IN_OWL, OBO_PURL

from irplatform.errors import InputError
from irplatform.knowledge import add
from irplatform.knowledge.formats.ontologies import OBO as OBO_FORMAT
from irplatform.knowledge.model import Name

TERMS = [
    {"id": "DOID:162", "name": "cancer"},
    {
        "id": "DOID:1909",
        "alt_ids": ["DOID:5667"],
        "name": "melanoma",
        "synonyms": ["malignant melanoma", {"name": "Naevocarcinoma", "specificity": "NARROW"}],
        "relations": {"is_a": ["DOID:162"]},
        "xrefs": [
            {"id": "D008545", "namespace": "MESH"},
            {"id": "2092003", "namespace": "SNOMEDCT_US_2023_03_01"},
        ],
    },
]
OBO = """format-version: 1.2
ontology: doid

[Term]
id: DOID:162
name: cancer

[Term]
id: DOID:3908
name: lung non-small cell carcinoma
alt_id: DOID:3907
synonym: "Non-small cell lung cancer" EXACT []
synonym: "NSCLC" EXACT OMO:0003012 []
synonym: "a \\"quoted\\" name" RELATED [MTH:NOCODE]
xref: MESH:D002289
xref: SNOMEDCT_US_2023_03_01:254637007
is_a: DOID:162 ! cancer

[Term]
id: DOID:9999
name: obsolete disease
is_obsolete: true

[Typedef]
id: has_origin
name: has origin
"""
_END = OBO.count("\n")
GRAPH = {
    "graphs": [
        {
            "nodes": [
                {"id": f"{OBO_PURL}DOID_162", "lbl": "cancer", "type": "CLASS"},
                {
                    "id": f"{OBO_PURL}DOID_3908",
                    "lbl": "lung non-small cell carcinoma",
                    "meta": {
                        "synonyms": [
                            {"pred": "hasExactSynonym", "val": "Non-small cell lung cancer"},
                            {"pred": "hasBroadSynonym", "val": "lung carcinoma"},
                            {
                                "pred": "hasExactSynonym",
                                "val": "Nsclc",
                                "synonymType": f"{OBO_PURL}OMO_0003012",
                            },
                        ],
                        "xrefs": [{"val": "MESH:D002289"}],
                        "basicPropertyValues": [
                            {"pred": f"{OBO_IN_OWL}hasAlternativeId", "val": "DOID:3907"},
                            {"pred": f"{OBO_IN_OWL}hasOBONamespace", "val": "disease_ontology"},
                        ],
                    },
                },
                {"id": f"{OBO_PURL}DOID_9999", "lbl": "old", "meta": {"deprecated": True}},
                {"id": f"{OBO_PURL}UBERON_0002048", "lbl": "lung"},
            ],
            "edges": [
                {"sub": f"{OBO_PURL}DOID_3908", "pred": "is_a", "obj": f"{OBO_PURL}DOID_162"},
                {"sub": f"{OBO_PURL}DOID_9999", "pred": "is_a", "obj": f"{OBO_PURL}DOID_162"},
                {
                    "sub": f"{OBO_PURL}DOID_3908",
                    "pred": "other",
                    "obj": f"{OBO_PURL}UBERON_0002048",
                },
            ],
        }
    ]
}


def test_the_json_list(read):
    format_name, concepts, relations = read("doid", "doid.json.gz", json.dumps(TERMS))
    assert format_name == "doid-json"
    melanoma = concepts["DOID:1909"]
    assert melanoma.kind == "disease"
    assert melanoma.xrefs == ("DOID:5667", "MESH:D008545", "SNOMEDCT:2092003")
    assert Name("malignant melanoma", "synonym") in melanoma.names
    assert Name("Naevocarcinoma", "narrow") in melanoma.names
    assert relations == {("DOID:1909", "is-a", "DOID:162"): ""}


def test_obo(read):
    format_name, concepts, relations = read("doid", "doid.obo", OBO)
    assert format_name == "doid-obo"
    assert set(concepts) == {"DOID:162", "DOID:3908"}
    lung = concepts["DOID:3908"]
    assert Name("NSCLC", "abbreviation") in lung.names
    assert Name('a "quoted" name', "related") in lung.names
    assert lung.xrefs == ("DOID:3907", "MESH:D002289", "SNOMEDCT:254637007")
    assert relations == {("DOID:3908", "is-a", "DOID:162"): ""}


def test_the_obo_graph(read):
    format_name, concepts, relations = read("doid", "doid.json", json.dumps(GRAPH))
    assert format_name == "doid-graph"
    assert set(concepts) == {"DOID:162", "DOID:3908"}
    lung = concepts["DOID:3908"]
    assert lung.xrefs == ("DOID:3907", "MESH:D002289")
    assert {name.text: name.kind for name in lung.names} == {
        "lung non-small cell carcinoma": "preferred",
        "Non-small cell lung cancer": "synonym",
        "lung carcinoma": "broad",
        "Nsclc": "abbreviation",
    }
    assert relations == {("DOID:3908", "is-a", "DOID:162"): ""}


def test_what_an_obo_graph_has_as_null_is_empty(read):
    node = {"id": f"{OBO_PURL}DOID_162", "lbl": "cancer", "meta": {"synonyms": None, "xrefs": None}}
    graph = {"graphs": [{"nodes": [node], "edges": None}]}
    _, concepts, relations = read("doid", "doid.json", json.dumps(graph))
    assert concepts["DOID:162"].xrefs == ()
    assert relations == {}


def test_a_node_of_an_obo_graph_without_a_name_is_no_term(read):
    nodes = [
        {"id": f"{OBO_PURL}DOID_162", "lbl": "cancer"},
        {"id": f"{OBO_PURL}DOID_4", "lbl": " "},
    ]
    edges = [{"sub": f"{OBO_PURL}DOID_162", "pred": "is_a", "obj": f"{OBO_PURL}DOID_4"}]
    graph = {"graphs": [{"nodes": nodes, "edges": edges}]}
    _, concepts, relations = read("doid", "doid.json", json.dumps(graph))
    assert list(concepts) == ["DOID:162"]
    assert relations == {}


def test_a_byte_order_mark_before_json_is_no_mistake(read):
    text = "\ufeff" + json.dumps([{"id": "DOID:162", "name": "cancer"}])
    assert list(read("doid", "doid.json", text)[1]) == ["DOID:162"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '[\n {"id": "DOID:1",\n  "name": }\n]', "a.json:3: this is not JSON"),
        ("b.json", '[{"id": "DOID:1"}]', "term 1 has no text under 'name'"),
        ("c.json", '[{"id": "DOID:1", "name": "x", "xrefs": 3}]', "'xrefs' not a list"),
        ("d.json", '{"graphs": []}', "no graph with nodes"),
        ("i.obo", "format-version: 1.2\n[Term]\nid: GO:1\nname: x\n", "no term of DOID"),
        ("j.owl", "<rdf:RDF xmlns:rdf='x' xmlns:owl='owl#'/>", "no class"),
        ("k.owl", "<rdf:RDF xmlns:owl='owl#'><owl:Class>", "not well-formed XML"),
    ],
)
def test_errors_say_where(read, name, text, message):
    with pytest.raises(InputError) as caught:
        read("doid", name, text)
    assert message in str(caught.value)


MIXED = """format-version: 1.4
default-namespace: human_phenotype
! a comment

[Term]
id: DOID:1 ! the first
name: hyper\\:sensitivity {source="X"} ! to much
synonym: "one\\nof two lines" EXACT [] {source="Y"}
synonym: "short" []
creation_date: some day
is_a: DOID:4 {source="Y"} ! disease

[Term]
id: CHEBI:63637
name: vemurafenib
synonym: "PLX4032" RELATED [ChEBI]
is_a: DOID:3

[Term]
id: GO:0006915
name: apoptotic process
namespace: biological_process

[Term]
id: DOID:3
name: old name
is_obsolete: true ! it was merged

[Term]
id: Orphanet:44
is_a: DOID:4

[Term]
id: MY:1
name: fever
"""


def test_comments_modifiers_and_escapes_of_obo_are_no_part_of_names(read):
    format_name, concepts, relations = read("mine", "mixed.obo", MIXED)
    assert format_name == "obo"
    first = concepts["DOID:1"]
    assert first.name == "hyper:sensitivity"
    assert Name("one of two lines", "synonym") in first.names
    assert Name("short", "related") in first.names
    assert relations == {("DOID:1", "is-a", "DOID:4"): ""}
    assert "DOID:3" not in concepts


def test_prefixes_and_name_spaces_say_what_terms_are(read):
    concepts = read("mine", "mixed.obo", MIXED)[1]
    kinds = {concept_id: concept.kind for concept_id, concept in concepts.items()}
    assert kinds == {
        "DOID:1": "disease",
        "CHEBI:63637": "drug",
        "GO:0006915": "other",
        "MY:1": "disease",  # the default name space
    }


def test_what_is_left_out_is_counted(read, capsys):
    text = MIXED.replace("default-namespace: human_phenotype\n", "")
    read("mine", "mixed.obo", text)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("left out: 1 term obsolete, 1 term without a name.")
    assert "'other': MY (1). Give it with kind=, such as kind='MY=disease'." in lines[1]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"": "drug"}, {"DOID:1": "drug", "GO:0006915": "drug", "MY:1": "drug"}),
        ({"MY": "gene"}, {"DOID:1": "disease", "GO:0006915": "other", "MY:1": "gene"}),
        ({"": "other", "MY": "gene"}, {"DOID:1": "other", "MY:1": "gene"}),
    ],
)
def test_kinds_can_be_given(write, kinds, expected):
    records = list(OBO_FORMAT.with_kinds(kinds).read(write("mixed.obo", MIXED)))
    concept_kinds = {record.id: record.kind for record in records if hasattr(record, "id")}
    assert expected.items() <= concept_kinds.items()


def test_other_kinds_make_another_knowledge_base(fresh_home, write):
    path = write("mixed.obo", MIXED)
    assert add("mine", [path]).counts["concepts"] == {"disease": 2, "drug": 1, "other": 1}
    assert add("mine", [path], kinds={"": "drug"}).counts["concepts"] == {"drug": 4}


def test_a_table_says_itself_what_things_are(fresh_home, write):
    path = write("own.tsv", "id\tname\tkind\nMY:1\tfever\tdisease\n")
    with pytest.raises(InputError, match="kind= is for ontologies"):
        add("mine", [path], kinds={"": "drug"})


_CHARACTERS = list('ab :{}!",[]()é\t\n')
_ESCAPES = {"\n": "\\n", "\t": "\\t", **{character: f"\\{character}" for character in '{}!"'}}


@given(name=st.text(st.sampled_from(_CHARACTERS), min_size=1).filter(str.strip))
@settings(max_examples=25)
def test_every_name_survives_obo(tmp_path_factory, name):
    escaped = "".join(_ESCAPES.get(character, character) for character in name)
    path = tmp_path_factory.mktemp("obo") / "a.obo"
    lines = ["[Term]", "id: GO:1", f"name: {escaped} ! x", f'synonym: "a{escaped}" EXACT []']
    path.write_text("\n".join(lines), encoding="utf-8")
    (concept,) = OBO_FORMAT.read(path)
    assert concept.name == " ".join(name.split())
    assert concept.names[1].text == " ".join(f"a{name}".split())
