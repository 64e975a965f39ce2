"""Records of ir_datasets become documents and topics."""

from typing import NamedTuple

import ir_datasets
import pytest
from ir_datasets.formats import GenericDoc, GenericQuery

from irplatform.collections.irds_corpora import document, layout, topic


class PmDoc(NamedTuple):
    doc_id: str
    title: str
    abstract: str
    year: int
    mesh: list[str]
    source: bytes


class PmQuery(NamedTuple):
    query_id: str
    disease: str
    gene: str
    demographic: str

    def default_text(self):
        return f"{self.disease} {self.gene} {self.demographic}"


class PageDoc(NamedTuple):
    doc_id: str
    title: str
    parts: tuple[tuple[str, str], ...]

    def default_text(self):
        return f"{self.title} {' '.join(text for _, text in self.parts)}"


def test_a_record_with_title_and_abstract_keeps_the_rest_as_fields():
    record = PmDoc("1", "T", None, 1999, ["A", "B"], b"<html>")
    assert layout(PmDoc).fields == ("year", "mesh")
    article = document(record)
    assert (article.id, article.title, article.abstract) == ("1", "T", "")
    assert article.fields == {"year": "1999", "mesh": ("A", "B")}


def test_a_record_with_nothing_but_text_has_an_abstract():
    article = document(GenericDoc("1", "text"))
    assert (article.title, article.abstract, article.fields) == ("", "text", {})


def test_a_record_without_a_text_gives_its_default_text_less_the_title():
    article = document(PageDoc("1", "Head", (("a", "first"), ("b", "second"))))
    assert (article.title, article.abstract) == ("Head", "first second")


class Image(NamedTuple):
    doc_id: str
    url: str
    png: bytes


def test_a_record_without_any_text_is_an_empty_document():
    article = document(Image("1", "http://example.org", b""))
    assert (article.title, article.abstract, article.fields) == (
        "",
        "",
        {"url": "http://example.org"},
    )


class Section(NamedTuple):
    title: str
    text: str


class FullText(NamedTuple):
    doc_id: str
    title: str
    abstract: str
    body: tuple[Section, ...]


class Trial(NamedTuple):
    doc_id: str
    title: str
    summary: str
    detailed_description: str
    eligibility: str


def test_the_text_of_a_full_text_goes_on_with_its_sections():
    article = document(
        FullText("1", "T", "short", (Section("Methods", "long"), Section("", "end")))
    )
    assert (article.title, article.abstract, article.fields) == (
        "T",
        "short\nMethods\nlong\nend",
        {},
    )
    assert document(FullText("1", "T", "short", ())).abstract == "short"


def test_the_text_of_a_trial_has_its_description_and_criteria():
    article = document(Trial("1", "T", "summary", "", "adults"))
    assert (article.abstract, article.fields) == ("summary\nadults", {})
    assert layout(Trial).fields == ()


@pytest.mark.parametrize("dataset_id", ["cord19/fulltext", "pmc/v2", "clinicaltrials/2021"])
def test_full_texts_and_trials_are_searched_whole(dataset_id):
    assert layout(ir_datasets.load(dataset_id).docs_cls()).further


def test_the_body_of_a_page_that_is_bytes_is_no_text():
    assert layout(ir_datasets.load("clueweb12").docs_cls()).further == ()


def test_the_query_of_a_precision_medicine_topic_is_disease_and_gene():
    result = topic(PmQuery("7", "melanoma", "BRAF", "64-year-old male"))
    assert result.query == "melanoma BRAF"
    assert result.fields["demographic"] == "64-year-old male"


def test_the_query_of_another_topic_is_its_default_text():
    assert topic(GenericQuery("1", " two  words ")).query == "two words"


def test_the_parts_of_a_topic_are_flat_and_not_empty():
    result = topic(PmQuery("7", "\n  melanoma\n  (skin) ", "BRAF", " "))
    assert result.fields == {"disease": "melanoma (skin)", "gene": "BRAF"}
