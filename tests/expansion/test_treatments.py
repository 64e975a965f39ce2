"""Treatments of topics are searched by all their names."""

import pytest
from expanded_topics import TOPIC, names_of

from irplatform.expansion.expression import as_json, as_text
from irplatform.plugin import Topic

pytestmark = pytest.mark.java
TREATED = Topic(
    "1", TOPIC.query, {**TOPIC.fields, "treatment": "trastuzumab emtansine and lapatinib"}
)


def test_treatments_are_searched_by_all_their_names(expander):
    query = expander(treatment={"title": 0.5, "heading": 0.5}).expression(TREATED)
    names = names_of(query, "treatment.weight")
    assert {"trastuzumab emtansine", "Kadcyla", "lapatinib"} <= set(names)
    assert names_of(query, "treatment.named").keys() == names.keys()
    assert names_of(query, "treatment.title").keys() == names.keys()
    assert set(names_of(query, "treatment.heading")) == {"Lapatinib"}
    assert "T" not in names, "its documents never name the drug otherwise"
    assert "Unusedinib" not in names, "no document has it"


def test_the_explanation_tells_names_that_count_once_from_names_that_are_scored(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "Lapatinib"})
    text = as_text(as_json(expander().expression(topic)))
    assert "0.3 × names of (Lapatinib)   [treatment.weight]" in text
    assert "4 × names of (Lapatinib), counted once   [treatment.named]" in text


def test_a_document_with_the_treatment_under_another_name_comes_first(expander, index):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "trastuzumab emtansine"})
    query = expander().query(topic)
    assert index.search({"1": query}, 1)["1"].doc_ids == ("tdm1",)


def test_a_treatment_that_nobody_knows_is_searched_by_its_words(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "watchful waiting"})
    parts = as_json(expander().expression(topic))["parts"]
    (part,) = (part for part in parts if part.get("setting") == "treatment.weight")
    assert (part["kind"], part["text"]) == ("words", "watchful waiting")


def test_a_treatment_that_is_no_drug_is_searched_by_its_names(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "Radiation Therapy"})
    assert "Radiotherapy" in names_of(expander().expression(topic), "treatment.weight")


def treatments_of(expander, text):
    """What the treatments of a topic are called, and whether somebody knows them."""
    topic = Topic("1", "", {**TOPIC.fields, "treatment": text})
    return [(names.text, bool(names.concepts)) for names in expander().parts(topic).treatments]


@pytest.mark.parametrize(
    ("text", "treatments"),
    [
        ("trastuzumab emtansine + Lapatinib", ["trastuzumab emtansine", "Lapatinib"]),
        ("Lapatinib & trastuzumab emtansine", ["Lapatinib", "trastuzumab emtansine"]),
        ("Lapatinib in combination with Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib combined with Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib and/or Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib-Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib/trastuzumab emtansine", ["Lapatinib", "trastuzumab emtansine"]),
        ("Lapatinib,trastuzumab emtansine", ["Lapatinib", "trastuzumab emtansine"]),
        (("Lapatinib", "", "radiation therapy"), ["Lapatinib", "radiation therapy"]),
        (("", "Lapatinib"), ["Lapatinib"]),
        ("Lapatinib (Tykerb)", ["Lapatinib"]),
        ("Kadcyla or trastuzumab emtansine", ["Kadcyla"]),
    ],
)
def test_treatments_are_parted(expander, text, treatments):
    assert treatments_of(expander, text) == [(name, True) for name in treatments]


@pytest.mark.parametrize(
    "text",
    [
        "CDK4/6 inhibitor",
        "1,25-dihydroxyvitamin",
        "ERBB2",
        "erb two protein inhibitor",
        "Lapatinib-resistant",
    ],
)
def test_a_treatment_is_not_taken_for_the_gene_or_the_number_in_its_name(expander, text):
    assert treatments_of(expander, text) == [(text, False)]


@pytest.mark.parametrize("text", ["-", "?", "N/A", "and", " ", ",", "the", ("", "")])
def test_a_treatment_without_words_asks_for_nothing(expander, index, text):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": text})
    rankings = index.search({topic.id: expander().query(topic)}, 9)
    without = index.search({"1": expander().query(TOPIC)}, 9)
    assert rankings["1"].doc_ids == without["1"].doc_ids


def test_a_document_has_a_treatment_that_nobody_knows_where_it_has_all_its_words(expander, index):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "the sarcomas PDGFRα"})
    parts = {part.setting: part.expression for part in expander().components(topic)}
    query = expander().compiled(parts["treatment.named"])
    assert index.search({"1": query}, 9)["1"].doc_ids == ("greek",)
    other = Topic("1", "", {**TOPIC.fields, "treatment": "lymphocytes of sarcomas"})
    parts = {part.setting: part.expression for part in expander().components(other)}
    query = expander().compiled(parts["treatment.named"])
    assert not index.search({"1": query}, 9)["1"].doc_ids


def test_topics_with_nothing_but_a_treatment_are_searched_by_its_names_too(expander, index):
    topic = Topic("1", "pulmonary cancer", {"treatment": "trastuzumab emtansine"})
    assert "Kadcyla" in names_of(expander().expression(topic), "treatment.weight")
    query = expander(required=("treatment",)).query(topic)
    assert set(index.search({"1": query}, 9)["1"].doc_ids) == {"kadcyla", "tdm1"}


def test_topics_without_a_treatment_are_searched_as_if_there_were_none(expander):
    without = expander(treatment={"weight": 0, "named": 0})
    assert as_json(expander().expression(TOPIC)) == as_json(without.expression(TOPIC))
    assert not [p for p in expander().components(TOPIC) if p.setting.startswith("treatment.")]
