"""Topics that may only be answered with documents from before a year."""

import pytest

from irplatform.errors import InputError
from irplatform.plugin import Document, Topic
from irplatform.retrieval import RM3, date_limits

pytestmark = pytest.mark.java

DOCUMENTS = [
    Document("old", "Melanoma cells", "of mice", {"year": "1999"}),
    Document("same", "Melanoma cells", "of mice", {"year": "2012"}),
    Document("new", "Melanoma cells melanoma", "of later mice", {"year": "2020"}),
    Document("undated", "Melanoma cells", "of unknown mice"),
]


@pytest.fixture(scope="module")
def index(index_of):
    return index_of(DOCUMENTS, fields=("year",))


@pytest.mark.parametrize("feedback", [None, RM3()])
def test_documents_of_that_year_and_later_are_not_found(index, feedback):
    queries = {"free": "melanoma cells", "limited": "melanoma cells"}
    found = index.search(queries, 10, before={"limited": "2012"}, feedback=feedback)
    assert set(found["free"].doc_ids) == {"old", "same", "new", "undated"}
    assert set(found["limited"].doc_ids) == {"old", "undated"}


def test_the_scores_are_those_without_a_limit(index):
    found = index.search({"a": "melanoma mice", "b": "melanoma mice"}, 10, before={"b": "2013"})
    assert dict(found["b"]) == {d: s for d, s in found["a"] if d != "new"}


def test_a_corpus_without_years_is_searched_whole(article_index):
    found = article_index.search({"a": "melanoma", "b": "melanoma"}, 10, before={"b": "1900"})
    assert list(found["a"]) == list(found["b"])


def test_topics_say_so_in_a_field():
    topics = [Topic("a", "x", {"published_before": "2012"}), Topic("b", "x", {"year": "2012"})]
    assert date_limits(topics) == {"a": "2012"}
    with pytest.raises(InputError, match="topic 'c': published_before is 'May 2012'"):
        date_limits([Topic("c", "x", {"published_before": "May 2012"})])
