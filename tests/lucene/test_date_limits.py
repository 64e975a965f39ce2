"""Topics that may only be answered with documents from before a year."""

import pytest

from irplatform.errors import InputError
from irplatform.lucene import RM3, date_limits
from irplatform.lucene.dates import search_before
from irplatform.plugin import Document, Topic
from irplatform.runs import Ranking

pytestmark = pytest.mark.java

DOCUMENTS = [
    Document("old", "Melanoma cells", "of mice", {"year": "1999"}),
    Document("same", "Melanoma cells", "of mice", {"year": "2012"}),
    Document("new", "Melanoma cells melanoma", "of later mice", {"year": "2020"}),
    Document("undated", "Melanoma cells", "of unknown mice"),
    Document("day", "Melanoma cells", "of dated mice", {"year": "2008-05-30"}),
    Document("early number", "Melanoma cells", "of counted mice", {"year": "2008.0"}),
    Document("number", "Melanoma cells", "of counted mice", {"year": "2012.0"}),
]


@pytest.fixture(scope="module")
def index(index_of):
    return index_of(DOCUMENTS, fields=("year",))


@pytest.mark.parametrize("feedback", [None, RM3()])
def test_documents_of_that_year_and_later_are_not_found(index, feedback):
    queries = {"free": "melanoma cells", "limited": "melanoma cells"}
    rankings = index.search(queries, 10, before={"limited": "2012"}, feedback=feedback)
    assert set(rankings["free"].doc_ids) == {document.id for document in DOCUMENTS}
    assert set(rankings["limited"].doc_ids) == {"old", "undated", "day", "early number"}


def test_of_several_years_the_last_counts_wherever_documents_come_from(index_of):
    documents = [
        Document("both", "melanoma", "", {"year": "2012 Dec-2013 Jan"}),
        Document("before", "melanoma", "", {"year": "2011-2012"}),
    ]
    index = index_of(documents, fields=("year",))
    rankings = index.search({"a": "melanoma"}, 10, before={"a": "2013"})
    assert list(rankings["a"].doc_ids) == ["before"]
    assert [document.year for document in documents] == ["2013", "2012"]


def test_the_scores_are_those_without_a_limit(index):
    rankings = index.search({"a": "melanoma mice", "b": "melanoma mice"}, 10, before={"b": "2013"})
    assert dict(rankings["b"]) == {d: s for d, s in rankings["a"] if d != "new"}


def test_topics_that_are_searched_at_once_keep_their_own_limits(index_of):
    documents = [Document(f"d{n}", "melanoma", "", {"year": str(1960 + n)}) for n in range(60)]
    limits = {f"t{n}": str(1960 + n % 60) for n in range(600)}
    index = index_of(documents, fields=("year",))
    rankings = index.search(dict.fromkeys(limits, "melanoma"), 60, before=limits, threads=4)
    assert {topic: len(ranking) for topic, ranking in rankings.items()} == {
        topic: int(year) - 1960 for topic, year in limits.items()
    }


def test_a_corpus_without_years_is_searched_whole(article_index):
    rankings = article_index.search({"a": "melanoma", "b": "melanoma"}, 10, before={"b": "1900"})
    assert list(rankings["a"]) == list(rankings["b"])


def test_topics_say_so_in_a_field():
    topics = [Topic("a", "x", {"published_before": "2012"}), Topic("b", "x", {"year": "2012"})]
    assert date_limits(topics) == {"a": "2012"}
    with pytest.raises(InputError, match="topic 'c': published_before is 'May 2012'"):
        date_limits([Topic("c", "x", {"published_before": "May 2012"})])


@pytest.mark.parametrize("depth", [1, 2, 3, 10])
def test_what_other_retrievers_find_is_limited_as_deep_as_it_takes(depth):
    """Twenty documents, the later ones first: the first that may be found is at rank 16."""
    articles = [Document(f"d{n:02}", "", "", {"year": str(2020 - n)}) for n in range(20)]
    documents = {document.id: document for document in articles}
    calls = []

    def search(topics, depth):
        calls.append((len(topics), depth))
        ids = list(documents)[:depth]
        return {t.id: Ranking.of(ids, [-float(n) for n in range(len(ids))]) for t in topics}

    topics = [Topic("free", "x"), Topic("limited", "x")]
    fetched = []

    def fetch(ids):
        fetched.extend(ids)
        return [documents[i] for i in ids]

    rankings = search_before(search, topics, depth, {"limited": "2005"}, fetch)
    assert len(fetched) == len(set(fetched))
    assert rankings["free"].doc_ids == tuple(list(documents)[:depth])
    assert rankings["limited"].doc_ids == tuple(list(documents)[16:][:depth])
    assert calls[0] == (2, depth)
    assert all(count == 1 for count, _ in calls[1:])


def test_a_search_is_no_deeper_than_anybody_reads(monkeypatch):
    """Where no document is early enough: by few topics at a time, and not of all documents."""
    monkeypatch.setattr("irplatform.lucene.dates.DEEPEST", 50)
    monkeypatch.setattr("irplatform.lucene.dates.HITS_AT_ONCE", 100)
    calls = []

    def search(topics, depth):
        calls.append((len(topics), depth))
        ids = [f"d{n:03}" for n in range(depth)]
        return {t.id: Ranking.of(ids, [-float(n) for n in range(depth)]) for t in topics}

    topics = [Topic(str(n), "x") for n in range(5)]

    def fetch(ids):
        return [Document(i, "", "", {"year": "2020"}) for i in ids]

    rankings = search_before(search, topics, 10, dict.fromkeys("01234", "1990"), fetch)
    assert all(len(ranking) == 0 for ranking in rankings.values())
    assert calls == [(5, 10), (2, 40), (2, 40), (1, 40), (2, 50), (2, 50), (1, 50)]


@pytest.mark.parametrize(
    ("field", "year"),
    [("2008-05-30", "2008"), ("May 1999", "1999"), ("20081", ""), ("2012.0", "2012"), (None, "")],
)
def test_years_are_read_from_dates(field, year):
    assert Document("d", "", "", {"year": field} if field else {}).year == year
