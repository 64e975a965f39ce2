"""Structured queries over copied postings give Lucene's rankings, to the bit."""

import random

import numpy as np
import pytest

from irplatform.expansion import expression
from irplatform.expansion.lucene_query import Compiler
from irplatform.lucene import BM25, structured
from irplatform.plugin import Document

pytestmark = pytest.mark.java
WORDS = [f"w{number:02}" for number in range(40)]
FIELDS = ("contents", "title", "mesh")


def words(generator, count):
    return " ".join(WORDS[min(int(generator.expovariate(0.08)), 39)] for _ in range(count))


@pytest.fixture(scope="module")
def index(index_of):
    generator = random.Random(3)
    documents = [
        Document(
            f"d{number}",
            words(generator, 6),
            words(generator, generator.choice((0, 20, 150))),
            {"mesh": tuple(words(generator, 2) for _ in range(3)), "year": str(1990 + number % 9)},
        )
        for number in range(500)
    ]
    return index_of(documents, fields=("mesh", "year"))


def random_query(generator, depth=3):  # noqa: PLR0911
    """A random query of every kind."""

    def several(most=4):
        return tuple(random_query(generator, depth - 1) for _ in range(generator.randint(1, most)))

    def phrase():
        return expression.Phrase(
            words(generator, generator.choice((1, 1, 2))), generator.choice(FIELDS)
        )

    kind = generator.choice(("words", "phrase", "near") if not depth else ("sum", "sum", "best",
        "boost", "constant", "names", "required", "words", "near"))  # fmt: skip
    match kind:
        case "words":
            return expression.Words(
                words(generator, generator.randint(1, 5)), generator.choice(FIELDS)
            )
        case "phrase":
            return phrase()
        case "near":
            return expression.Near(
                (words(generator, 1), words(generator, 2)), (words(generator, 1),), 5
            )
        case "names":
            return expression.Synonyms(tuple((phrase(), generator.random()) for _ in range(4)))
        case "sum":
            return expression.Boolean(should=several(), minimum=generator.choice((0, 0, 1, 2)))
        case "required":
            return expression.Boolean(
                several(2), several() if depth > 1 else (), several(2)[: depth - 2]
            )
        case "best":
            return expression.DisMax(several(), generator.choice((0.0, 0.3, 1.0)))
        case "boost":
            return expression.Boost(
                random_query(generator, depth - 1), generator.choice((1, 0.3, 2.5))
            )
    return expression.Constant(random_query(generator, depth - 1))


@pytest.mark.parametrize("similarity", [BM25(), BM25(1.2, 0.75)])
def test_rankings_are_those_of_lucene_to_the_bit(index, similarity, monkeypatch):
    monkeypatch.setattr(structured, "_REMEMBERED", 20_000)
    generator = random.Random(9)
    compiler = Compiler(index.analyzer, index.reader_with(["title"]))
    topics = {str(n): compiler(random_query(generator)) for n in range(150)} | {"words": "w01 w02"}
    limits = {str(n): str(1990 + n % 9) for n in range(0, 150, 3)}
    for depth in (7, 1000):
        options = {"depth": depth, "similarity": similarity, "before": limits}
        expected = index.search(topics, engine="lucene", **options)
        rankings = index.search(topics, engine="impact", **options)
        assert list(rankings) == list(topics)
        for topic, ranking in rankings.items():
            query = str(topics[topic])
            assert ranking.doc_ids == expected[topic].doc_ids, query
            assert ranking.scores.tolist() == expected[topic].scores.tolist(), query
    assert sum(map(len, expected.values())) > 10_000


def test_parts_that_topics_share_are_searched_once(index, monkeypatch):
    searched = []
    leaf = structured.StructuredSearch._leaf
    monkeypatch.setattr(
        structured.StructuredSearch,
        "_leaf",
        lambda self, query, boost: (
            searched.append(str(query.toString())) or leaf(self, query, boost)
        ),
    )
    compiler = Compiler(index.analyzer, index.reader_with(["title"]))
    shared = expression.Boost(expression.Phrase("w03 w01"), 2.0)
    topics = {
        word: compiler(expression.Boolean(should=(shared, expression.Phrase(word, "title"))))
        for word in ("w05", "w06")
    }
    index.search(topics, 5, engine="impact", similarity=BM25(0.7, 0.1))
    assert sorted(searched) == ['contents:"w03 w01"', "title:w05", "title:w06"]


def test_remembered_parts_stay_within_their_limit(index, monkeypatch):
    monkeypatch.setattr(structured, "_REMEMBERED", 5_000)
    compiler = Compiler(index.analyzer, index.reader_with(["title"]))
    topics = {word: compiler(expression.Words(word, "title")) for word in WORDS}
    index.search(topics, 5, engine="impact", similarity=BM25(0.8, 0.1))
    (search,) = index.many_topics.opened._structured.values()
    parts = [part.scores for part in search._parts.values()]
    assert 0 < sum(scores.numbers.nbytes + scores.values.nbytes for scores in parts) <= 5_000


def test_given_documents_are_scored_by_lucene(index, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_ENGINE", "impact")
    monkeypatch.setattr(structured, "StructuredSearch", None)
    query = Compiler(index.analyzer, index.reader_with(["title"]))(expression.Phrase("w01"))
    (scores,) = index.scores([(["d1", "d2"], [query])], BM25(2, 0.9), 1)
    assert scores.shape == (2, 1) and scores.dtype == np.float32
