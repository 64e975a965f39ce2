"""DRMM: histograms and scores are the paper's; 162 parameters; stems; it learns."""

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
from irplatform_drmm.matching import Matcher, stem_vectors
from irplatform_drmm.network import DrmmNetwork
from irplatform_drmm.options import DrmmOptions
from irplatform_drmm.reranker import Drmm
from irplatform_drmm.stems import Stems, document_frequency, krovetz, number_stems

DIMENSIONS = 6
DOCUMENT_WORDS = 9
WORDS = words(40)
WITH_VECTORS = WORDS[:25]
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "a word twice": f"{WORDS[2]} {WORDS[2]}",
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "stop words": f"the {WORDS[1]} of {WORDS[30]}",
    "only stop words": "the of",
    "nothing": "",
}
SMALL = {"document_words": 12, "stemmer": "none", "loop": {"batch_size": 64, "epochs": 10}}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(3)
    texts = {f"d{n}": " ".join(random.choice(WORDS, random.integers(1, 20))) for n in range(20)}
    texts |= {"empty": "", "unknown": " ".join(WORDS[25:31]), "stops": f"the of {WORDS[0]}"}
    vectors = {word: random.normal(size=DIMENSIONS) for word in WITH_VECTORS}
    return small_resources(tmp_path_factory.mktemp("forward"), texts, vectors)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


def _reranker(resources, **changed):
    reranker = Drmm(DrmmOptions.model_validate({"stemmer": "none", **changed}))
    reranker.prepare(resources)
    return reranker


@pytest.fixture(scope="module", params=["idf", "vectors"])
def fitted(request, planted, tmp_path_factory):
    reranker = _reranker(planted, **SMALL, gate=request.param)
    reranker.fit(planted_data(tmp_path_factory.mktemp("work")))
    return reranker


def _terms(resources, query):
    known = [word for word in query.split() if word in list(resources.index.vocabulary)]
    return [word for word in known if word not in {"the", "of"}] or known


def _histogram(resources, term, text, bins):
    """Section 4.1, a word at a time."""
    held = resources.word_vectors
    vectors = dict(zip(held.words, np.array(held.matrix, dtype=float), strict=False))
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
    weights = {n: w.numpy().astype(float) for n, w in reranker._network.state_dict().items()}
    index, held = resources.index, resources.word_vectors
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
            row = held.words.find([term])[0]
            vector = held.matrix[row] if row >= 0 else np.zeros(DIMENSIONS)
            length = np.linalg.norm(vector)
            gates.append(weights["gate"] @ (vector / length if length else vector))
    gates = np.exp(gates) / np.exp(gates).sum()
    return float(gates @ matched)


@pytest.mark.parametrize("gate", ["idf", "vectors"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_computes_what_the_paper_says(resources, query, gate):
    reranker = _reranker(resources, gate=gate, document_words=DOCUMENT_WORDS)
    reranker._network.gate.data.normal_()
    ids = list(resources.texts)
    expected = [_by_the_paper(reranker, resources, query, resources.texts[i]) for i in ids]
    found = reranker.score(Topic("t", query), resources.documents(ids))
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("query", ["words with vectors", "some without vectors"])
def test_histograms_are_counts(resources, query):
    reranker = _reranker(resources, document_words=DOCUMENT_WORDS)
    ids = list(resources.texts)
    matches = reranker._matcher.match(QUERIES[query], ids)
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
    together = reranker._matcher.match(query, names).counts
    for start in range(0, 400, 37):
        part = names[start : start + 37]
        alone = reranker._matcher.match(query, part).counts
        assert np.array_equal(alone, together[start : start + 37])


def test_words_of_one_stem_match_exactly(tmp_path):
    texts = {"a": "statins", "b": "statin", "c": "aspirin statin statins"}
    vectors = {"statins": np.array([1.0, 0.0]), "statin": np.array([0.0, 1.0])}
    resources = small_resources(tmp_path, texts, vectors)
    index = resources.index
    of_word = number_stems([word.rstrip("s") for word in index.vocabulary])
    stems = Stems(of_word, document_frequency(index, of_word, lambda _: None))
    assert stems.document_frequency.tolist() == [3, 1]
    made = stem_vectors(index, stems, resources.word_vectors)
    assert np.allclose(made, [[0.5**0.5, 0.5**0.5], [0, 0]])
    matcher = Matcher(index, stems, made, DrmmOptions())
    assert matcher.match("statin", ["a", "b", "c"]).counts[:, 0, -1].tolist() == [1, 1, 2]


def test_document_frequency_without_stems_is_the_index_s(resources):
    index = resources.index
    every = np.arange(len(index.vocabulary), dtype=np.int32)
    counted = document_frequency(index, every, lambda _: None)
    assert np.array_equal(counted, index.document_frequency("text"))


@pytest.mark.java
def test_krovetz_stems():
    given = [
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
    assert krovetz(given) == [
        "disease", "statin", "running", "study", "brca1", "<int>", "the", "x" * 60, "étude",
    ]  # fmt: skip


@pytest.mark.java
def test_stems_are_made_once_for_a_collection(tmp_path):
    texts = {"a": "statins and studies", "b": "statin study"}
    vectors = {"statins": np.ones(2), "study": np.ones(2)}
    resources = small_resources(tmp_path, texts, vectors)
    for query in ("statins", "studies"):
        reranker = _reranker(resources, stemmer="krovetz")
        found = reranker._matcher.match(query, ["a", "b"]).counts[:, 0, -1]
        assert found.tolist() == [1, 1]
    assert sorted(resources.built) == ["drmm-vectors", "krovetz-stems"]


def test_it_learns_what_only_word_vectors_tell(fitted, planted):
    assert precision_at_1(fitted, planted) >= 0.95


def test_scores_do_not_depend_on_the_other_documents(fitted, planted):
    check_independence(fitted, planted)


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
    from irplatform_drmm.task import DrmmTask

    reranker = _reranker(planted, **SMALL, gate=gate)
    reranker._network.gate.data.normal_()
    topics = [
        replace(
            t, topic=Topic(t.topic.id, " ".join(p.topic.query for p in planted_topics(range(n))))
        )
        for n, t in enumerate(planted_topics(range(5)), start=1)
    ]
    task = DrmmTask(
        reranker._network,
        reranker._matcher,
        reranker._score,
        reranker._gate_inputs,
        reranker.options,
        topics,
        [],
        1,
        "cpu",
        lambda _: None,
    )
    (batch,) = task.batches(0)
    total = 0.0
    for t, h, low, weight in zip(batch.topic, batch.higher, batch.lower, batch.weight, strict=True):
        ids = task._sampler.pools[t].doc_ids
        pair = replace(task._sampler.topics[t], candidates=(ids[h], ids[low]))
        higher, lower = scores(reranker, planted, pair)
        total += weight * max(0.0, 1 - higher + lower)
    assert task.loss(batch).item() == pytest.approx(total / batch.weight.sum(), abs=1e-5)


def test_interrupted_training_goes_on_to_the_same_weights(planted, tmp_path, monkeypatch):
    options = DrmmOptions.model_validate(SMALL)
    check_resuming(lambda: Drmm(options), planted, tmp_path, monkeypatch)


def test_what_was_saved_scores_the_same_when_loaded(fitted, planted, tmp_path):
    fitted.save(tmp_path)
    other = _reranker(planted, **SMALL, gate=fitted.options.gate)
    (topic,) = planted_topics([90])
    assert not np.array_equal(scores(other, planted, topic), scores(fitted, planted, topic))
    other.load(tmp_path)
    assert np.array_equal(scores(other, planted, topic), scores(fitted, planted, topic))


def test_weights_of_another_network_are_refused(fitted, planted, tmp_path):
    fitted.save(tmp_path)
    with pytest.raises(InputError, match="belong to another model"):
        _reranker(planted, **SMALL, gate=fitted.options.gate, bins=20).load(tmp_path)


def test_no_documents_no_scores(fitted, planted):
    assert fitted.score(Topic("t", "word"), planted.documents([])) == []
