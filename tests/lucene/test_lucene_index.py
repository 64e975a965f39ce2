"""Searching an index and reading documents from it."""

import string
import unicodedata
from pathlib import Path

import pytest

from irplatform.errors import InputError, PlatformError
from irplatform.lucene import RM3, LuceneIndex
from irplatform.lucene.java import java_class
from irplatform.lucene.transfer import to_record
from irplatform.plugin import Document
from irplatform.runs import Ranking

pytestmark = pytest.mark.java


def ids_of(index, query, **options):
    return index.search({"q": query}, 100, **options)["q"].doc_ids


def field_query(field, *terms):
    """Terms of a field, next to each other."""
    return java_class("org.apache.lucene.search.PhraseQuery")(field, *terms)


def test_documents_come_back_as_they_went_in(article_index, articles):
    ids = [article.id for article in articles]
    assert article_index.documents(ids) == articles
    assert article_index.documents([ids[3], ids[0], ids[3]]) == [
        articles[3],
        articles[0],
        articles[3],
    ]
    assert article_index.documents([]) == []


def test_a_document_that_is_not_there_is_named(article_index):
    with pytest.raises(PlatformError, match="1 of 2 documents are not in the index, such as 'no'"):
        article_index.documents(["m1", "no"])


def test_it_counts_documents_and_words(article_index, articles):
    assert article_index.count == len(articles)
    assert article_index.stats()["documents"] == len(articles)
    assert article_index.stats()["non_empty_documents"] == len(articles) - 1


def test_title_and_abstract_are_found_stemmed(article_index):
    assert set(ids_of(article_index, "inhibitor")) == {"m2", "e1"}
    assert set(ids_of(article_index, "pharmacokinetic melanomas")) == {"m1", "m2", "t1"}
    assert ids_of(article_index, "β-cells") == ("ü-1\U0001f9ec",)


def test_every_field_can_be_searched_by_name(article_index):
    assert ids_of(article_index, field_query("title", "vemurafenib")) == ("m1",)
    assert ids_of(article_index, field_query("abstract", "gefitinib")) == ("e1",)
    assert ids_of(article_index, field_query("mesh", "imidazol")) == ("m2",)
    assert ids_of(article_index, field_query("journal", "engl")) == ("m1",)


def test_phrases_match_within_a_value_and_not_across_two(article_index):
    assert ids_of(article_index, field_query("mesh", "lung", "neoplasm")) == ("e1",)
    assert ids_of(article_index, field_query("mesh", "melanoma", "imidazol")) == ()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_are_found_in_either_form_of_unicode(index_of, form):
    index = index_of([Document("c", "N\xe9vrome"), Document("d", "Ne\u0301vrome")])
    assert set(ids_of(index, unicodedata.normalize(form, "n\xe9vrome"))) == {"c", "d"}


def test_a_ranking_is_in_the_one_order_of_runs(index_of):
    index = index_of([Document(f"d{n}", "same words") for n in (1, 10, 2, 30, 3)])
    ranking = index.search({"q": "words"}, 10)["q"]
    assert ranking.doc_ids == ("d30", "d3", "d2", "d10", "d1")
    again = Ranking.of(ranking.doc_ids, ranking.scores)
    assert again.doc_ids == ranking.doc_ids
    assert (again.scores == ranking.scores).all()
    assert not ranking.scores.flags.writeable


def test_the_cut_at_the_depth_keeps_the_same_of_equal_documents(index_of):
    ids = [f"d{n:04}" for n in range(3000)]
    cut = [
        index_of([Document(i, "same words") for i in order], threads=threads).search(
            {"q": "words"}, 7
        )["q"]
        for order, threads in ((ids, 1), (ids[::-1], 3))
    ]
    assert cut[0].doc_ids == cut[1].doc_ids == tuple(sorted(ids, reverse=True)[:7])


def test_a_batch_gives_what_single_searches_give(article_index):
    queries = {str(n): words for n, words in enumerate(["melanoma", "BRAF", "lung cancer", "no"])}
    together = article_index.search(queries, 3, threads=3)
    assert list(together) == list(queries)
    for topic, words in queries.items():
        alone = article_index.search({topic: words}, 3, threads=1)[topic]
        assert together[topic].doc_ids == alone.doc_ids
        assert (together[topic].scores == alone.scores).all()
    assert article_index.search({}, 3) == {}


@pytest.mark.parametrize("feedback", [None, RM3()])
@pytest.mark.parametrize("query", ["", "   ", "the of and", "\x00", "---", "zzzunknown", '"'])
def test_a_query_without_known_words_finds_nothing(article_index, query, feedback):
    assert ids_of(article_index, query, feedback=feedback) == ()


@pytest.mark.parametrize("feedback", [None, RM3()])
@pytest.mark.parametrize(
    "query",
    [
        'melanoma AND (NOT "BRAF~2 [a TO b} title:x^5 +-&&||!*?:\\/',
        f"melanoma {string.punctuation}",
        "melanoma μ 黑色素瘤 🧬 \ud800 \u0000",
        "melanoma " + " ".join(f"word{n}" for n in range(1500)),
        "melanoma " * 2000,
        "melanoma " + "x" * 50_000,
    ],
)
def test_a_query_is_a_bag_of_words_whatever_it_holds(article_index, query, feedback):
    assert {"m1", "m2"} <= set(ids_of(article_index, query, feedback=feedback))


@pytest.fixture(scope="module")
def common_and_rare(articles):
    """Articles among others: feedback passes over words that a tenth of all documents have."""
    return articles + [Document(f"other{n}", f"topic{n}", "unrelated") for n in range(60)]


def test_feedback_finds_what_the_words_do_not(index_of, common_and_rare):
    index = index_of(common_and_rare)
    assert set(ids_of(index, "vemurafenib V600E")) == {"m1"}
    assert set(ids_of(index, "vemurafenib V600E", feedback=RM3())) == {"m1", "m2"}


def test_feedback_without_weight_for_new_words_is_the_plain_search(index_of, common_and_rare):
    index = index_of(common_and_rare)
    plain = ids_of(index, "melanoma dabrafenib")
    ranking = index.search({"q": "melanoma dabrafenib"}, 10, feedback=RM3(original_weight=1.0))["q"]
    assert ranking.doc_ids[: len(plain)] == plain
    assert not ranking.scores[len(plain) :].any()


def _with_term_vectors(documents, folder):
    arguments = ["-input", "", "-collection", "JsonCollection", "-index", str(folder)]
    arguments += ["-storeRaw", "-storePositions", "-storeDocvectors", "-threads", "1"]
    indexer = java_class("io.anserini.index.SimpleIndexer")(arguments)
    indexer.addRawDocuments([to_record(document) for document in documents])
    indexer.close()
    return LuceneIndex.open(folder)


def test_feedback_from_vectors_equals_feedback_from_stored_text(
    index_of, common_and_rare, tmp_path
):
    query = {"q": "vemurafenib V600E"}
    parsed = index_of(common_and_rare).search(query, 10, feedback=RM3())["q"]
    vectors = _with_term_vectors(common_and_rare, tmp_path / "index")
    assert vectors.reader.termVectors().get(0, "contents")
    stored = vectors.search(query, 10, feedback=RM3())["q"]
    vectors.close()
    assert parsed.doc_ids == stored.doc_ids
    assert parsed.scores == pytest.approx(stored.scores, rel=1e-5)


def test_missing_documents_are_those_that_contains_denies(article_index):
    ids = list(article_index.search({"q": "melanoma"}, 10)["q"].doc_ids)
    strange = ["PMC0", "", ids[0].upper() + "x", f" {ids[0]}", "\ud800", "ä", "x" * 3000]
    mixture = [*strange[:4], *ids, *strange[4:]]
    assert ids
    assert article_index.missing(mixture) == {*strange}
    assert article_index.missing(ids) == set()
    assert article_index.missing(strange) == {*strange}
    assert article_index.missing([]) == set()
    assert {d for d in [*ids, "PMC0"] if not article_index.contains(d)} == {"PMC0"}


def test_a_depth_beyond_javas_numbers_finds_all_that_there_is(article_index):
    rankings = [article_index.search({"q": "melanoma"}, depth)["q"] for depth in (1000, 10**10)]
    assert len(rankings[0])
    assert rankings[0].doc_ids == rankings[1].doc_ids


def test_nonsense_is_refused(article_index):
    with pytest.raises(InputError, match="the depth is 0"):
        article_index.search({"q": "melanoma"}, 0)


def test_what_is_no_index_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "missing", Path("msmarco-v1-passage")):
        with pytest.raises(InputError, match="there is no Lucene index in this folder"):
            LuceneIndex.open(folder)
    (tmp_path / "segments_1").write_bytes(b"not Lucene's")
    with pytest.raises(InputError, match=r"cannot be read\. Delete its folder"):
        LuceneIndex.open(tmp_path)
