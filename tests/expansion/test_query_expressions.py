"""Expressions do in Lucene what they say."""

import pytest

from irplatform.expansion.expression import (
    Boolean,
    Boost,
    Constant,
    DisMax,
    Near,
    Phrase,
    Synonyms,
    Words,
    as_json,
    as_outline,
    as_text,
)
from irplatform.expansion.lucene_query import Compiler
from irplatform.lucene.java import java_class
from irplatform.plugin import Document

DOCUMENTS = [
    Document("lung", "Lung cancer", "Cancer of the lung."),
    Document("loss", "Loss of function", "PTEN."),
    Document("near", "Melanoma", "BRAF mutations in patients with melanoma."),
    Document("far", "Melanoma", f"BRAF {'word ' * 40} and skin melanoma."),
    Document("rare", "Rarename", "rarename"),
    Document("common", "Commonname", "commonname"),
    *(Document(f"c{n}", "Other", "commonname") for n in range(20)),
    Document("headings", "Some", "text", {"mesh": ("Lung Neoplasms", "Small Cell Carcinoma")}),
    Document("hodgkin", "Hodgkin lymphoma", "NRAS in Hodgkin lymphoma."),
    *(Document(f"n{n}", "Trial", "NRAS in non-Hodgkin lymphoma.") for n in range(3)),
    Document("both", "Non-Hodgkin lymphoma", "And Hodgkin lymphoma, too."),
    Document("of", "Disease of Hodgkin", "The disease of the Hodgkin kind."),
    *(Document(f"of{n}", "Trial", "Non-disease of the Hodgkin kind.") for n in range(2)),
    Document("syntax", "Minus", "plus AND title:melanoma"),
]


@pytest.fixture(scope="module")
def index(index_of):
    return index_of(DOCUMENTS, fields=("mesh",))


@pytest.fixture
def scores(index):
    compiler = Compiler(index.analyzer, index.reader_with(["title"]))

    def search(expression):
        query = compiler(expression)
        return dict(index.search({"q": query}, 100)["q"])

    return search


pytestmark = pytest.mark.java


def test_words_are_any_of_them_and_phrases_all_in_order(scores):
    assert set(scores(Words("lung pten"))) == {"lung", "loss"}
    assert set(scores(Phrase("lung cancer"))) == {"lung"}
    assert not scores(Phrase("function pten loss"))


def test_words_equal_the_plain_query(scores, index):
    plain = dict(index.search({"q": "cancer of the melanoma"}, 100)["q"])
    assert scores(Words("cancer of the melanoma")) == pytest.approx(plain)


def test_stop_words_leave_a_gap_in_phrases(scores):
    assert set(scores(Phrase("loss of function"))) == {"loss"}
    assert not scores(Phrase("loss function"))


def test_a_phrase_is_not_found_in_what_is_its_contrary(scores):
    assert set(scores(Phrase("Hodgkin lymphoma"))) == {"hodgkin", "both"}
    assert set(scores(Phrase("non-Hodgkin lymphoma"))) == {"n0", "n1", "n2", "both"}
    assert set(scores(Phrase("Hodgkin lymphoma", "title"))) == {"hodgkin"}
    assert set(scores(Near(("NRAS",), ("Hodgkin lymphoma",), 5))) == {"hodgkin"}


def test_stop_words_leave_their_gap_in_phrases_with_a_contrary(scores):
    assert set(scores(Phrase("disease of the Hodgkin kind"))) == {"of"}
    assert not scores(Phrase("disease Hodgkin kind"))


def test_leaving_out_the_contrary_changes_no_other_score(scores, index):
    builder = java_class("org.apache.lucene.util.QueryBuilder")(index.analyzer)
    query = builder.createPhraseQuery("contents", "Hodgkin lymphoma", 0)
    plain = dict(index.search({"q": query}, 100)["q"])
    assert set(plain) == {"hodgkin", "n0", "n1", "n2", "both"}
    assert scores(Phrase("Hodgkin lymphoma"))["hodgkin"] == pytest.approx(plain["hodgkin"])


def test_no_phrase_matches_across_two_headings(scores):
    assert set(scores(Phrase("lung neoplasms", "mesh"))) == {"headings"}
    assert not scores(Phrase("neoplasms small cell", "mesh"))


def test_nothing_is_syntax(scores):
    assert set(scores(Words("-plus title:melanoma"))) == {"syntax"}  # a colon does not end a word
    assert set(scores(Phrase('"lung" cancer~'))) == {"lung"}
    assert scores(Words("lung \ud83e")) == scores(Words("lung ?"))


def test_weights_multiply_and_constants_count_once(scores):
    once, twice = (scores(Boost(Words("rarename"), w))["rare"] for w in (1.0, 2.0))
    assert twice == pytest.approx(2 * once)
    assert scores(Constant(Words("lung")))["lung"] == 1.0


def test_a_disjunction_takes_the_best_and_a_share_of_the_rest(scores):
    lung, cancer = (scores(Words(word))["lung"] for word in ("lung", "cancer"))
    parts = (Words("lung"), Words("cancer"))
    assert scores(DisMax(parts))["lung"] == pytest.approx(max(lung, cancer))
    mixed = max(lung, cancer) + 0.5 * min(lung, cancer)
    assert scores(DisMax(parts, tie=0.5))["lung"] == pytest.approx(mixed)


def test_rare_synonyms_go_before_common_ones_in_a_disjunction_but_not_among_synonyms(scores):
    names = (Phrase("rarename"), Phrase("commonname"))
    plain = scores(DisMax(names))
    assert plain["rare"] > 2 * plain["common"]
    fair = scores(Synonyms(tuple((name, 1.0) for name in names)))
    assert fair["rare"] == pytest.approx(fair["common"])
    doubted = scores(Synonyms(((names[0], 0.5), (names[1], 1.0))))
    assert doubted["rare"] == pytest.approx(0.5 * doubted["common"])


def test_the_same_names_are_counted_once(index, monkeypatch):
    calls = []
    count = Compiler.count
    monkeypatch.setattr(Compiler, "count", lambda *arguments: calls.append(1) or count(*arguments))
    names = Synonyms(((Phrase("rarename"), 1.0), (Phrase("commonname"), 0.5)))
    query = Boolean(should=(names, Boost(names, 2.0)))
    compiler = Compiler(index.analyzer, index.reader_with(["title"]))
    remembered = compiler(query), compiler(names)
    assert len(calls) == 1
    for part, lucene_query in zip((query, names), remembered, strict=True):
        assert Compiler(index.analyzer, index.reader_with(["title"]))(part).equals(lucene_query)


def test_synonyms_of_one_name_are_that_name(scores):
    assert scores(Synonyms(((Phrase("melanoma"), 1.0),))) == pytest.approx(
        scores(Phrase("melanoma"))
    )


def test_near_finds_what_is_close_in_either_order(scores):
    results = scores(Near(("melanoma",), ("BRAF mutations", "BRAF"), gaps=5))
    assert set(results) == {"near", "far"}  # of "far" the title is next to the abstract
    assert set(scores(Near(("skin melanoma",), ("BRAF",), gaps=5))) == set()
    assert set(scores(Near(("BRAF",), ("skin melanoma", "patients"), gaps=5))) == {"near"}
    assert all(0 < score <= 1 for score in results.values())


def test_required_and_filtering_parts(scores):
    query = Boolean(must=(Words("melanoma"),), filter=(Phrase("patients"),))
    assert set(scores(query)) == {"near"}
    assert set(scores(Boolean(should=(Words("lung"), Words("cancer")), minimum=2))) == {"lung"}


def test_parts_without_words_are_left_out(scores):
    empty = (Words("the of"), Phrase(""), Near(("the",), ("lung",), 3), Synonyms(()), DisMax(()))
    assert scores(Boolean(should=empty)) == {}
    assert scores(Boolean(should=(*empty, Words("pten")))) == scores(Words("pten"))


def test_an_expression_can_be_read():
    names = Synonyms(((Phrase("BRAF", note="topic"), 1.0), (Phrase("BRAF1"), 0.6)), note="BRAF")
    query = Boolean(
        should=(Boost(names, 2.0, "gene.weight"), Near(("a",), ("b",), 9)),
        filter=(Constant(Phrase("x y", "mesh")), DisMax((Words("u v"),), 0.5, "w")),
    )
    assert as_text(as_json(query)).splitlines() == [
        "sum",
        '  filter: mesh: "x y", counted once',
        "  filter: best of (w), tie 0.5",
        "    contents: u v",
        "  2 × names of (BRAF)   [gene.weight]",
        '    1 × contents: "BRAF" (topic)',
        '    0.6 × contents: "BRAF1"',
        "  contents: within 9 words of each other: a  AND  b",
    ]


def test_an_outline_has_a_line_for_each_part_and_counts_most_names():
    def names(count, field="contents"):
        phrases = ((Phrase(f"name {n}", field, note="alias"), 1.0) for n in range(count))
        return Synonyms(tuple(phrases), note="BRAF")

    near = Near(("a", "b", "c", "d", "e"), ("f",), 9)
    conditions = Boolean(must=(Constant(names(9)), DisMax((names(2), near))))
    query = Boolean(
        should=(
            Boost(names(9), 2.0, "gene.weight"),
            Boost(DisMax((Phrase("x y", "mesh"), Phrase("z", "mesh")), 0.5), 0.3),
            Boost(names(4, "title"), 0.2),
            near,
            Boost(conditions, 0.5, "near.both"),
        ),
        filter=(Words("lung pten"),),
    )
    assert as_outline(as_json(query)).splitlines() == [
        "  filter: contents: lung pten",
        '  2 × contents: names of (BRAF): "name 0", "name 1", "name 2", … 6 more   [gene.weight]',
        '  0.3 × mesh: best of: "x y", "z"',
        '  0.2 × title: names of (BRAF): "name 0", "name 1", "name 2", "name 3"',
        "  contents: within 9 words of each other: a | b | c | … 2 more  AND  f",
        "  0.5 × sum: must names of (BRAF); must names of (BRAF) | contents: within 9 words of "
        "each other: a | b | c | … 2 more  AND  f   [near.both]",
    ]
    assert as_outline(as_json(Words("lung pten"))) == "  contents: lung pten"
