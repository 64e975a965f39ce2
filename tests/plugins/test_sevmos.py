"""SevMos: both forms are the papers' model; stored documents serve the same scores; it learns."""

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
from irplatform_sevmos.options import SevMosOptions
from irplatform_sevmos.reranker import SevMos

DIMENSIONS = 6
DOCUMENT_WORDS = 9
LEXICAL = ("bm25_text", "overlap_title")
WORDS = words(40)
WITH_VECTORS = WORDS[:25]
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "nothing": "",
}
SHAPES = {"c1": {"layers": 1, "width": 5}, "c3": {"layers": 3, "width": 3}}
LOOP = {"optimizer": "adam", "learning_rate": 0.003, "batch_size": 32, "epochs": 15}
SMALL = {
    "filters": 16,
    "document_words": 12,
    "lexical": (),
    "dropout": 0.0,
    "classifier_dropout": 0.0,
    "loop": LOOP,
}


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
    reranker = SevMos(SevMosOptions.model_validate(changed))
    reranker.prepare(resources)
    return reranker


@pytest.fixture(scope="module", params=SHAPES.values(), ids=SHAPES)
def fitted(request, planted, tmp_path_factory):
    reranker = _reranker(planted, **SMALL, **request.param)
    reranker.fit(planted_data(tmp_path_factory.mktemp("work")))
    return reranker


def _text_vector(weights, stage, layers, rows):
    """A text's vector, a number at a time: full convolutions with ReLU, the largest value."""
    for layer in range(layers):
        weight, bias = (weights[f"{stage}.layers.{layer}.{part}"] for part in ("weight", "bias"))
        width = weight.shape[2]
        zeros = [np.zeros(weight.shape[1])] * (width - 1)
        padded = [*zeros, *rows, *zeros]
        rows = [
            np.array(
                [
                    max(0.0, bias[f] + sum(weight[f, :, k] @ padded[t + k] for k in range(width)))
                    for f in range(len(weight))
                ]
            )
            for t in range(len(rows) + width - 1)
            if rows
        ]
    return np.max(rows, axis=0) if rows else np.zeros(len(bias))


def _by_the_paper(reranker, resources, query, text, lexical):
    weights = {n: w.numpy().astype(float) for n, w in reranker._network.state_dict().items()}
    held = resources.word_vectors
    vectors = dict(zip(held.words, np.array(held.matrix, dtype=float), strict=False))
    unk = held.matrix[held.unk].astype(float)
    layers = reranker.options.layers
    asked = [vectors.get(word, unk) for word in query.split()]
    read = [vectors.get(word, unk) for word in text.split()[:DOCUMENT_WORDS]]
    x_q = _text_vector(weights, "query", layers, asked)
    x_d = _text_vector(weights, "document", layers, read)
    similarity = x_d @ weights["similarity.weight"] @ x_q
    standard = (lexical - weights["lexical_mean"]) / weights["lexical_scale"]
    held = np.concatenate([x_q, [similarity], x_d, standard])
    for layer in ("first", "second"):
        held = weights[f"classifier.{layer}.weight"] @ held + weights[f"classifier.{layer}.bias"]
        held = np.maximum(held, 0)
    output = weights["classifier.output.weight"] @ held + weights["classifier.output.bias"]
    return float(output[0])


@pytest.mark.parametrize("stored", [0, 1000])
@pytest.mark.parametrize("form", ["quick", "plain"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_computes_what_the_papers_say(resources, query, shape, form, stored):
    reranker = _reranker(
        resources,
        **shape,
        filters=5,
        document_words=DOCUMENT_WORDS,
        lexical=LEXICAL,
        form=form,
        stored_documents=stored,
    )
    reranker._network.lexical_mean.copy_(torch.tensor([0.3, 0.1]))
    reranker._network.lexical_scale.copy_(torch.tensor([2.0, 0.5]))
    ids = list(resources.texts)
    index = resources.index
    features = lexical_features(index, index.query_ids(query), index.rows(ids), LEXICAL)
    expected = [
        _by_the_paper(reranker, resources, query, resources.texts[doc_id], features[n])
        for n, doc_id in enumerate(ids)
    ]
    found = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(found, expected, atol=1e-5)


def test_both_forms_have_the_same_gradients(resources):
    gradients = []
    for form in ("quick", "plain"):
        reranker = _reranker(resources, filters=5, document_words=DOCUMENT_WORDS, form=form)
        texts, stage = reranker._texts, reranker._network.document
        rows = np.arange(resources.index.count)
        texts.vectors(stage, texts.documents(rows)).sum().backward()
        gradients.append([p.grad.clone() for p in stage.parameters()])
    assert gradients[0][0].abs().sum() > 0
    for quick, plain in zip(*gradients, strict=True):
        assert torch.allclose(quick, plain, atol=1e-4)


def test_document_vectors_are_computed_once_for_the_same_weights(resources, tmp_path):
    held = replace(resources, folder=tmp_path, built=[])
    ids = list(resources.texts)

    def score(query, seed=1):
        reranker = _reranker(replace(held, seed=seed), filters=5)
        return reranker.score(Topic("t", query), held.documents(ids))

    first = score(QUERIES["words with vectors"])
    assert score(QUERIES["words with vectors"]) == first
    score(QUERIES["nothing"])
    assert held.built == ["sevmos-documents"]
    score(QUERIES["nothing"], seed=2)  # other weights
    assert held.built == ["sevmos-documents"] * 2


def test_training_forgets_what_was_stored(planted, tmp_path):
    reranker = _reranker(planted, **{**SMALL, "loop": {**LOOP, "epochs": 1}})
    (topic,) = planted_topics([90])
    before = scores(reranker, planted, topic)
    reranker.fit(planted_data(tmp_path / "work"))
    reranker.save(tmp_path)
    fresh = _reranker(planted, **SMALL)
    fresh.load(tmp_path)
    after = scores(reranker, planted, topic)
    assert not np.allclose(after, before)
    assert np.allclose(scores(fresh, planted, topic), after, atol=1e-6)


def test_it_learns_what_only_word_vectors_tell(fitted, planted):
    assert precision_at_1(fitted, planted) >= 0.95


def test_scores_do_not_depend_on_the_other_documents(fitted, planted):
    check_independence(fitted, planted)
    unstored = SevMos(fitted.options.model_copy(update={"stored_documents": 0}))
    unstored.prepare(planted)
    unstored._network.load_state_dict(fitted._network.state_dict())
    check_independence(unstored, planted, atol=1e-4)


def test_interrupted_training_goes_on_to_the_same_weights(planted, tmp_path, monkeypatch):
    options = SevMosOptions.model_validate(
        {**SMALL, "dropout": 0.2, "loop": {**LOOP, "epochs": 4}, "lexical": LEXICAL}
    )
    check_resuming(lambda: SevMos(options), planted, tmp_path, monkeypatch)


@pytest.mark.parametrize("changed", [{"filters": 9}, {"layers": 2}, {"lexical": LEXICAL}], ids=str)
def test_weights_of_another_network_are_refused(fitted, planted, tmp_path, changed):
    fitted.save(tmp_path)
    shape = {"layers": fitted.options.layers, "width": fitted.options.width}
    with pytest.raises(InputError, match="belong to another model"):
        _reranker(planted, **{**SMALL, **shape, **changed}).load(tmp_path)


def test_topics_without_anything_to_tell_apart_are_an_error(planted, tmp_path):
    reranker = _reranker(planted, **SMALL)
    data = planted_data(tmp_path)
    nothing = [replace(topic, judgments={}) for topic in data.training]
    with pytest.raises(InputError, match="no training topic"):
        reranker.fit(replace(data, training=nothing))


def test_no_documents_no_scores(fitted, planted):
    assert fitted.score(Topic("t", "word"), planted.documents([])) == []
