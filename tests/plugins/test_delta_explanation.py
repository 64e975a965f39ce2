"""What Delta says of its scores is what its network does, by plain arithmetic."""

import numpy as np
import pytest
import torch
from plain import plain_delta
from small import small_resources

from irplatform.plugin import Topic
from irplatform_delta.options import DeltaOptions
from irplatform_delta.reranker import Delta

TEXTS = {"a": "melanoma braf melanoma zzz trial", "b": "glioma of mice", "empty": ""}
QUERY = Topic("t", "melanoma braf unseen")


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(3)
    words = sorted({w for text in TEXTS.values() for w in text.split()} - {"zzz"})
    vectors = {word: random.normal(size=8) for word in words}
    return small_resources(tmp_path_factory.mktemp("forward"), TEXTS, vectors)


@pytest.fixture(scope="module")
def delta(resources, tmp_path_factory):
    options = {"filters": 4, "hidden": 4, "document_words": 10, "lexical": ("overlap_text",)}
    reranker = Delta(DeltaOptions.model_validate(options))
    reranker.prepare(resources)
    reranker.network.lexical_mean.fill_(0.2)
    folder = tmp_path_factory.mktemp("weights")
    reranker.save(folder)
    reranker.load(folder)
    return reranker


def _told(delta, resources):
    return delta.explain(QUERY, resources.documents(list(TEXTS)))


def test_the_score_is_the_rerankers_and_a_text_without_words_has_one(delta, resources):
    explanations = _told(delta, resources)
    scores = delta.score(QUERY, resources.documents(list(TEXTS)))
    assert [explanation["score"] for explanation in explanations] == pytest.approx(scores, abs=1e-5)
    assert explanations[2]["closest_words"] == []
    assert explanations[2]["document_words_read"] == 0


def test_a_text_without_words_is_explained_on_its_own(delta, resources):
    documents = resources.documents(["empty"])
    (explanation,) = delta.explain(QUERY, documents)
    assert explanation["score"] == pytest.approx(delta.score(QUERY, documents)[0], abs=1e-5)


def test_words_stand_with_their_closest_query_word_and_its_features(delta, resources):
    explanation = _told(delta, resources)[0]
    assert explanation["query_words_without_vector"] == ["unseen"]
    vectors = resources.vectors()
    matrix = dict(zip([*vectors.words], vectors.matrix, strict=False))
    distance = {
        (word, query): float(np.linalg.norm(matrix[word] - matrix[query]))
        for word in ("melanoma", "braf", "trial")
        for query in ("melanoma", "braf")
    }
    for row in explanation["closest_words"]:
        word, query = row["word"], row["query_word"]
        other = "braf" if query == "melanoma" else "melanoma"
        assert row["distance"] == pytest.approx(distance[word, query], abs=1e-4)
        assert distance[word, query] <= distance[word, other]
    exact = {r["word"]: r for r in explanation["closest_words"] if r["word"] == r["query_word"]}
    assert exact["melanoma"]["times"] == 2
    assert exact["braf"]["cosine"] == pytest.approx(1, abs=1e-5)


def test_a_words_gain_is_what_the_plain_network_loses_without_it(delta, resources):
    explanation = _told(delta, resources)[0]
    encoded = delta.encoder.encode(QUERY, ["a"])
    vectors = resources.vectors()
    with torch.inference_mode():
        for row in explanation["closest_words"]:
            words = encoded.words
            mask = words.word == int(vectors.rows([row["word"]])[0])
            changed = type(words)(
                words.word, words.closest, words.features * ~mask[:, None], words.active & ~mask
            )
            rest = plain_delta(
                delta.network, delta.encoder.vectors, changed, encoded.documents, encoded.lexical
            )
            assert row["gain"] == pytest.approx(explanation["score"] - float(rest[0]), abs=1e-5)


def test_a_lexical_features_gain_is_against_its_mean(delta, resources):
    explanation = _told(delta, resources)[0]
    encoded = delta.encoder.encode(QUERY, ["a"])
    with torch.inference_mode():
        rest = plain_delta(
            delta.network,
            delta.encoder.vectors,
            encoded.words,
            encoded.documents,
            torch.tensor([[0.2]]),
        )
    (row,) = explanation["lexical_features"]
    assert row["value"] == pytest.approx(2 / 3)
    assert row["gain"] == pytest.approx(explanation["score"] - float(rest[0]), abs=1e-5)
