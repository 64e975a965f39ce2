"""Of the mappings that an ontology qualifies, only exact ones are the same thing, in any format."""

import json

import pytest
from ontologies import OBO_IN_OWL, OBO_PURL

_PRECISION = "http://purl.obolibrary.org/obo/ECO_0000218"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
STRENGTHS = {
    "E (Exact mapping: the two concepts are equivalent)": True,
    "- E (Exact mapping: the two concepts are equivalent)": True,
    "E": True,
    "MONDO:equivalentTo": True,
    "Orphanet:7/e": True,
    "skos:exactMatch": True,
    "NTBT (narrower term maps to a broader term)": False,
    "- BTNT (ORPHA code's Broader Term maps to a Narrower Term)": False,
    "BTNT": False,
    "NTBT": False,
    "Orphanet:7/ntbt": False,
    "W (incorrect mapping: two different concepts)": False,
    "ND (not yet decided/unable to decide)": False,
    "MONDO:relatedTo": False,
    "MONDO:mondoIsNarrowerThanSource": False,
    "skos:closeMatch": False,
    "inexact": False,
    "Wikipedia": True,  # says nothing
}


def _obo(words):
    lines = ["[Term]", "id: MY:5", "name: oddness", f'xref: ICD10:Q7 {{source="{words}"}}']
    return "t.obo", "\n".join(lines)


def _obo_precision(words):
    return "t.obo", _obo(words)[1].replace("source", _PRECISION)


def _graph(words):
    meta = {"basicPropertyValues": [{"pred": f"{OBO_IN_OWL}source", "val": words}]}
    return _graph_of(meta)


def _graph_of(meta):
    node = {"id": "MY:5", "lbl": "oddness", "meta": {"xrefs": [{"val": "ICD10:Q7", "meta": meta}]}}
    return "t.json", json.dumps({"graphs": [{"nodes": [node]}]})


def _graph_xrefs(words):
    return _graph_of({"xrefs": [words]})


def _owl(words, tag="obo:ECO_0000218", axiom="owl:Axiom", kind=""):
    about = f"{OBO_PURL}MY_5"
    return (
        "t.owl",
        f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:in="{OBO_IN_OWL}" xmlns:obo="{OBO_PURL}">
 <owl:Class rdf:about="{about}"><rdfs:label>oddness</rdfs:label>
 <in:hasDbXref>ICD10:Q7</in:hasDbXref></owl:Class>
 <{axiom}>{kind}<owl:annotatedSource rdf:resource="{about}"/>
 <owl:annotatedProperty rdf:resource="{OBO_IN_OWL}hasDbXref"/>
 <owl:annotatedTarget>ICD10:Q7</owl:annotatedTarget><{tag}>{words}</{tag}></{axiom}></rdf:RDF>""",
    )


def _owl_source(words):
    return _owl(words, "in:source")


def _owl_description(words):
    kind = '<rdf:type rdf:resource="http://www.w3.org/2002/07/owl#Axiom"/>'
    return _owl(words, "obo:ECO_0000218", "rdf:Description", kind)


@pytest.mark.parametrize(("words", "same"), STRENGTHS.items())
@pytest.mark.parametrize(
    "form",
    [_obo, _obo_precision, _graph, _graph_xrefs, _owl, _owl_source, _owl_description],
)
def test_only_exact_mappings_are_the_same_thing(read, form, words, same):
    (concept,) = read("mine", *form(words))[1].values()
    assert ("ICD10:Q7" in concept.xrefs) is same


@pytest.mark.parametrize("word", ["exact", "close", "broad", "narrow", "related", "some"])
def test_only_exact_matches_are_the_same_thing(read, word):
    obo = "t.obo", f"[Term]\nid: MY:5\nname: x\nproperty_value: skos:{word}Match ICD10:Q7\n"
    values = [{"pred": f"{_SKOS}{word}Match", "val": "ICD10:Q7"}]
    node = {"id": "MY:5", "lbl": "oddness", "meta": {"basicPropertyValues": values}}
    graph = "t.json", json.dumps({"graphs": [{"nodes": [node]}]})
    name, text = _owl("x")
    text = text.replace("in:hasDbXref>", f"skos:{word}Match>").replace(
        "xmlns:in=", f'xmlns:skos="{_SKOS}" xmlns:in='
    )
    for form in (obo, graph, (name, text)):
        (concept,) = read("mine", *form)[1].values()
        assert ("ICD10:Q7" in concept.xrefs) is (word == "exact")
