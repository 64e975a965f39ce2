import json

import pytest

from irplatform.errors import InputError

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
    how, concepts, relations = read("umls", "e.jsonl", "\n".join(map(json.dumps, ENTITIES)))
    assert (how, relations) == ("umls-jsonl", {})
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
