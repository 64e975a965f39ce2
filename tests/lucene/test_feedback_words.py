"""What feedback searches for is what it says, and it says so when it adds nothing."""

import pytest

from irplatform.lucene import BM25, RM3
from irplatform.lucene.java import java_class
from irplatform.plugin import Document

pytestmark = pytest.mark.java

_RELATED = [Document(f"r{n}", "kidney stone", "lithotripsy ureter") for n in range(3)]
_LAST = [Document("last", "ureter", "stent")]


def _others(number):
    return [Document(f"o{n}", f"asthma{n}", "inhaler") for n in range(number)]


@pytest.fixture(scope="module")
def wide(index_of):
    return index_of([*_RELATED, *_others(60), *_LAST])


@pytest.fixture(scope="module")
def narrow(index_of):
    return index_of([*_RELATED, *_others(8), *_LAST])


def _query(weights):
    """A Lucene query of weighted words, made by hand."""
    package = "org.apache.lucene.search"
    builder = java_class(f"{package}.BooleanQuery$Builder")()
    should = java_class(f"{package}.BooleanClause$Occur").SHOULD
    for word, weight in weights.items():
        term = java_class("org.apache.lucene.index.Term")("contents", word)
        one = java_class(f"{package}.TermQuery")(term)
        builder.add(java_class(f"{package}.BoostQuery")(one, weight), should)
    return builder.build()


@pytest.mark.parametrize("words", ["kidney stone", "stones of the kidney kidney", "ureter"])
@pytest.mark.parametrize("feedback", [RM3(), RM3(3, 2, 0.8), RM3(10, 10, 0.2)])
@pytest.mark.parametrize("engine", ["lucene", "impact"])
def test_the_words_and_weights_are_those_that_are_searched(wide, words, feedback, engine):
    weights, note = wide.expanded(words, BM25(), feedback)
    assert int(note.split()[0]) > 0
    assert sum(weights.values()) == pytest.approx(1)
    searched = wide.search({"q": words}, 10, feedback=feedback, engine=engine)["q"]
    ranking = wide.search({"q": _query(weights)}, 10)["q"]
    assert ranking.doc_ids == searched.doc_ids
    assert ranking.scores == pytest.approx(searched.scores, rel=1e-5)


@pytest.mark.parametrize("engine", ["lucene", "impact"])
def test_a_collection_where_every_word_is_common_gets_no_word_and_a_notice(narrow, capsys, engine):
    assert narrow.expanded("kidney stone", BM25(), RM3())[1].startswith("0 words added")
    queries = {"a": "kidney stone", "b": "stone"}
    narrow.search(queries, 10, feedback=RM3(), engine=engine)
    assert (
        "feedback adds no word to any topic (of those that at most 10%" in capsys.readouterr().err
    )
    narrow.search(queries, 10, engine=engine)
    assert "feedback" not in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["lucene", "impact"])
def test_one_topic_with_a_word_is_enough(wide, capsys, engine):
    wide.search({"a": "kidney", "b": "zzzunknown"}, 10, feedback=RM3(), engine=engine)
    assert "feedback adds no word" not in capsys.readouterr().err
