"""Which drugs are treatments, and what they are called."""

from collections import Counter

import pytest

from irplatform.concepts.build import concept_table
from irplatform.concepts.table import ConceptTable
from irplatform.errors import InputError
from irplatform.judgments.treatments.drugs import drug_name, related_drugs, treatments
from irplatform.judgments.treatments.linking import Named
from irplatform.knowledge import open_knowledge


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        ({"STI571": 9, "imatinib": 2, "Gleevec": 1}, "imatinib"),
        ({"Imatinib": 2, "imatinib": 1, "Gleevec": 2}, "Imatinib"),
        ({"5-fluorouracil": 5, "fluorouracil": 1, "5-FU": 9}, "fluorouracil"),
        ({"5-azacytidine": 1}, "5-azacytidine"),
        ({"sirolimus": 1, "sirolimus's": 1}, "sirolimus"),
        ({"platinum-based": 1, "platinum": 9}, None),
    ],
)
def test_a_drug_is_called_by_its_most_frequent_name_that_is_no_code(texts, name):
    assert drug_name(texts) == name


@pytest.mark.parametrize(
    "texts",
    [
        {"PLX4720": 9, "PLX-4720": 1},
        {"taxane": 9, "taxanes": 1},
        {"anthracyclines": 1},
        {"MEK inhibitor": 1},
        {"MEK inhibitor": 9, "MEK inhibitors": 1, "MEKi": 20},
        {"hormone therapy": 1},
        {},
    ],
)
def test_codes_and_classes_have_no_name(texts):
    assert drug_name(texts) is None


def test_a_slip_makes_no_class():
    assert drug_name({"imatinib": 200, "imatinibs": 1}) == "imatinib"


@pytest.fixture
def found(bases):
    """What two articles name."""

    def found(*names):
        table = ConceptTable(concept_table(names))
        texts = {
            "a": {"X:1": "imatinib", "X:6": "glucose"},
            "b": {"X:2": "Glivec", "X:7": "PLX4720"},
            "c": {},
        }
        articles = {
            article: Counter({Named(table.concept_of(i), text): 1 for i, text in held.items()})
            for article, held in texts.items()
        }
        knowledge = open_knowledge(names)
        return treatments(articles, related_drugs(table, knowledge), table, knowledge)

    return found


def test_treatments_are_drugs_that_some_source_relates_to_something(found):
    drugs = found("names", "relations")
    assert drugs.of == {"a": {"Glivec"}, "b": {"Glivec"}, "c": set()}
    assert drugs.found == 3


def test_without_relations_nothing_tells_what_a_treatment_is(found):
    with pytest.raises(InputError, match=r"\(names\) relate no drug .* such as civic or dgidb"):
        found("names")
