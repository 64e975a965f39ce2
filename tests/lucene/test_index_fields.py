"""Fields besides the contents: indexed when a query names them, as if they always had been."""

import random

import pytest

from irplatform.files.cache import home
from irplatform.lucene import BM25, LuceneIndex, build, build_index
from irplatform.lucene.java import java_class
from irplatform.lucene.transfer import ABSTRACT, TITLE, fields_record, to_record
from irplatform.plugin import Document

pytestmark = pytest.mark.java
WORDS = [f"w{n:02}" for n in range(40)]


@pytest.fixture
def small_batches(monkeypatch):
    """Indexes of several segments: a thread begins another one when so much is in memory."""
    monkeypatch.setattr(build, "_BUFFER_MB", 0.1)
    monkeypatch.setattr(build, "_BATCH", 20)
    monkeypatch.setattr(build, "_BATCH_CHARACTERS", 20_000)


def documents(count):
    draw = random.Random(1)

    def words(most):
        return " ".join(draw.choices(WORDS, k=draw.randrange(most)))

    return [
        Document(
            f"d{n}", words(5), words(30), {"mesh": (words(3), words(3)), "year": f"{1990 + n}"}
        )
        for n in range(count)
    ]


def fields_in_cache():
    return sorted(path.name for path in home().glob("index-fields/listed-*"))


def phrase(field, *words):
    return java_class("org.apache.lucene.search.PhraseQuery")(field, *words)


def test_a_field_is_indexed_when_a_query_names_it(fresh_home, index_of):
    index = index_of(documents(30), fields=("mesh", "year"))
    index.search({"words": "w01", "phrase": phrase("contents", "w01", "w02")}, 10)
    index.search({"words": "w01"}, 10, before={"words": "1999"})
    assert (index.documents_with("nothing"), fields_in_cache()) == (0, [])
    assert len(index.search({"mesh": phrase("mesh", "w01")}, 30)["mesh"]) > 0
    (beside,) = fields_in_cache()
    index.search({"title": phrase(TITLE, "w01")}, 10)
    assert fields_in_cache() == [beside]
    assert index.documents_with(ABSTRACT) > 0
    assert len(fields_in_cache()) == 2


def test_the_index_keeps_its_mark_and_finds_its_fields_again(fresh_home, listed_corpus):
    corpus = listed_corpus(documents(30), fields=("mesh",))
    marks = []
    for _ in range(2):
        built = build_index(corpus)
        index = LuceneIndex.open(built.path)
        index.reader_with([TITLE, "mesh", ABSTRACT])
        index.close()
        marks.append(built.fingerprint)
    assert marks[0] == marks[1]
    assert len(fields_in_cache()) == 2


def test_an_index_that_is_built_again_has_new_fields(fresh_home, index_of, monkeypatch):
    monkeypatch.setattr(build, "index_mark", lambda _: "one order")
    index_of(documents(5)).reader_with([TITLE])
    monkeypatch.setattr(build, "index_mark", lambda _: "another order")
    index_of(documents(5)).reader_with([TITLE])
    assert len(fields_in_cache()) == 2


def test_the_documents_with_titles_and_abstracts_are_counted_once(fresh_home, index_of):
    index = index_of([Document("1", "-", "Words."), Document("2", "Words", ""), Document("3")])
    assert index.titles_and_abstracts() == (1, 1)
    assert fields_in_cache() == []
    assert (index.documents_with(TITLE), index.documents_with(ABSTRACT)) == (1, 1)


def test_scores_are_those_of_an_index_of_all_fields(tmp_path, fresh_home, index_of, small_batches):
    articles = documents(500)
    index = index_of(articles, fields=("mesh", "year"), threads=3)
    assert len(index.reader.leaves().toArray()) > 1
    plain = build.Indexer(tmp_path / "plain", "plain", [TITLE, ABSTRACT, "mesh", "year"])
    records = []
    for document in articles:
        contents = to_record(document)
        fields = fields_record(contents, [TITLE, ABSTRACT, "mesh", "year"])
        records.append("{" + contents[1:-1] + "," + fields.partition('"\xa0",')[2])
    plain.add(records)
    plain.close()
    at_once = LuceneIndex.open(tmp_path / "plain")
    builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")
    should = java_class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
    queries = {}
    for number, word in enumerate(WORDS):
        query = builder()
        for part in (
            phrase("contents", word),
            phrase(TITLE, word),
            phrase(ABSTRACT, word, WORDS[number - 1]),
            phrase("mesh", word),
        ):
            query.add(part, should)
        queries[word] = query.build()
    for similarity in (BM25(), BM25(1.2, 0.75)):
        rankings = index.search(queries, 1000, similarity=similarity)
        expected = at_once.search(queries, 1000, similarity=similarity)
        for word in WORDS:
            assert rankings[word].doc_ids == expected[word].doc_ids
            assert (rankings[word].scores == expected[word].scores).all()
    assert index.documents(["d7"]) == [articles[7]]
    at_once.close()
