"""Lucene's scores against the formulas, written plainly."""

import math
import random
from collections import Counter

import pytest

from irplatform.lucene import BM25, QLD
from irplatform.plugin import Document

pytestmark = pytest.mark.java

SEED = 7


def quantized(length):
    """What Lucene remembers of a field's length: one byte, exact below 24 and for a while after."""
    if length < 24:
        return length
    rest = length - 24
    shift = max(rest.bit_length() - 4, 0)
    return 24 + (rest >> shift << shift)


@pytest.fixture(scope="module")
def texts():
    rng = random.Random(SEED)
    words = [f"gene{n}" for n in range(40)]
    weights = [1 / (n + 1) for n in range(40)]
    return {
        f"d{n}": rng.choices(words, weights, k=rng.choice([3, 17, 30, 41, 97, 260]))
        for n in range(80)
    }


@pytest.fixture(scope="module")
def text_index(index_of, texts):
    return index_of([Document(i, " ".join(words)) for i, words in texts.items()])


def expected(texts, query, weight):
    """Scores of the documents that share a word with the query, from a word's counts."""
    counts = {i: Counter(words) for i, words in texts.items()}
    collection = Counter(word for words in texts.values() for word in words)
    scores = {}
    for doc_id, count in counts.items():
        shared = [
            weight(
                tf=count[word],
                df=sum(word in other for other in counts.values()),
                cf=collection[word],
                dl=quantized(len(texts[doc_id])),
                tokens=sum(collection.values()),
            )
            * times
            for word, times in Counter(query).items()
            if word in count
        ]
        if shared:
            scores[doc_id] = sum(shared)
    return scores


def assert_equal(ranking, scores):
    assert dict(ranking) == pytest.approx(scores, rel=1e-5)
    assert len(ranking) == len(scores)


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.6, 0.75), (0.0, 0.4), (2.0, 0.0)])
def test_bm25_is_robertsons_formula_on_quantized_lengths(text_index, texts, k1, b):
    def weight(tf, df, cf, dl, tokens):
        idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        return idf * tf / (tf + k1 * (1 - b + b * dl / (tokens / len(texts))))

    query = ["gene3", "gene20", "gene3", "gene39"]
    ranking = text_index.search({"q": " ".join(query)}, 100, similarity=BM25(k1, b))["q"]
    assert_equal(ranking, expected(texts, query, weight))


@pytest.mark.parametrize("mu", [10.0, 1000.0])
def test_query_likelihood_is_dirichlet_smoothed(text_index, texts, mu):
    def weight(tf, df, cf, dl, tokens):
        background = (cf + 1) / (tokens + 1)
        return max(0.0, math.log(1 + tf / (mu * background)) + math.log(mu / (dl + mu)))

    query = ["gene5", "gene11"]
    ranking = text_index.search({"q": " ".join(query)}, 100, similarity=QLD(mu))["q"]
    assert_equal(ranking, expected(texts, query, weight))


def test_a_word_counts_as_often_as_the_topic_has_it(text_index):
    once = dict(text_index.search({"q": "gene2"}, 100)["q"])
    thrice = dict(text_index.search({"q": "gene2 gene2 gene2"}, 100)["q"])
    assert thrice == pytest.approx({i: 3 * score for i, score in once.items()})
