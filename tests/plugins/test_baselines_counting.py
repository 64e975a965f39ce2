"""Baselines that count words, against their formulas written plainly and Lucene's classes."""

import math
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import SmallResources, words_of

from irplatform.plugin import Document, Documents, Topic
from irplatform.registry.loading import registry
from irplatform.runs import Ranking
from irplatform.text import FieldMatch, ForwardIndex, build_forward_index
from irplatform_lexical.counting import (
    BM25,
    DLH13,
    UQLM,
    BM25Options,
    UQLMOptions,
    dlh13,
    log_likelihood,
)
from irplatform_lexical.uninformed import ReverseDocumentId

FIELDS = ("title", "abstract", "text")
DOCUMENTS = [
    Document("a", "breast cancer and statins", "statins in breast cancer. cancer, cancer risk"),
    Document("b", "cancer", ""),
    Document("c", "", "risk of breast cancer in mice"),
    Document("d", "", ""),
    Document("e", "mice", "mice and mice and rats"),
    Document("f", "mice and", "rats in mice"),
    Document("g", "cancer cancer", "and and and risk"),
]
BY_ID = {document.id: document for document in DOCUMENTS}


def statistics_of(texts):
    every = list(chain.from_iterable(texts))
    return SimpleNamespace(texts=texts, documents=len(texts), words=len(every), every=every)


def statistics(field):
    return statistics_of([words_of(document, field) for document in DOCUMENTS])


def plain_bm25(query, words, of, k1=2.0, b=0.75):
    score = 0.0
    for word in query:
        tf = words.count(word)
        if tf:
            df = sum(word in text for text in of.texts)
            idf = math.log(1 + (of.documents - df + 0.5) / (df + 0.5))
            norm = k1 * (1 - b + b * len(words) / (of.words / of.documents))
            score += idf * tf * (k1 + 1) / (tf + norm)
    return score


def plain_uqlm(query, words, of, mu):
    score = 0.0
    for word in query:
        p = (of.every.count(word) + 1) / (of.words + 1)
        score += math.log((words.count(word) + mu * p) / (len(words) + mu))
    return score


def plain_dlh13(query, words, of):
    score = 0.0
    mean = of.words / of.documents
    for word in query:
        tf, length, frequency = words.count(word), len(words), of.every.count(word)
        if tf:
            gain = tf * math.log2((tf * mean / length) * (of.documents / frequency))
            if tf < length:
                gain += 0.5 * math.log2(2 * math.pi * tf * (1 - tf / length))
            score += gain / (tf + 0.5)
    return score


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forward")
    build_forward_index(DOCUMENTS, folder, workers=1)
    return SmallResources(index=ForwardIndex.open(folder))


def prepared(reranker, resources):
    reranker.prepare(resources)
    return reranker


def scores(reranker, query, ids=tuple(BY_ID)):
    values = reranker.score(Topic("t", query), Documents.of([BY_ID[i] for i in ids]))
    assert np.isfinite(values).all()
    return values


def system(name, resources, **settings):
    return prepared(registry().reranker(name).create(settings), resources)


QUERIES = st.lists(
    st.sampled_from(["breast", "cancer", "and", "mice", "rats", "in", "risk", "zebra", "yak"]),
    max_size=8,
)


@pytest.mark.parametrize("field", FIELDS)
@given(query=QUERIES)
@settings(max_examples=40)
def test_every_formula_equals_its_plain_form(resources, field, query):
    of = statistics(field)
    systems = [
        (BM25(BM25Options(field=field)), plain_bm25, ()),
        (BM25(BM25Options(field=field, k1=0, b=0.3)), plain_bm25, (0.0, 0.3)),
        (DLH13(DLH13.Options(field=field)), plain_dlh13, ()),
        (UQLM(UQLMOptions(field=field, mu=7.5)), plain_uqlm, (7.5,)),
    ]
    for reranker, plain, parameters in systems:
        values = scores(prepared(reranker, resources), " ".join(query))
        expected = [plain(query, words_of(d, field), of, *parameters) for d in DOCUMENTS]
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-12), type(reranker)


NAMES = [
    *(f"{kind}-{field}" for kind in ("bm25", "uqlm") for field in FIELDS),
    *("dlh13", "dlh13-title", "dlh13-abstract", "revdocid", "random-order"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_score_does_not_depend_on_order_or_number_of_documents(resources, name):
    reranker = system(name, resources)
    query = "cancer risk in mice and cancer zebra"
    together = dict(zip(BY_ID, scores(reranker, query), strict=True))
    backwards = tuple(reversed(BY_ID))
    assert scores(reranker, query, backwards) == [together[i] for i in backwards]
    for doc_id, score in together.items():
        assert scores(reranker, query, (doc_id,)) == [score]
    assert scores(reranker, query, ()) == []


@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith("title")])
@pytest.mark.parametrize("query", ["", "zebra yak"])
def test_a_query_without_a_known_word_tells_fields_of_equal_length_not_apart(
    resources, name, query
):
    b, e = scores(system(name, resources), query, ("b", "e"))
    assert b == e


@pytest.mark.parametrize("field", FIELDS)
def test_the_name_says_what_is_read(resources, field):
    query = "cancer and mice"
    of = statistics(field)
    bm25 = [plain_bm25(query.split(), words_of(d, field), of) for d in DOCUMENTS]
    assert scores(system(f"bm25-{field}", resources), query) == pytest.approx(bm25)
    mu = of.words / of.documents if field == "title" else 2000
    uqlm = [plain_uqlm(query.split(), words_of(d, field), of, mu) for d in DOCUMENTS]
    assert scores(system(f"uqlm-{field}", resources), query) == pytest.approx(uqlm)
    name = "dlh13" if field == "text" else f"dlh13-{field}"
    dlh = [plain_dlh13(query.split(), words_of(d, field), of) for d in DOCUMENTS]
    assert scores(system(name, resources), query) == pytest.approx(dlh)


def test_a_field_that_no_document_has_gives_all_the_same(tmp_path):
    build_forward_index([Document("x", "", "one two"), Document("y", "", "two")], tmp_path)
    resources = SmallResources(index=ForwardIndex.open(tmp_path))
    for name in ("bm25-title", "uqlm-title", "dlh13-title"):
        x, y = system(name, resources).score(Topic("t", "two"), Documents(["x", "y"], list))
        assert x == y
        assert math.isfinite(x)


def test_revdocid_ranks_by_decreasing_id_as_text():
    ids = ["9", "10", "b", "100", "a"]
    values = ReverseDocumentId().score(Topic("t", "q"), Documents(ids, list))
    assert Ranking.of(ids, values).doc_ids == ("b", "a", "9", "100", "10")


def test_a_random_order_follows_from_seed_and_topic(resources):
    ids = [f"d{number}" for number in range(50)]
    reranker = system("random-order", resources)

    def order(topic):
        return Ranking.of(ids, reranker.score(Topic(topic, "q"), Documents(ids, list))).doc_ids

    first = order("1")
    assert order("1") == first
    assert len({first, order("2"), tuple(ids), tuple(reversed(ids))}) == 4
    reranker.prepare(replace(resources, seed=resources.seed + 1))
    assert order("1") != first


def test_a_mu_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="mu"):
        UQLMOptions(mu=0)


class LuceneSimilarity:
    """A similarity class of Lucene, asked for the score of one word in one document."""

    def __init__(self, similarity, of, word):
        from irplatform.lucene.java import java_class

        ref = java_class("org.apache.lucene.util.BytesRef")(word.encode())
        df = sum(word in text for text in of.texts)
        collection = java_class("org.apache.lucene.search.CollectionStatistics")(
            "field", of.documents, of.documents, of.words, sum(len(set(t)) for t in of.texts)
        )
        counts = java_class("org.apache.lucene.search.TermStatistics")(
            ref, df, of.every.count(word)
        )
        self._scorer = similarity.scorer(1.0, collection, counts)
        self._encode = java_class("org.apache.lucene.util.SmallFloat").intToByte4

    def score(self, frequency, length):
        return self._scorer.score(float(frequency), self._encode(length))


LENGTHS = (3, 17, 30, 39)
"""Lucene keeps a length in a byte, which is exact for these."""


@pytest.fixture(scope="module")
def lengthy(tmp_path_factory):
    """Texts of words with very different frequencies, and their index."""
    random = np.random.default_rng(4)
    names = ["gene", "cell", "mice", "rats", "risk", "liver"]
    texts = [
        random.choice(names, length, p=[0.5, 0.25, 0.15, 0.06, 0.03, 0.01]).tolist()
        for length in LENGTHS * 10
    ]
    folder = tmp_path_factory.mktemp("lengthy")
    documents = [Document(f"d{n}", "", " ".join(text)) for n, text in enumerate(texts)]
    build_forward_index(documents, folder, workers=1)
    return ForwardIndex.open(folder), statistics_of(texts), names


def match_of(index, word):
    rows = np.arange(index.count)
    return FieldMatch(index, "abstract", index.query_ids(word), rows)


@pytest.mark.java
@pytest.mark.parametrize("mu", [10.0, 2000.0])
def test_the_query_likelihood_is_that_of_lucenes_indri_dirichlet_similarity(lengthy, mu):
    from irplatform.lucene.java import java_class

    index, of, names = lengthy
    folder = "org.apache.lucene.search.similarities"
    model = java_class(f"{folder}.LMSimilarity$DefaultCollectionModel")()
    similarity = java_class(f"{folder}.IndriDirichletSimilarity")(model, mu)
    for word in names:
        lucene = LuceneSimilarity(similarity, of, word)
        expected = [lucene.score(text.count(word), len(text)) for text in of.texts]
        likelihoods = log_likelihood(match_of(index, word), of.words, mu)
        assert likelihoods == pytest.approx(expected, rel=1e-6)  # Lucene's scores have 32 bits


@pytest.mark.java
def test_bm25_is_that_of_lucenes_similarity_but_for_a_constant(lengthy):
    from irplatform.lucene.java import java_class

    index, of, names = lengthy
    similarity = java_class("org.apache.lucene.search.similarities.BM25Similarity")(2.0, 0.75)
    for word in names:
        lucene = LuceneSimilarity(similarity, of, word)
        expected = [
            3.0 * lucene.score(text.count(word), len(text)) if word in text else 0.0
            for text in of.texts
        ]
        assert match_of(index, word).bm25(2.0, 0.75) == pytest.approx(expected, rel=1e-5)


def test_dlh13_of_a_field_of_one_word_is_finite(lengthy, resources):
    index, *_ = lengthy
    assert np.isfinite(dlh13(match_of(index, "gene"))).all()
    b, g = scores(system("dlh13-title", resources), "cancer", ("b", "g"))
    of = statistics("title")
    ratio = of.words / of.documents * of.documents / of.every.count("cancer")
    assert (b, g) == pytest.approx((math.log2(ratio) / 1.5, 2 * math.log2(ratio) / 2.5))
