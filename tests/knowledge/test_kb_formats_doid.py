"""The Disease Ontology as a JSON list, in OBO, and as an OBO graph."""

import json

import pytest

from irplatform.errors import InputError
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

_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
_OBO = "http://purl.obolibrary.org/obo/"
GRAPH = {
    "graphs": [
        {
            "nodes": [
                {"id": f"{_OBO}DOID_162", "lbl": "cancer", "type": "CLASS"},
                {
                    "id": f"{_OBO}DOID_3908",
                    "lbl": "lung non-small cell carcinoma",
                    "meta": {
                        "synonyms": [
                            {"pred": "hasExactSynonym", "val": "Non-small cell lung cancer"},
                            {"pred": "hasBroadSynonym", "val": "lung carcinoma"},
                            {
                                "pred": "hasExactSynonym",
                                "val": "Nsclc",
                                "synonymType": f"{_OBO}OMO_0003012",
                            },
                        ],
                        "xrefs": [{"val": "MESH:D002289"}],
                        "basicPropertyValues": [
                            {"pred": f"{_IN_OWL}hasAlternativeId", "val": "DOID:3907"},
                            {"pred": f"{_IN_OWL}hasOBONamespace", "val": "disease_ontology"},
                        ],
                    },
                },
                {"id": f"{_OBO}DOID_9999", "lbl": "old", "meta": {"deprecated": True}},
                {"id": f"{_OBO}UBERON_0002048", "lbl": "lung"},
            ],
            "edges": [
                {"sub": f"{_OBO}DOID_3908", "pred": "is_a", "obj": f"{_OBO}DOID_162"},
                {"sub": f"{_OBO}DOID_9999", "pred": "is_a", "obj": f"{_OBO}DOID_162"},
                {"sub": f"{_OBO}DOID_3908", "pred": "other", "obj": f"{_OBO}UBERON_0002048"},
            ],
        }
    ]
}


def test_the_json_list(read):
    how, concepts, relations = read("doid", "doid.json.gz", json.dumps(TERMS))
    assert how == "doid-json"
    melanoma = concepts["DOID:1909"]
    assert melanoma.kind == "disease"
    assert melanoma.xrefs == ("DOID:5667", "MESH:D008545", "SNOMEDCT:2092003")
    assert Name("malignant melanoma", "synonym") in melanoma.names
    assert Name("Naevocarcinoma", "narrow") in melanoma.names
    assert relations == {("DOID:1909", "is-a", "DOID:162"): ""}


def test_obo(read):
    how, concepts, relations = read("doid", "doid.obo", OBO)
    assert how == "doid-obo"
    assert set(concepts) == {"DOID:162", "DOID:3908"}
    lung = concepts["DOID:3908"]
    assert Name("NSCLC", "abbreviation") in lung.names
    assert Name('a "quoted" name', "related") in lung.names
    assert lung.xrefs == ("DOID:3907", "MESH:D002289", "SNOMEDCT:254637007")
    assert relations == {("DOID:3908", "is-a", "DOID:162"): ""}


def test_the_obo_graph(read):
    how, concepts, relations = read("doid", "doid.json", json.dumps(GRAPH))
    assert how == "doid-graph"
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
    node = {"id": f"{_OBO}DOID_162", "lbl": "cancer", "meta": {"synonyms": None, "xrefs": None}}
    graph = {"graphs": [{"nodes": [node], "edges": None}]}
    _, concepts, relations = read("doid", "doid.json", json.dumps(graph))
    assert concepts["DOID:162"].xrefs == ()
    assert relations == {}


def test_a_node_of_an_obo_graph_without_a_name_is_no_term(read):
    nodes = [{"id": f"{_OBO}DOID_162", "lbl": "cancer"}, {"id": f"{_OBO}DOID_4", "lbl": " "}]
    edges = [{"sub": f"{_OBO}DOID_162", "pred": "is_a", "obj": f"{_OBO}DOID_4"}]
    graph = {"graphs": [{"nodes": nodes, "edges": edges}]}
    _, concepts, relations = read("doid", "doid.json", json.dumps(graph))
    assert list(concepts) == ["DOID:162"]
    assert relations == {}


def test_a_byte_order_mark_before_json_is_no_mistake(read):
    text = "\ufeff" + json.dumps([{"id": "DOID:162", "name": "cancer"}])
    assert list(read("doid", "doid.json", text)[1]) == ["DOID:162"]


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.json", '[\n {"id": "DOID:1",\n  "name": }\n]', "a.json:3: this is not JSON"),
        ("b.json", '[{"id": "DOID:1"}]', "term 1 has no text under 'name'"),
        ("c.json", '[{"id": "DOID:1", "name": "x", "xrefs": 3}]', "'xrefs' no list"),
        ("d.json", '{"graphs": []}', "no graph with nodes"),
        ("e.obo", OBO + "\n[Term]\nid: DOID:5\n", f"e.obo:{_END + 2}: "),
        ("f.obo", OBO.replace('"NSCLC"', "NSCLC"), "f.obo:8: "),
        ("g.obo", OBO + "\nnot a tag\n", f"g.obo:{_END + 2}: 'not a tag'"),
        (
            "h.obo",
            OBO.encode() + b"\nname: caf\xe9\n",
            f"h.obo:{_END + 2}: byte 10 of this",
        ),
    ],
)
def test_errors_say_where(read, name, text, what):
    with pytest.raises(InputError) as caught:
        read("doid", name, text)
    assert what in str(caught.value)
