"""SevMos is the papers' model; stored documents serve the same scores."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from plain import (
    ELSEWHERE,
    WORDS,
    classified,
    full_convolutions,
    plain_resources,
    plain_vectors,
    plain_weights,
)
from planted import check_independence, planted_data, planted_topics, scores

from irplatform.plugin import Topic
from irplatform.text import lexical_features
from irplatform_delta.options import SevMosOptions
from irplatform_delta.reranker import SevMos

DOCUMENT_WORDS = 9
LEXICAL = ("bm25_text", "overlap_title")
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "a word of the vectors alone": f"{WORDS[3]} {ELSEWHERE} {WORDS[1]}",
    "nothing": "",
}
SHAPES = {"c1": {"layers": 1, "width": 5}, "c3": {"layers": 3, "width": 3}}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return plain_resources(tmp_path_factory.mktemp("forward"))


def _reranker(resources, **changed):
    reranker = SevMos(SevMosOptions.model_validate(changed))
    reranker.prepare(resources)
    return reranker


def _by_the_paper(reranker, resources, query, text, lexical):
    weights, vectors = plain_weights(reranker.network), plain_vectors(resources)
    word_vectors = resources.word_vectors
    unk = word_vectors.matrix[word_vectors.unk].astype(float)
    layers = reranker.options.layers
    query_vectors = [vectors.get(word, unk) for word in query.split()]
    read = [vectors.get(word, unk) for word in text.split()[:DOCUMENT_WORDS]]
    x_q = full_convolutions(weights, "query", query_vectors, layers)
    x_d = full_convolutions(weights, "document", read, layers)
    similarity = x_d @ weights["similarity.weight"] @ x_q
    standard = (lexical - weights["lexical_mean"]) / weights["lexical_scale"]
    return classified(weights, np.concatenate([x_q, [similarity], x_d, standard]))


@pytest.mark.parametrize("stored", [0, 1000])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_computes_what_the_papers_say(resources, query, shape, stored):
    reranker = _reranker(
        resources,
        **shape,
        filters=5,
        document_words=DOCUMENT_WORDS,
        lexical=LEXICAL,
        stored_documents=stored,
    )
    reranker.network.lexical_mean.copy_(torch.tensor([0.3, 0.1]))
    reranker.network.lexical_scale.copy_(torch.tensor([2.0, 0.5]))
    ids = list(resources.texts)
    index = resources.index
    features = lexical_features(index, index.query_ids(query), index.rows(ids), LEXICAL)
    expected = [
        _by_the_paper(reranker, resources, query, resources.texts[doc_id], features[n])
        for n, doc_id in enumerate(ids)
    ]
    values = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(values, expected, atol=1e-5)


def test_document_vectors_are_computed_once_for_the_same_weights(resources, tmp_path):
    copy = replace(resources, folder=tmp_path, built=[])
    ids = list(resources.texts)

    def score(query, seed=1):
        reranker = _reranker(replace(copy, seed=seed), filters=5)
        return reranker.score(Topic("t", query), copy.documents(ids))

    first = score(QUERIES["words with vectors"])
    assert score(QUERIES["words with vectors"]) == first
    score(QUERIES["nothing"])
    assert copy.built == ["sevmos-documents"]
    score(QUERIES["nothing"], seed=2)  # other weights
    assert copy.built == ["sevmos-documents"] * 2


def test_document_vectors_are_kept_for_every_number_of_threads(resources, tmp_path):
    """Sums that are divided among threads round differently."""
    copy = replace(resources, folder=tmp_path, built=[])
    for threads in (1, 2, 1):
        reranker = _reranker(replace(copy, model_threads=threads), filters=5)
        reranker.score(Topic("t", QUERIES["words with vectors"]), copy.documents(["d1"]))
    assert copy.built == ["sevmos-documents"] * 2


def test_training_forgets_what_was_stored(planted, tmp_path):
    reranker = _reranker(planted, filters=16, loop={"epochs": 1})
    (topic,) = planted_topics([90])
    before = scores(reranker, planted, topic)
    reranker.fit(planted_data(tmp_path / "work"))
    reranker.save(tmp_path)
    fresh = _reranker(planted, filters=16)
    fresh.load(tmp_path)
    after = scores(reranker, planted, topic)
    assert not np.allclose(after, before)
    assert np.allclose(scores(fresh, planted, topic), after, atol=1e-6)


def test_without_a_store_scores_do_not_depend_on_the_other_documents(planted):
    reranker = _reranker(planted, **SHAPES["c1"], filters=16, stored_documents=0)
    check_independence(reranker, planted, atol=1e-4)
