"""Delta (2017): its two forms are the paper's one; it learns, resumes, and is saved."""

from dataclasses import replace

import numpy as np
import pytest
import torch
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
from irplatform.text import lexical_features
from irplatform_delta2017.options import OVERLAPS, Delta2017Options
from irplatform_delta2017.reranker import Delta2017

DIMENSIONS = 6
DOCUMENT_WORDS = 9
WORDS = words(40)
WITH_VECTORS = WORDS[:25]
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "only words without vectors": f"{WORDS[31]} absent",
    "nothing": "",
}
LOOP = {"optimizer": "adam", "learning_rate": 0.003, "batch_size": 32, "epochs": 12}
SMALL = {"filters": 16, "document_words": 12, "lexical": (), "loop": LOOP}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(3)
    texts = {f"d{n}": " ".join(random.choice(WORDS, random.integers(1, 20))) for n in range(20)}
    texts |= {"empty": "", "unknown": " ".join(WORDS[25:31]), "one": WORDS[4]}
    vectors = {word: random.normal(size=DIMENSIONS) for word in WITH_VECTORS}
    return small_resources(tmp_path_factory.mktemp("forward"), texts, vectors)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


def _reranker(resources, **changed):
    reranker = Delta2017(Delta2017Options.model_validate(changed))
    reranker.prepare(resources)
    return reranker


@pytest.fixture(scope="module")
def fitted(planted, tmp_path_factory):
    reranker = _reranker(planted, **SMALL)
    reranker.fit(planted_data(tmp_path_factory.mktemp("work")))
    return reranker


def _full_convolution(rows, weight, bias):
    """Section 4.1, a number at a time: width − 1 zeros on either side."""
    width = weight.shape[2]
    padded = [np.zeros(weight.shape[1])] * (width - 1)
    padded = [*padded, *rows, *padded]
    return [
        np.array(
            [
                max(0.0, bias[f] + sum(weight[f, :, k] @ padded[t + k] for k in range(width)))
                for f in range(len(weight))
            ]
        )
        for t in range(len(rows) + width - 1)
    ]


def _by_the_paper(reranker, resources, query, text, lexical):
    weights = {n: w.numpy().astype(float) for n, w in reranker._network.state_dict().items()}
    held = resources.word_vectors
    vectors = dict(zip(held.words, np.array(held.matrix, dtype=float), strict=False))
    asked = [vectors[word] for word in query.split() if word in vectors]
    rows = []
    for word in text.split()[:DOCUMENT_WORDS]:
        features = np.zeros(DIMENSIONS + 2)
        if word in vectors and asked:
            d = vectors[word]
            q = min(asked, key=lambda candidate: np.linalg.norm(d - candidate))
            features[:-2] = d - q
            features[-2] = np.linalg.norm(d - q)
            features[-1] = d @ q / (np.linalg.norm(d) * np.linalg.norm(q))
        rows.append(features)
    for layer in range(3):
        name = f"scanner.layers.{layer}"
        rows = (
            _full_convolution(rows, weights[f"{name}.weight"], weights[f"{name}.bias"])
            if rows
            else []
        )
    filters = len(weights["scanner.layers.0.bias"])
    joined = np.concatenate([np.max(rows, axis=0) if rows else np.zeros(filters), lexical])
    for layer in ("first", "second"):
        joined = (
            weights[f"classifier.{layer}.weight"] @ joined + weights[f"classifier.{layer}.bias"]
        )
        joined = np.maximum(joined, 0)
    return float(
        (weights["classifier.output.weight"] @ joined + weights["classifier.output.bias"])[0]
    )


@pytest.mark.parametrize("form", ["quick", "plain"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_computes_what_the_paper_says(resources, query, form):
    reranker = _reranker(resources, filters=5, document_words=DOCUMENT_WORDS, form=form)
    ids = list(resources.texts)
    index = resources.index
    features = lexical_features(index, index.query_ids(query), index.rows(ids), OVERLAPS)
    expected = [
        _by_the_paper(reranker, resources, query, resources.texts[doc_id], features[n])
        for n, doc_id in enumerate(ids)
    ]
    found = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(found, expected, atol=1e-5)


def test_both_forms_have_the_same_gradients(resources):
    reranker = _reranker(resources, filters=5, document_words=DOCUMENT_WORDS)
    network, encoder = reranker._network, reranker._encoder
    encoded = encoder.encode(Topic("t", QUERIES["words with vectors"]), list(resources.texts))
    held = encoder.vectors, encoded.words, encoded.documents, encoded.lexical
    gradients = []
    for form in (network.plain, network):
        network.zero_grad()
        form(*held).sum().backward()
        gradients.append([p.grad.clone() for p in network.parameters()])
    for plain, quick in zip(*gradients, strict=True):
        assert torch.allclose(plain, quick, atol=1e-5)
    assert gradients[0][0].abs().sum() > 0


def test_it_has_the_paper_s_shape(resources):
    paper = Delta2017Options.model_validate({"filters": 256})
    reranker = Delta2017(paper)
    reranker.prepare(resources)
    assert reranker._network.classifier.first.weight.shape == (260, 260)
    assert [layer.kernel_size for layer in reranker._network.scanner.layers] == [(3,)] * 3


def test_it_learns_what_only_word_vectors_tell(fitted, planted):
    assert precision_at_1(fitted, planted) >= 0.95


def test_scores_do_not_depend_on_the_other_documents(fitted, planted):
    check_independence(fitted, planted)


def test_interrupted_training_goes_on_to_the_same_weights(planted, tmp_path, monkeypatch):
    options = Delta2017Options.model_validate({**SMALL, "loop": {**LOOP, "epochs": 4}})
    check_resuming(lambda: Delta2017(options), planted, tmp_path, monkeypatch)


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
        _reranker(planted, **{**SMALL, "filters": 9}).load(tmp_path)


def test_weighted_samples_count_by_their_grade(planted, tmp_path):
    found = []
    for weighted in (False, True):
        reranker = _reranker(planted, **{**SMALL, "loop": {"epochs": 1}}, weighted=weighted)
        data = planted_data(tmp_path / str(weighted))
        graded = [replace(t, judgments=dict.fromkeys(t.judgments, 9)) for t in data.training]
        reranker.fit(replace(data, training=graded))
        found.append(scores(reranker, planted, planted_topics([90])[0]))
    assert not np.allclose(*found)


def test_no_documents_no_scores(fitted, planted):
    assert fitted.score(Topic("t", "word"), planted.documents([])) == []
