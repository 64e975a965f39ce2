"""The dual encoder as the harness sees it: it learns, is saved, and scores as its formula says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from planted import precision_at_1, saved, scores
from small import labelled, small_resources, words

from irplatform.errors import InputError
from irplatform.plugin import Topic, TrainingData
from irplatform.text import tokenize
from irplatform_encoders.dual_ranking import DualEncoder
from irplatform_encoders.options import DualOptions

TOPICS = 120
QUERY_WORDS = words(TOPICS)
SYNONYMS = [f"{word}a" for word in QUERY_WORDS]
OTHERS = [f"{word}u" for word in words(200)]
DIMENSIONS = 32


def _texts():
    """Relevant documents have a synonym of the topic's word."""
    random = np.random.default_rng(8)
    texts = {}
    for topic in range(TOPICS):
        for number in range(12):
            terms = list(random.choice(OTHERS, 6))
            if number < 3:
                terms[random.integers(6)] = SYNONYMS[topic]
            texts[f"t{topic}d{number}"] = " ".join(terms)
    return texts


def _resources(folder, turn):
    """Vectors in which a synonym is its word's vector, turned by `turn`; other words are louder."""
    random = np.random.default_rng(9)
    drawn = random.normal(size=(TOPICS, DIMENSIONS))
    vectors = dict(zip(QUERY_WORDS, drawn, strict=True))
    vectors |= dict(zip(SYNONYMS, drawn @ turn, strict=True))
    vectors |= {word: random.normal(size=DIMENSIONS) for word in OTHERS}
    return small_resources(folder, _texts(), vectors)


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    """Only a projection brings queries and documents together, which unseen topics show."""
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(DIMENSIONS, DIMENSIONS)))[0]
    return _resources(tmp_path_factory.mktemp("forward"), turn)


def _topics(numbers):
    return [
        labelled(
            f"t{n}",
            [f"t{n}d{d}" for d in range(12)],
            {f"t{n}d{d}": 1 for d in range(3)},
            query=QUERY_WORDS[n],
        )
        for n in numbers
    ]


def _data(workspace):
    workspace.mkdir(exist_ok=True)
    return TrainingData(_topics(range(90)), _topics(range(90, 100)), workspace)


def _prepared(resources, **changed):
    loop = {"epochs": 15, "batch_size": 96, "patience": 15, "learning_rate": 0.05}
    options = {"words": "fixed", "loop": loop, "stored_documents": 0, **changed}
    reranker = DualEncoder(DualOptions.model_validate(options))
    reranker.prepare(resources)
    return reranker


def _fitted(resources, workspace, **changed):
    reranker = _prepared(resources, **changed)
    reranker.fit(_data(workspace))
    return reranker


@pytest.fixture(scope="module")
def fitted(resources, tmp_path_factory):
    return _fitted(resources, tmp_path_factory.mktemp("work"))


def test_it_learns_a_projection_that_holds_for_unseen_words(fitted, resources):
    unseen = _topics(range(100, 120))
    assert precision_at_1(_prepared(resources), resources, unseen) < 0.6
    assert precision_at_1(fitted, resources, unseen) >= 0.95


def test_it_learns_word_vectors(tmp_path):
    random = np.random.default_rng(4)
    noise = random.normal(size=(DIMENSIONS, DIMENSIONS)) * random.normal(size=DIMENSIONS) ** 3
    resources = _resources(tmp_path / "forward", noise)
    reranker = _fitted(resources, tmp_path / "work", words="learned")
    assert precision_at_1(reranker, resources, _topics(range(90))) >= 0.95
    first = _prepared(resources, words="learned")
    before, after = first.encoder.network.vectors, reranker.encoder.network.vectors
    assert not torch.equal(before, after)


def _plain(reranker, resources, query, text):
    """The score word by word, from a title that is empty and an abstract."""
    network = reranker.encoder.network
    weights = {name: tensor.detach().numpy() for name, tensor in network.named_parameters()}
    vectors, index = resources.word_vectors, resources.index
    idf = index.idf("text")

    def mean(words_):
        total = np.zeros(vectors.dimensions)
        for word in words_:
            (row,) = vectors.rows([word])
            if row == vectors.unk:
                continue
            vector = weights["vectors"][row] if "vectors" in weights else vectors.matrix[row]
            (word_id,) = index.vocabulary.ids([word])
            weight = (idf[word_id] if word_id >= 0 else idf.max()) * np.exp(
                weights["log_weights"][row]
            )
            total += weight * vector / (np.linalg.norm(vector) if "vectors" not in weights else 1)
        return _unit(total)

    share = 1 / (1 + np.exp(-weights["title_share"]))
    query_vector = _unit(weights["query_projection"] @ mean(tokenize(query)))
    mixture = (1 - share) * mean(tokenize(text))
    return float(query_vector @ _unit(weights["document_projection"] @ mixture))


def _unit(vector):
    return vector / max(np.linalg.norm(vector), 1e-12)


@pytest.mark.parametrize("words_", ["fixed", "learned"])
def test_scores_are_those_of_a_plain_loop(resources, tmp_path, words_):
    reranker = _fitted(resources, tmp_path, words=words_, projection=16, loop={"epochs": 2})
    query = f"{QUERY_WORDS[110]} {OTHERS[3]} nobodyknowsthis {QUERY_WORDS[110]}"
    topic = labelled("t110", [f"t110d{d}" for d in range(12)], query=query)
    expected = [_plain(reranker, resources, query, resources.texts[d]) for d in topic.candidates]
    assert np.std(expected) > 1e-3
    assert np.allclose(scores(reranker, resources, topic), expected, atol=1e-5)


def test_titles_count_as_the_gate_says(resources):
    """A title and an abstract are mixed at length 1, whatever their lengths."""
    from irplatform_encoders.dual_encoder import Bags

    reranker = _prepared(resources)
    network = reranker.encoder.network
    with torch.no_grad():
        network.title_share.fill_(1.0)
    title, abstract = Bags(np.array([3]), np.array([0, 1])), Bags(np.arange(4, 9), np.array([0, 5]))
    nothing = Bags(np.empty(0, dtype=np.int64), np.array([0, 0]))
    with torch.inference_mode():
        vectors = network.documents(title, abstract)
        parts = [network.documents(title, nothing), network.documents(nothing, abstract)]
    share = 1 / (1 + np.exp(-1.0))
    mixed = _unit((share * parts[0] + (1 - share) * parts[1]).numpy()[0])
    assert np.allclose(vectors.numpy()[0], mixed, atol=1e-6)


def test_stored_documents_score_the_same(fitted, resources, tmp_path):
    saved(fitted, tmp_path / "saved")
    cached = replace(resources, folder=tmp_path / "cache", built=[])
    other = _prepared(cached, stored_documents=10_000)
    other.load(tmp_path / "saved")
    (topic,) = _topics([110])
    assert np.allclose(scores(other, cached, topic), scores(fitted, resources, topic), atol=1e-6)
    assert cached.built == ["dual-encoder"]
    more = _prepared(replace(cached, model_threads=2), stored_documents=10_000)
    more.load(tmp_path / "saved")  # other threads round differently
    scores(more, cached, topic)
    assert cached.built == ["dual-encoder"] * 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU with CUDA")
@pytest.mark.parametrize("words_", ["fixed", "learned"])
def test_a_gpu_trains_and_scores_alike(resources, tmp_path, words_):
    on_gpu = replace(resources, device="cuda")
    trained = _fitted(on_gpu, tmp_path / "work", words=words_, loop={"epochs": 3})
    saved(trained, tmp_path / "saved")
    on_cpu = _prepared(resources, words=words_)
    on_cpu.load(tmp_path / "saved")
    (topic,) = _topics([110])
    results = [scores(model, resources, topic) for model in (trained, on_cpu)]
    assert np.allclose(*results, atol=1e-4)


def test_pickled_marks_of_what_was_learned_are_refused(fitted, resources, tmp_path):
    saved(fitted, tmp_path / "saved")
    np.save(tmp_path / "saved" / "learned.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(InputError, match="marks of texts"):
        _prepared(resources).load(tmp_path / "saved")


def test_it_says_which_topics_it_learned_from(fitted):
    assert all(fitted.learned.knows(t.topic, "source") for t in _topics(range(90)))
    assert not any(fitted.learned.knows(t.topic, "source") for t in _topics(range(90, 120)))


def test_a_query_of_unknown_words_scores_zero(fitted, resources):
    documents = resources.documents(["t1d1", "t1d2"])
    assert fitted.score(Topic("t", "nobodyknowsthis"), documents) == [0.0, 0.0]


def test_relevant_documents_that_the_first_stage_did_not_find_are_no_negatives(resources):
    from irplatform_encoders.dual_training import TopicsTask

    first, second = _topics(range(2))
    first = replace(first, judgments={**first.judgments, "t1d0": 1})  # no candidate of its own
    reranker = _prepared(resources, groups={"relevant": "candidates"})
    task = TopicsTask(
        reranker.encoder, reranker.options, TrainingData([first, second], [], Path()), seed=1
    )
    shared = reranker.encoder.index.rows(["t1d0"])
    rows = task._rows[0][:1]
    assert task._other_relevant(np.array([0]), rows, np.array([*rows, *shared])).tolist() == [
        [False, True]
    ]


def test_other_relevant_documents_of_a_topic_are_no_negatives(resources, tmp_path):
    from irplatform.training.list_samplers import Groups
    from irplatform_encoders.dual_training import TopicsTask

    reranker = _prepared(resources)
    data = TrainingData(_topics(range(2)), [], Path())
    task = TopicsTask(reranker.encoder, reranker.options, data, seed=1)
    # Both relevant documents of topic 0 stand in the batch, with a negative of each topic.
    batch = Groups(np.array([0, 0, 1]), np.array([[0, 5], [1, 5], [0, 6]]))
    network = reranker.encoder.network.eval()
    queries = torch.from_numpy(reranker.encoder.queries([QUERY_WORDS[0], QUERY_WORDS[1]]))
    rows = [task._rows[t][d] for t, d in ((0, 0), (0, 1), (0, 5), (1, 0), (1, 6))]
    logits = network.logits(queries, torch.from_numpy(reranker.encoder.documents(np.array(rows))))
    cases = [(0, 0, [0, 2, 3, 4]), (0, 1, [1, 2, 3, 4]), (1, 3, [0, 1, 2, 3, 4])]
    expected = [
        (logits[topic, columns].logsumexp(0) - logits[topic, document]).item()
        for topic, document, columns in cases
    ]
    assert np.isclose(task.loss(batch).item(), np.mean(expected), atol=1e-5)
