"""DeepMatch: scores are those of a plain loop, and training's are those of scoring."""

from pathlib import Path

import numpy as np
import pytest
from plain import WORDS, plain_resources, plain_vectors, plain_weights
from planted import hinge_loss, longer_planted_topics, scores

from irplatform.plugin import Topic, TrainingData
from irplatform_deepmatch.network import DeepMatchTask
from irplatform_deepmatch.options import DeepMatchOptions
from irplatform_deepmatch.reranker import DeepMatch

QUERIES = {
    "one word": WORDS[3],
    "words with vectors": " ".join(WORDS[3:8]),
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "too many words": " ".join(WORDS[:12]),
    "only words that the collection lacks": "absent missing",
    "nothing": "",
}
SHAPE = {
    "document_words": 18,
    "query_words": 8,
    "first_maps": 3,
    "second_maps": 4,
    "grid_query": 2,
    "grid_document": 3,
    "hidden": 5,
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return plain_resources(tmp_path_factory.mktemp("forward"), longest=29)


def _reranker(resources, **changed):
    reranker = DeepMatch(DeepMatchOptions.model_validate(changed))
    reranker.prepare(resources)
    return reranker


def _similarity(vectors, one, other):
    if one == other:
        return 1.0
    if one not in vectors or other not in vectors:
        return 0.0
    lengths = np.linalg.norm(vectors[one]) * np.linalg.norm(vectors[other])
    return vectors[one] @ vectors[other] / lengths


def _convolve(maps, weight, bias, length):
    """3 × 3, zeros around, ReLU; nothing behind the text's end."""
    channels, height, width = maps.shape
    padded = np.zeros((channels, height + 2, width + 2))
    padded[:, 1:-1, 1:-1] = maps
    output = np.zeros((len(weight), height, width))
    for f in range(len(weight)):
        for i in range(height):
            for j in range(min(width, length)):
                window = padded[:, i : i + 3, j : j + 3]
                output[f, i, j] = max(0.0, bias[f] + (weight[f] * window).sum())
    return output


def _pool(maps, cells):
    """The largest value in each of cells × cells parts, as equal as they can be."""
    height, width = maps.shape[1:]
    rows = [(i * height // cells[0], -(-(i + 1) * height // cells[0])) for i in range(cells[0])]
    columns = [(j * width // cells[1], -(-(j + 1) * width // cells[1])) for j in range(cells[1])]
    return np.array([[[m[a:b, c:d].max() for c, d in columns] for a, b in rows] for m in maps])


def _by_hand(reranker, resources, query, text):
    weights, vectors = plain_weights(reranker.network), plain_vectors(resources)
    options = reranker.options
    vocabulary = list(resources.index.vocabulary)
    terms = [word for word in query.split() if word in vocabulary][: options.query_words] or [None]
    read = text.split()[: options.document_words]
    matrix = np.zeros((1, len(terms), options.document_words))
    for i, one in enumerate(terms):
        for j, other in enumerate(read):
            matrix[0, i, j] = _similarity(vectors, one, other)
    maps = _convolve(matrix, weights["first.weight"], weights["first.bias"], len(read))
    groups = -(-options.document_words // 4)
    pooled = np.stack([maps[:, :, 4 * g : 4 * g + 4].max(axis=2) for g in range(groups)], axis=2)
    length = -(-len(read) // 4)
    maps = _convolve(pooled, weights["second.weight"], weights["second.bias"], length)
    grid = _pool(maps, (options.grid_query, options.grid_document)).ravel()
    hidden = np.maximum(weights["hidden.weight"] @ grid + weights["hidden.bias"], 0)
    return float((weights["output.weight"] @ hidden + weights["output.bias"])[0])


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_scores_are_those_of_a_plain_loop(resources, query):
    reranker = _reranker(resources, **SHAPE)
    ids = list(resources.texts)
    expected = [_by_hand(reranker, resources, query, resources.texts[i]) for i in ids]
    values = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(values, expected, atol=1e-5)


def test_the_loss_is_the_weighted_hinge_of_the_documents_own_scores(planted):
    """Though a batch mixes queries of different lengths."""
    reranker = _reranker(planted, document_words=12, loop={"batch_size": 32}, l2=0.0)
    topics = longer_planted_topics(range(5))
    data = TrainingData(topics, [], Path())
    task = DeepMatchTask(
        reranker.network, reranker.interactions, reranker.options, data, 1, lambda _: None
    )
    for batch in task.batches(0):
        expected = hinge_loss(task, batch, lambda pair: scores(reranker, planted, pair))
        assert task.loss(batch).item() == pytest.approx(expected, abs=1e-5)
