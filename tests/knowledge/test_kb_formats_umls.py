"""Concepts of UMLS and RxNorm, as JSON lines and in the Rich Release Format."""

import json

import pytest

from irplatform.errors import InputError
from irplatform.knowledge import add, open_knowledge
from irplatform.knowledge.model import Name

ENTITIES = [
    {
        "concept_id": "C0025202",
        "canonical_name": "melanoma",
        "aliases": ["Malignant Melanoma ", "MM", "melanoma", " "],
        "types": ["T191"],
        "definition": "A malignant neoplasm.",
    },
    {"concept_id": "D000077156", "canonical_name": "Gefitinib", "aliases": [], "types": ["T121"]},
    {
        "concept_id": "C0812241",
        "canonical_name": "BRAF gene",
        "aliases": ["BRAF"],
        "types": ["T028"],
    },
    {"concept_id": "HP:0002861", "canonical_name": "Mole", "aliases": [], "types": []},
]


def test_entities_of_scispacy(read):
    format_name, concepts, relations = read("umls", "e.jsonl", "\n".join(map(json.dumps, ENTITIES)))
    assert (format_name, relations) == ("umls-jsonl", {})
    kinds = {concept_id: concept.kind for concept_id, concept in concepts.items()}
    assert kinds == {
        "UMLS:C0025202": "disease",
        "MESH:D000077156": "drug",
        "UMLS:C0812241": "gene",
        "HP:0002861": "other",
    }
    names = [(name.text, name.kind) for name in concepts["UMLS:C0025202"].names]
    assert names == [("Malignant Melanoma", "synonym"), ("MM", "abbreviation")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "e.jsonl:2: this line is not JSON"),
        ('{"concept_id": "C1"}', "line 2 has no text under"),
    ],
)
def test_a_broken_line_is_named(read, line, message):
    with pytest.raises(InputError, match=message):
        read("umls", "e.jsonl", f"{json.dumps(ENTITIES[0])}\n{line}\n")


def _name(concept, text, *, form="S|L1|PF|S1|N", source="MSH|ET|D1", suppress="N", language="ENG"):
    return f"{concept}|{language}|{form}|A1||M1|D1|{source}|{text}|0|{suppress}||\n"


MRCONSO = (
    _name("C0025202", "Malignant Melanoma")
    + _name("C0025202", "melanoma (tumour)", form="P|L1|VO|S1|N")
    + _name("C0025202", "Melanoma", form="P|L1|PF|S1|Y", source="MSH|MH|D008545")
    + _name("C0025202", "MM", source="NCI|PT|C3224")
    + _name("C0025202", "Melanom", language="GER")
    + _name("C0025202", "old", suppress="O")
    + _name("C0025202", "odd", suppress="Y")
    + _name("C0812241", "BRAF gene", source="HGNC|PT|HGNC:1097")
    + _name("C1512409", "Hepatic")
)
MRSTY = (
    "C0025202|T191|B2.2.1.2.1.2|Neoplastic Process|AT1|256|\n"
    "C0812241|T028|A1.2.3.5|Gene or Genome|AT2|256|\n"
)


def test_umls_in_rrf(read, write, capsys):
    write("MRSTY.RRF", MRSTY)
    format_name, concepts, _ = read("umls", "MRCONSO.RRF", MRCONSO)
    assert format_name == "umls-rrf"
    kinds = {concept.id: concept.kind for concept in concepts.values()}
    assert kinds == {"UMLS:C0025202": "disease", "UMLS:C0812241": "gene", "UMLS:C1512409": "other"}
    melanoma = concepts["UMLS:C0025202"]
    assert melanoma.names == (
        Name("Melanoma", "preferred"),
        Name("melanoma (tumour)", "synonym"),
        Name("Malignant Melanoma", "synonym"),
        Name("MM", "abbreviation"),
    )
    assert melanoma.xrefs == ("MESH:D008545", "NCIT:C3224")
    assert concepts["UMLS:C0812241"].xrefs == ("HGNC:1097",)
    notice = "left out: 1 name in other languages, 1 name obsolete, 1 name suppressed."
    assert notice in capsys.readouterr().err


def test_kinds_of_umls_are_part_of_the_knowledge_base(fresh_home, write, capsys):
    path = write("MRCONSO.RRF", MRCONSO)
    add("umls", [path])
    assert "no MRSTY.RRF beside it" in capsys.readouterr().err
    write("MRSTY.RRF", MRSTY)
    manifest = add("umls", [path])
    assert manifest.counts["concepts"] == {"disease": 1, "gene": 1, "other": 1}
    assert [source["file"] for source in manifest.sources] == ["MRCONSO.RRF", "MRSTY.RRF"]
    assert open_knowledge(["umls"]).concept("UMLS:C0025202").kind == "disease"
    assert add("umls", [path, path.with_name("MRSTY.RRF")]) == manifest


def test_semantic_types_alone_are_no_knowledge_base(fresh_home, write):
    with pytest.raises(InputError, match=r"Add MRCONSO\.RRF"):
        add("umls", [write("MRSTY.RRF", MRSTY)])


@pytest.mark.parametrize("kb", ["umls", "rxnorm"])
def test_rxnorm_in_rrf(read, kb):
    empty = "|||||"
    rows = [
        ("1147220", "SCD", "Zelboraf 240 MG"),
        ("1147220", "IN", "vemurafenib"),
        ("7", "DF", "Gel"),
    ]
    text = "".join(
        f"{concept}|ENG{empty}|1|1|{concept}||RXNORM|{kind}|1|{name}||N|4096|\n"
        for concept, kind, name in rows
    )
    format_name, concepts, _ = read(kb, "RXNCONSO.RRF", text)
    assert format_name == "rxnorm-rrf"
    assert (concepts["RXNORM:1147220"].name, concepts["RXNORM:1147220"].kind) == (
        "vemurafenib",
        "drug",
    )
    assert concepts["RXNORM:7"].kind == "other"


def test_a_short_line_of_rrf_is_named(read):
    with pytest.raises(InputError, match=r"MRCONSO\.RRF:10: this is not 18 columns"):
        read("umls", "MRCONSO.RRF", MRCONSO + "C1|ENG|\n")
