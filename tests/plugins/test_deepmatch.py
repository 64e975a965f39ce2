"""DeepMatch: scores are those of a plain loop; it learns, resumes, and is saved."""

from dataclasses import replace

import numpy as np
import pytest
from planted import (
    check_independence,
    check_resuming,
    planted_data,
    planted_resources,
    planted_topics,
    precision_at_1,
    scores,
)
from small import small_resources, words

from irplatform.errors import InputError
from irplatform.plugin import Topic
from irplatform_deepmatch.options import DeepMatchOptions
from irplatform_deepmatch.reranker import DeepMatch
from irplatform_deepmatch.task import DeepMatchTask

DIMENSIONS = 6
WORDS = words(40)
WITH_VECTORS = WORDS[:25]
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
SMALL = {"document_words": 12, "loop": {"batch_size": 32, "epochs": 8}}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(3)
    texts = {f"d{n}": " ".join(random.choice(WORDS, random.integers(1, 30))) for n in range(20)}
    texts |= {"empty": "", "unknown": " ".join(WORDS[25:31]), "one": WORDS[4]}
    vectors = {word: random.normal(size=DIMENSIONS) for word in WITH_VECTORS}
    return small_resources(tmp_path_factory.mktemp("forward"), texts, vectors)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


def _reranker(resources, **changed):
    reranker = DeepMatch(DeepMatchOptions.model_validate(changed))
    reranker.prepare(resources)
    return reranker


@pytest.fixture(scope="module")
def fitted(planted, tmp_path_factory):
    reranker = _reranker(planted, **SMALL)
    reranker.fit(planted_data(tmp_path_factory.mktemp("work")))
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
    made = np.zeros((len(weight), height, width))
    for f in range(len(weight)):
        for i in range(height):
            for j in range(min(width, length)):
                window = padded[:, i : i + 3, j : j + 3]
                made[f, i, j] = max(0.0, bias[f] + (weight[f] * window).sum())
    return made


def _pool(maps, cells):
    """The largest value in each of cells × cells parts, as equal as they can be."""
    height, width = maps.shape[1:]
    rows = [(i * height // cells[0], -(-(i + 1) * height // cells[0])) for i in range(cells[0])]
    columns = [(j * width // cells[1], -(-(j + 1) * width // cells[1])) for j in range(cells[1])]
    return np.array([[[m[a:b, c:d].max() for c, d in columns] for a, b in rows] for m in maps])


def _by_hand(reranker, resources, query, text):
    weights = {n: w.numpy().astype(float) for n, w in reranker._network.state_dict().items()}
    options, held = reranker.options, resources.word_vectors
    vectors = dict(zip(held.words, np.array(held.matrix, dtype=float), strict=False))
    known = list(resources.index.vocabulary)
    asked = [word for word in query.split() if word in known][: options.query_words] or [None]
    read = text.split()[: options.document_words]
    matrix = np.zeros((1, len(asked), options.document_words))
    for i, one in enumerate(asked):
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
    found = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(found, expected, atol=1e-5)


def test_the_loss_is_the_weighted_hinge_of_the_documents_own_scores(planted):
    """Though a batch mixes queries of different lengths."""
    reranker = _reranker(planted, **SMALL, l2=0.0)
    topics = [
        replace(
            t, topic=Topic(t.topic.id, " ".join(p.topic.query for p in planted_topics(range(n))))
        )
        for n, t in enumerate(planted_topics(range(5)))
    ]
    task = DeepMatchTask(
        reranker._network, reranker._interactions, reranker.options, topics, [], 1, lambda _: None
    )
    for batch in task.batches(0):
        total = 0.0
        columns = batch.topic, batch.higher, batch.lower, batch.weight
        for t, h, low, weight in zip(*columns, strict=True):
            ids = task._sampler.pools[t].doc_ids
            pair = replace(task._sampler.topics[t], candidates=(ids[h], ids[low]))
            higher, lower = scores(reranker, planted, pair)
            total += weight * max(0.0, 1 - higher + lower)
        assert task.loss(batch).item() == pytest.approx(total / batch.weight.sum(), abs=1e-5)


def test_it_learns_what_only_word_vectors_tell(fitted, planted):
    assert precision_at_1(fitted, planted) >= 0.95


def test_scores_do_not_depend_on_the_other_documents(fitted, planted):
    check_independence(fitted, planted)


def test_interrupted_training_goes_on_to_the_same_weights(planted, tmp_path, monkeypatch):
    options = DeepMatchOptions.model_validate({**SMALL, "loop": {"batch_size": 32, "epochs": 4}})
    check_resuming(lambda: DeepMatch(options), planted, tmp_path, monkeypatch)


def test_what_was_saved_scores_the_same_when_loaded(fitted, planted, tmp_path):
    fitted.save(tmp_path)
    other = _reranker(planted, **SMALL)
    (topic,) = planted_topics([90])
    assert not np.array_equal(scores(other, planted, topic), scores(fitted, planted, topic))
    other.load(tmp_path)
    assert np.array_equal(scores(other, planted, topic), scores(fitted, planted, topic))


def test_weights_of_another_network_are_refused(fitted, planted, tmp_path):
    fitted.save(tmp_path)
    with pytest.raises(InputError, match="belong to another model"):
        _reranker(planted, **SMALL, hidden=9).load(tmp_path)


def test_no_documents_no_scores(fitted, planted):
    assert fitted.score(Topic("t", "word"), planted.documents([])) == []
