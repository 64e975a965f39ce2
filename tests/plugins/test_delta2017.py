"""Delta (2017) is the paper's model; samples count by their grade."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from plain import (
    DIMENSIONS,
    ELSEWHERE,
    WORDS,
    classified,
    full_convolutions,
    plain_convolutions,
    plain_resources,
    plain_vectors,
    plain_weights,
)
from planted import planted_data, planted_topics, scores

from irplatform.plugin import Topic
from irplatform.text import lexical_features
from irplatform_delta.delta2017_network import weighted_cross_entropy
from irplatform_delta.options import OVERLAPS, Delta2017Options
from irplatform_delta.reranker import Delta2017

DOCUMENT_WORDS = 9
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "only words without vectors": f"{WORDS[31]} absent",
    "a word of the vectors alone": f"{WORDS[3]} {ELSEWHERE} {WORDS[1]}",
    "nothing": "",
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return plain_resources(tmp_path_factory.mktemp("forward"))


def _reranker(resources, **changed):
    reranker = Delta2017(Delta2017Options.model_validate(changed))
    reranker.prepare(resources)
    return reranker


def _by_the_paper(reranker, resources, query, text, lexical):
    weights, vectors = plain_weights(reranker.network), plain_vectors(resources)
    query_vectors = [vectors[word] for word in query.split() if word in vectors]
    rows = []
    for word in text.split()[:DOCUMENT_WORDS]:
        features = np.zeros(DIMENSIONS + 2)
        if word in vectors and query_vectors:
            d = vectors[word]
            q = min(query_vectors, key=lambda candidate: np.linalg.norm(d - candidate))
            features[:-2] = d - q
            features[-2] = np.linalg.norm(d - q)
            features[-1] = d @ q / (np.linalg.norm(d) * np.linalg.norm(q))
        rows.append(features)
    scanned = full_convolutions(weights, "scanner", rows, layers=3)
    return classified(weights, np.concatenate([scanned, lexical]))


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_computes_what_the_paper_says(resources, query):
    reranker = _reranker(resources, filters=5, document_words=DOCUMENT_WORDS)
    ids = list(resources.texts)
    index = resources.index
    features = lexical_features(index, index.query_ids(query), index.rows(ids), OVERLAPS)
    expected = [
        _by_the_paper(reranker, resources, query, resources.texts[doc_id], features[n])
        for n, doc_id in enumerate(ids)
    ]
    values = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(values, expected, atol=1e-5)


def test_convolutions_have_the_gradients_of_plain_ones(resources):
    reranker = _reranker(resources, filters=5, document_words=DOCUMENT_WORDS)
    stage = reranker.network.scanner
    encoded = reranker.encoder.encode(Topic("t", WORDS[3]), list(resources.texts))
    words = torch.randn(len(encoded.words.word), DIMENSIONS + 2)
    gradients = []
    for form in (stage, partial(plain_convolutions, stage)):
        stage.zero_grad()
        form(words, encoded.documents).sum().backward()
        gradients.append([p.grad.clone() for p in stage.parameters()])
    assert gradients[0][0].abs().sum() > 0
    for quick, plain in zip(*gradients, strict=True):
        assert torch.allclose(quick, plain, atol=1e-4)


def test_it_has_the_paper_s_shape(resources):
    reranker = _reranker(resources, filters=256)
    assert reranker.network.classifier.first.weight.shape == (260, 260)
    assert [layer.kernel_size for layer in reranker.network.scanner.layers] == [(3,)] * 3


def test_weighted_samples_count_by_their_grade(planted, tmp_path):
    results = []
    for weighted in (False, True):
        reranker = _reranker(planted, filters=16, loop={"epochs": 1}, weighted=weighted)
        data = planted_data(tmp_path / str(weighted))
        graded = [replace(t, judgments=dict.fromkeys(t.judgments, 9)) for t in data.training]
        reranker.fit(replace(data, training=graded))
        results.append(scores(reranker, planted, planted_topics([90])[0]))
    assert not np.allclose(*results)


def test_the_loss_is_the_weighted_mean_of_the_cross_entropies():
    logits, labels, weight = [2.0, -1.0, 0.5], [1.0, 0.0, 0.0], [1.0, 3.0, 2.0]
    chances = [1 / (1 + np.exp(-x)) for x in logits]
    losses = [-np.log(p if label else 1 - p) for p, label in zip(chances, labels, strict=True)]
    expected = np.average(losses, weights=weight)
    loss = weighted_cross_entropy(*(torch.tensor(x) for x in (logits, labels, weight)))
    assert loss.item() == pytest.approx(expected, rel=1e-6)
