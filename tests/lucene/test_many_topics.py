"""Copied postings give Lucene's rankings, to the bit; and when they are used."""

import math
import random

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.files.cache import home
from irplatform.lucene import BM25, QLD, RM3, LuceneIndex, many_topics
from irplatform.lucene.impact import ImpactIndex
from irplatform.lucene.many_topics import ENGINE_VARIABLE
from irplatform.lucene.queries import analyzed
from irplatform.plugin import Document
from irplatform.system.packages import absent

pytestmark = pytest.mark.java
COMPILED = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(bool(absent("numba")), reason="numba")),
]
WORDS = [f"w{number:03}" for number in range(300)]


def words(generator, count):
    return " ".join(WORDS[min(int(generator.expovariate(0.02)), 299)] for _ in range(count))


@pytest.fixture(scope="module")
def index(index_of):
    """Documents of 0 to 400 words, some of them twice; every third with a year, or two."""
    generator = random.Random(5)
    texts = [words(generator, generator.choice((0, 3, 40, 400))) for _ in range(700)]
    texts += texts[:60]
    years = ({}, {"year": "2001"}, {"year": ("1999", "2010-05-30", "2005")}, {"year": "2010.0"})
    documents = [
        Document(f"d{generator.randrange(10**6)}-{place}ß", "", text, years[place % 4])
        for place, text in enumerate(texts)
    ]
    return index_of(documents, fields=("year",))


@pytest.fixture(scope="module")
def topics():
    generator = random.Random(7)
    queries = {str(n): words(generator, generator.choice((1, 2, 5, 30))) for n in range(60)}
    return {**queries, "none": "of the", "unknown": "unheard w001 w001 w001 W001's", "empty": ""}


def same(one, other):
    assert list(one) == list(other)
    for topic, ranking in one.items():
        assert ranking.doc_ids == other[topic].doc_ids, topic
        assert ranking.scores.dtype == other[topic].scores.dtype == np.float32
        assert ranking.scores.tolist() == other[topic].scores.tolist(), topic


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("depth", [1, 10, 1000])
@pytest.mark.parametrize("similarity", [BM25(), BM25(1.2, 0.75), BM25(0, 1), BM25(8, 0)])
def test_rankings_are_those_of_lucene_to_the_bit(
    index, topics, compiled, depth, similarity, monkeypatch
):
    monkeypatch.setattr("irplatform.lucene.impact.has_numba", lambda: compiled)
    limits = {str(n): str(1998 + n) for n in range(0, 14, 2)} | {"40": "0000", "41": "9999"}
    options = {"depth": depth, "similarity": similarity, "before": limits}
    expected = index.search(topics, engine="lucene", **options)
    same(index.search(topics, engine="impact", **options), expected)
    assert len(expected["none"]) == len(expected["empty"]) == 0 < len(expected["unknown"])


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("feedback", [RM3(), RM3(3, 40, 0.8), RM3(60, 2, 0.1)])
def test_feedback_is_that_of_anserini_to_the_bit(index, topics, compiled, feedback, monkeypatch):
    monkeypatch.setattr("irplatform.lucene.impact.has_numba", lambda: compiled)
    monkeypatch.setattr("irplatform.lucene.impact._WITH_FEEDBACK", 25)
    limits = {str(n): str(1998 + n) for n in range(0, 14, 2)}
    options = {"depth": 100, "feedback": feedback, "before": limits, "similarity": BM25(1.2, 0.75)}
    expected = index.search(topics, engine="lucene", **options)
    same(index.search(topics, engine="impact", **options), expected)
    plain = index.search(topics, 100, engine="lucene", similarity=BM25(1.2, 0.75))
    assert sum(r.doc_ids != plain[t].doc_ids for t, r in expected.items()) > 40


def test_feedback_adds_some_words_only(index_of):
    """Not words with other letters, of one letter or 21; not those of more than a tenth."""
    common = [Document(f"c{n}", "", "often") for n in range(30)]
    long = "x" * 21
    index = index_of(
        [Document("a", "", f"cat often tail β-cells {long} c 7 zebra"), *common]
        + [Document(name, "", text) for name, text in
           (("t", "tail"), ("x", long), ("β", "β"), ("z", "7"), ("b", "zebra"))]
    )  # fmt: skip
    ids = {
        engine: index.search({"q": "cat"}, 50, feedback=RM3(), engine=engine)["q"].doc_ids
        for engine in ("lucene", "impact")
    }
    assert ids["lucene"] == ids["impact"] == ("a", "t", "b")


def test_a_score_by_hand(index_of):
    index = index_of(
        [Document("a", "", "cat cat dog"), Document("b", "", "dog"), Document("c", "", "cow")]
    )
    ranking = index.search({"q": "cat"}, 10, engine="impact")["q"]
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    norm = 0.9 * (1 - 0.4 + 0.4 * 3 / (5 / 3))
    assert ranking.doc_ids == ("a",)
    assert ranking.scores[0] == pytest.approx(idf * 2 / (2 + norm), rel=1e-6)


def test_nothing_is_found_for_no_words_and_no_topics(index):
    impact = index.many_topics.postings_for(1, BM25(), engine="impact")
    assert isinstance(impact, ImpactIndex)
    assert impact.search({"q": "", "r": "no"}, 5, BM25(), index.analyzer)["r"].doc_ids == ()
    assert impact.search({}, 5, BM25(), index.analyzer) == {}


def test_texts_are_analyzed_as_queries_are(index):
    assert analyzed(index.analyzer, ["Running the Cats", "", 'a "β-cell\n'] ) == [
        ["run", "cat"], [], ["β", "cell"],
    ]  # fmt: skip


def test_many_topics_are_searched_in_copied_postings(index_of, monkeypatch):
    """Not few; not without numba; not if they would fill the memory; a few once they are there."""
    index = index_of([Document("a", "", "cat"), Document("b", "", "dog")])
    monkeypatch.setattr(many_topics, "WORTH_OPENING", 3)
    monkeypatch.setattr(many_topics, "WORTH_COPYING", 6)
    numba = [False]
    monkeypatch.setattr("irplatform.postings.search.has_numba", lambda: numba[0])

    def uses_postings(count, **options):
        index.many_topics.opened, index.many_topics.topic_count = None, 0
        assert (
            len(index.search(dict.fromkeys(map(str, range(count)), "cat"), 5, **options)) == count
        )
        return index.many_topics.opened is not None

    assert not uses_postings(6)
    numba[0] = True
    with monkeypatch.context() as small:
        small.setattr(many_topics, "_SHARE", 0)
        assert not uses_postings(6)
    assert not uses_postings(5)
    assert not uses_postings(9, feedback=RM3(original_weight=1))
    assert not uses_postings(9, similarity=QLD())
    assert not uses_postings(9, similarity=BM25(k1=5000))
    assert not uses_postings(9, engine="lucene")
    assert uses_postings(6)
    assert uses_postings(1, feedback=RM3())
    assert len([*(home() / "postings").glob("listed-*/facts.json")]) >= 1
    assert uses_postings(3)
    assert not uses_postings(2)
    monkeypatch.setenv(ENGINE_VARIABLE, "lucene")
    assert not uses_postings(9)
    monkeypatch.setenv(ENGINE_VARIABLE, "impact")
    assert uses_postings(1)
    assert not uses_postings(1, engine="lucene")
    assert not uses_postings(1, feedback=RM3(original_weight=0))
    assert not uses_postings(1, similarity=QLD())


def test_searches_of_a_few_topics_add_up(index_of, monkeypatch):
    index = index_of([Document("a", "", "cat"), Document("b", "", "bird")])
    monkeypatch.setattr(many_topics, "WORTH_OPENING", 4)
    monkeypatch.setattr(many_topics, "WORTH_COPYING", 6)
    monkeypatch.setattr("irplatform.postings.search.has_numba", lambda: True)

    def opened_after(*topics):
        index.search(dict.fromkeys(topics, "cat"), 5)
        return index.many_topics.opened is not None

    assert not any(opened_after("1") for _ in range(9))
    assert [opened_after("1", "2") for _ in range(3)] == [False, False, True]


def test_postings_of_a_small_collection_are_copied_for_fewer_topics(index_of, monkeypatch):
    index = index_of([Document("a", "", "cat"), Document("b", "", "fish")])
    monkeypatch.setattr("irplatform.postings.search.has_numba", lambda: True)
    monkeypatch.setattr(many_topics, "_WORTH_COMPILING", 8)
    monkeypatch.setattr(many_topics, "WORTH_OPENING", 0)
    assert index.many_topics.postings_for(7, BM25()) is None
    index.many_topics.topic_count = 0
    assert index.many_topics.postings_for(8, BM25()) is not None


def test_an_engine_that_cannot_is_refused(index, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"'impact' ranks by BM25 only\. Take 'auto' or 'lucene'"):
        index.search({"q": "w001"}, 5, similarity=QLD(), engine="impact")
    with pytest.raises(InputError, match="mixes feedback with the topic's words"):
        index.search({"q": "w001"}, 5, feedback=RM3(original_weight=1), engine="impact")
    with pytest.raises(InputError, match="takes k1 up to 1,000"):
        index.search({"q": "w001"}, 5, similarity=BM25(k1=1e6), engine="impact")
    (tmp_path / "index").mkdir()
    for file in index.path.glob("[_s]*"):
        (tmp_path / "index" / file.name).write_bytes(file.read_bytes())
    elsewhere = LuceneIndex.open(tmp_path / "index")
    with pytest.raises(InputError, match="needs an index of the cache"):
        elsewhere.search({"q": "w001"}, 5, engine="impact")
    elsewhere.close()
    monkeypatch.setenv(ENGINE_VARIABLE, "lucen")
    with pytest.raises(InputError, match=f"{ENGINE_VARIABLE} is 'lucen'. Did you mean 'lucene'"):
        index.search({"q": "w001"}, 5)
