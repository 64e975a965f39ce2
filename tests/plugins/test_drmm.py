"""DRMM: histograms and scores are the paper's; 162 parameters; stems."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from plain import DIMENSIONS, WORDS, plain_resources, plain_vectors, plain_weights
from planted import hinge_loss, longer_planted_topics, planted_data, precision_at_1, scores
from small import small_resources, words

from irplatform.lucene.queries import krovetz_stems
from irplatform.plugin import Topic, TrainingData
from irplatform_drmm.network import (
    DrmmNetwork,
    DrmmTask,
    Matcher,
    Stems,
    document_frequency,
    number_stems,
    stem_vectors,
)
from irplatform_drmm.options import DrmmOptions
from irplatform_drmm.reranker import Drmm

DOCUMENT_WORDS = 9
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "a word twice": f"{WORDS[2]} {WORDS[2]}",
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "stop words": f"the {WORDS[1]} of {WORDS[30]}",
    "only stop words": "the of",
    "nothing": "",
}
SMALL = {"document_words": 12, "loop": {"batch_size": 64, "epochs": 10}}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return plain_resources(tmp_path_factory.mktemp("forward"), stops=f"the of {WORDS[0]}")


def _reranker(resources, **changed):
    reranker = Drmm(DrmmOptions.model_validate({"stemmer": "none", **changed}))
    reranker.prepare(resources)
    return reranker


def _terms(resources, query):
    terms = [word for word in query.split() if word in list(resources.index.vocabulary)]
    return [word for word in terms if word not in {"the", "of"}] or terms


def _histogram(resources, term, text, bins):
    """Section 4.1, a word at a time."""
    vectors = plain_vectors(resources)
    counts = np.zeros(bins)
    for word in text.split()[:DOCUMENT_WORDS]:
        if word == term:
            counts[bins - 1] += 1
        elif word in vectors and term in vectors:
            lengths = np.linalg.norm(vectors[word]) * np.linalg.norm(vectors[term])
            cosine = vectors[word] @ vectors[term] / lengths
            counts[min(int((cosine + 1) / 2 * (bins - 1)), bins - 2)] += 1
    return counts


def _by_the_paper(reranker, resources, query, text):
    weights = plain_weights(reranker.network)
    index, vectors = resources.index, resources.word_vectors
    terms = _terms(resources, query)
    if not terms:
        return 0.0
    gates, matched = [], []
    for term in terms:
        counts = np.log(1 + _histogram(resources, term, text, reranker.options.bins))
        hidden = np.tanh(weights["hidden.weight"] @ counts + weights["hidden.bias"])
        matched.append(np.tanh(weights["output.weight"] @ hidden + weights["output.bias"])[0])
        if reranker.options.gate == "idf":
            (word_id,) = index.vocabulary.ids([term])
            gates.append(weights["gate"][0] * index.idf("text")[word_id])
        else:
            row = vectors.words.find([term])[0]
            vector = vectors.matrix[row] if row >= 0 else np.zeros(DIMENSIONS)
            length = np.linalg.norm(vector)
            gates.append(weights["gate"] @ (vector / length if length else vector))
    gates = np.exp(gates) / np.exp(gates).sum()
    return float(gates @ matched)


@pytest.mark.parametrize("gate", ["idf", "vectors"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_computes_what_the_paper_says(resources, query, gate):
    reranker = _reranker(resources, gate=gate, document_words=DOCUMENT_WORDS)
    reranker.network.gate.data.normal_()
    ids = list(resources.texts)
    expected = [_by_the_paper(reranker, resources, query, resources.texts[i]) for i in ids]
    values = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize("query", ["words with vectors", "some without vectors"])
def test_histograms_are_counts(resources, query):
    reranker = _reranker(resources, document_words=DOCUMENT_WORDS)
    ids = list(resources.texts)
    matches = reranker.matcher.match(QUERIES[query], ids)
    terms = _terms(resources, QUERIES[query])
    expected = [[_histogram(resources, t, resources.texts[i], 30) for t in terms] for i in ids]
    assert np.array_equal(matches.counts, expected)


def test_it_has_162_parameters_with_a_gate_over_idf():
    def parameters(gate):
        return sum(p.numel() for p in DrmmNetwork(30, 5, gate, 300).parameters())

    assert parameters("idf") == 162
    assert parameters("vectors") == 161 + 300


def test_a_cosine_on_a_border_falls_into_the_same_bin_in_any_company(tmp_path):
    """Though a matrix product rounds differently for different numbers of words."""
    random = np.random.default_rng(5)
    names = words(400)
    angles = np.arccos(np.clip(-1 + 2 * random.integers(0, 30, 400) / 29, -1, 1))
    plane = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turned = plane @ np.linalg.qr(random.normal(size=(50, 50)))[0][:2]
    vectors = dict(zip(names, turned, strict=True))
    resources = small_resources(tmp_path, {name: name for name in names}, vectors)
    reranker = _reranker(resources)
    query = " ".join(names[:3])
    together = reranker.matcher.match(query, names).counts
    for start in range(0, 400, 37):
        part = names[start : start + 37]
        alone = reranker.matcher.match(query, part).counts
        assert np.array_equal(alone, together[start : start + 37])


def test_words_of_one_stem_match_exactly(tmp_path):
    texts = {"a": "statins", "b": "statin", "c": "aspirin statin statins"}
    vectors = {"statins": np.array([1.0, 0.0]), "statin": np.array([0.0, 1.0])}
    resources = small_resources(tmp_path, texts, vectors)
    index = resources.index
    of_word = number_stems([word.rstrip("s") for word in index.vocabulary])
    stems = Stems(of_word, document_frequency(index, of_word, lambda _: None))
    assert stems.document_frequency.tolist() == [3, 1]
    matrix = stem_vectors(index, stems, resources.word_vectors)
    assert np.allclose(matrix, [[0.5**0.5, 0.5**0.5], [0, 0]])
    matcher = Matcher(index, stems, matrix, DrmmOptions())
    assert matcher.match("statin", ["a", "b", "c"]).counts[:, 0, -1].tolist() == [1, 1, 2]


def test_document_frequency_without_stems_is_the_index_s(resources):
    index = resources.index
    every = np.arange(len(index.vocabulary), dtype=np.int32)
    counted = document_frequency(index, every, lambda _: None)
    assert np.array_equal(counted, index.document_frequency("text"))


@pytest.mark.java
def test_krovetz_stems():
    forms = [
        "diseases",
        "statins",
        "running",
        "studies",
        "brca1",
        "<int>",
        "the",
        "x" * 60,
        "étude",
    ]
    assert krovetz_stems(forms) == [
        "disease", "statin", "running", "study", "brca1", "<int>", "the", "x" * 60, "étude",
    ]  # fmt: skip


@pytest.mark.java
def test_stems_are_made_once_for_a_collection(tmp_path):
    texts = {"a": "statins and studies", "b": "statin study"}
    vectors = {"statins": np.ones(2), "study": np.ones(2)}
    resources = small_resources(tmp_path, texts, vectors)
    for query in ("statins", "studies"):
        reranker = _reranker(resources, stemmer="krovetz")
        counts = reranker.matcher.match(query, ["a", "b"]).counts[:, 0, -1]
        assert counts.tolist() == [1, 1]
    assert sorted(resources.built) == ["drmm-vectors", "krovetz-stems"]


def test_queries_of_different_lengths_are_learned_from_together(planted, tmp_path):
    """And one without any known word among them harms nothing."""
    data = planted_data(tmp_path)
    topics = []
    for number, topic in enumerate(data.training):
        query = " ".join(["absent", *([topic.topic.query] * (number % 4))])
        topics.append(replace(topic, topic=Topic(topic.topic.id, query)))
    reranker = _reranker(planted, **SMALL)
    reranker.fit(replace(data, training=topics))
    assert precision_at_1(reranker, planted) >= 0.95


@pytest.mark.parametrize("gate", ["idf", "vectors"])
def test_the_loss_is_the_weighted_hinge_of_the_documents_own_scores(planted, tmp_path, gate):
    reranker = _reranker(planted, **SMALL, gate=gate)
    reranker.network.gate.data.normal_()
    topics = longer_planted_topics(range(1, 6))
    task = DrmmTask(
        reranker.network,
        reranker.matcher,
        reranker._score,
        reranker._gate_inputs,
        reranker.options,
        TrainingData(topics, [], Path()),
        1,
        "cpu",
        lambda _: None,
    )
    (batch,) = task.batches(0)
    expected = hinge_loss(task, batch, lambda pair: scores(reranker, planted, pair))
    assert task.loss(batch).item() == pytest.approx(expected, abs=1e-5)
