"""An ontology says the same in OBO, as an OBO graph and in OWL."""

import json

import pytest
from ontologies import OBO_IN_OWL, OBO_PURL

from irplatform.knowledge.formats.terms import term_id
from irplatform.knowledge.model import Name

_SKOS = "http://www.w3.org/2004/02/skos/core#"
IN_OBO = """format-version: 1.2
ontology: mondo

[Term]
id: MONDO:0005105
name: melanoma
synonym: "MM" EXACT OMO:0003012 []
synonym: "skin cancer" BROAD []
alt_id: MONDO:1
xref: DOID:1909 {source="MONDO:equivalentTo", source="DOID:1909"}
xref: ICD9:172 {source="MONDO:relatedTo"}
xref: NCI:C3224
property_value: skos:exactMatch "MESH:D008545" xsd:string
property_value: skos:broadMatch http://identifiers.org/snomedct/1
is_a: MONDO:0045024 ! cancer

[Term]
id: MONDO:0045024
name: cancer
"""
IN_GRAPH = {
    "graphs": [
        {
            "nodes": [
                {
                    "id": f"{OBO_PURL}MONDO_0005105",
                    "lbl": "melanoma",
                    "type": "CLASS",
                    "meta": {
                        "synonyms": [
                            {
                                "pred": "hasExactSynonym",
                                "val": "MM",
                                "synonymType": f"{OBO_PURL}OMO_0003012",
                            },
                            {"pred": "hasBroadSynonym", "val": "skin cancer"},
                        ],
                        "xrefs": [
                            {
                                "val": "DOID:1909",
                                "meta": {
                                    "basicPropertyValues": [
                                        {"pred": f"{OBO_IN_OWL}source", "val": "MONDO:equivalentTo"}
                                    ]
                                },
                            },
                            {"val": "ICD9:172"},
                            {"val": "NCI:C3224"},
                        ],
                        "basicPropertyValues": [
                            {"pred": f"{OBO_IN_OWL}hasAlternativeId", "val": "MONDO:1"},
                            {"pred": f"{_SKOS}exactMatch", "val": "MESH:D008545"},
                            {"pred": f"{_SKOS}relatedMatch", "val": "ICD9:172"},
                            {
                                "pred": f"{_SKOS}broadMatch",
                                "val": "http://identifiers.org/snomedct/1",
                            },
                        ],
                    },
                },
                {"id": f"{OBO_PURL}MONDO_0045024", "lbl": "cancer", "type": "CLASS"},
                {"id": f"{OBO_PURL}RO_0001", "lbl": "part of", "type": "PROPERTY"},
            ],
            "edges": [
                {
                    "sub": f"{OBO_PURL}MONDO_0005105",
                    "pred": "is_a",
                    "obj": f"{OBO_PURL}MONDO_0045024",
                }
            ],
        }
    ]
}
_ABOUT = "http://purl.obolibrary.org/obo/MONDO_0005105"
IN_OWL = f"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY obo "http://purl.obolibrary.org/obo/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:skos="{_SKOS}" xmlns:in="{OBO_IN_OWL}" xmlns:obo="{OBO_PURL}">
<owl:Axiom><owl:annotatedSource rdf:resource="{_ABOUT}"/>
 <owl:annotatedProperty rdf:resource="{OBO_IN_OWL}hasExactSynonym"/>
 <owl:annotatedTarget>MM</owl:annotatedTarget>
 <in:hasSynonymType rdf:resource="&obo;OMO_0003012"/></owl:Axiom>
<owl:AnnotationProperty rdf:about="&obo;IAO_1"><rdfs:label>a</rdfs:label></owl:AnnotationProperty>
<owl:Class rdf:about="&obo;MONDO_0005105">
 <rdfs:label xml:lang="de">Melanom</rdfs:label><rdfs:label xml:lang="en">melanoma</rdfs:label>
 <in:hasExactSynonym>MM</in:hasExactSynonym><in:hasBroadSynonym>skin cancer</in:hasBroadSynonym>
 <in:hasExactSynonym xml:lang="fr">mélanome</in:hasExactSynonym>
 <in:hasAlternativeId>MONDO:1</in:hasAlternativeId>
 <in:hasDbXref>DOID:1909</in:hasDbXref><in:hasDbXref>ICD9:172</in:hasDbXref>
 <in:hasDbXref>NCI:C3224</in:hasDbXref>
 <skos:exactMatch>MESH:D008545</skos:exactMatch>
 <skos:broadMatch rdf:resource="http://identifiers.org/snomedct/1"/>
 <rdfs:subClassOf rdf:resource="&obo;MONDO_0045024"/>
 <rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="&obo;RO_1"/></owl:Restriction>
 </rdfs:subClassOf></owl:Class>
<owl:Axiom><owl:annotatedSource rdf:resource="{_ABOUT}"/>
 <owl:annotatedProperty rdf:resource="{OBO_IN_OWL}hasDbXref"/>
 <owl:annotatedTarget>ICD9:172</owl:annotatedTarget><in:source>MONDO:relatedTo</in:source></owl:Axiom>
<rdf:Description rdf:about="&obo;MONDO_0045024">
 <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#Class"/><rdfs:label>cancer</rdfs:label>
</rdf:Description>
<owl:Class rdf:about="&obo;MONDO_9"><rdfs:label>old</rdfs:label>
 <owl:deprecated>true</owl:deprecated></owl:Class>
</rdf:RDF>
"""


@pytest.mark.parametrize(
    ("name", "text", "format_name"),
    [
        ("mondo.obo", IN_OBO, "obo"),
        ("mondo.json.gz", json.dumps(IN_GRAPH), "obo-graph"),
        ("mondo.owl", IN_OWL, "owl"),
    ],
)
def test_an_ontology_says_the_same_in_every_format(read, name, text, format_name):
    file_format, concepts, relations = read("mondo", name, text)
    assert file_format == format_name
    assert set(concepts) == {"MONDO:0005105", "MONDO:0045024"}
    melanoma = concepts["MONDO:0005105"]
    assert (melanoma.name, melanoma.kind) == ("melanoma", "disease")
    assert melanoma.names == (
        Name("melanoma", "preferred"),
        Name("MM", "abbreviation"),
        Name("skin cancer", "broad"),
    )
    same = {"MONDO:1", "DOID:1909", "NCIT:C3224", "MESH:D008545"}  # but not what is related
    assert set(melanoma.xrefs) == same
    assert relations == {("MONDO:0005105", "is-a", "MONDO:0045024"): ""}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://www.orpha.net/ORDO/Orphanet_44", "ORPHANET:44"),
        ("https://identifiers.org/hgnc/HGNC:1097", "HGNC:1097"),
        ("https://omim.org/entry/155600", "OMIM:155600"),
        ("http://linkedlifedata.com/resource/umls/id/C0025202", "UMLS:C0025202"),
        ("http://example.org/my.owl#Breast_Cancer", "MY:Breast_Cancer"),
        ("SNOMEDCT_US_2023_03_01:12", "SNOMEDCT:12"),
        ("fever", "TERM:fever"),
    ],
)
def test_addresses_are_compact_ids(address, expected):
    assert term_id(address) == expected
