"""Delta as the harness sees it: it learns, it is saved, its scores depend on nothing else."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from small import labelled, small_resources, words

from irplatform.errors import InputError
from irplatform.plugin import Topic, TrainingData
from irplatform.text import lexical_features
from irplatform_delta.options import DeltaOptions
from irplatform_delta.reranker import Delta

TOPICS = 60
QUERY_WORDS = words(TOPICS)
SYNONYMS = [f"{word}a" for word in QUERY_WORDS]
OTHERS = [f"{word}u" for word in words(200)]
SMALL = {"filters": 8, "hidden": 8, "document_words": 12, "lexical": ()}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    """Relevant documents have a synonym of the topic's word, which only its vector tells."""
    random = np.random.default_rng(8)
    texts = {}
    for topic in range(TOPICS):
        for number in range(12):
            chosen = [*random.choice(OTHERS, 8), *random.choice(SYNONYMS[:topic] or OTHERS, 2)]
            if number < 3:
                chosen[random.integers(10)] = SYNONYMS[topic]
            texts[f"t{topic}d{number}"] = " ".join(chosen)
    vectors = {word: random.normal(size=16) for word in (*QUERY_WORDS, *OTHERS)}
    for word, synonym in zip(QUERY_WORDS, SYNONYMS, strict=True):
        vectors[synonym] = vectors[word] + random.normal(scale=0.2, size=16)
    return small_resources(tmp_path_factory.mktemp("forward"), texts, vectors)


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
    return TrainingData(_topics(range(30)), _topics(range(30, 40)), workspace)


def _options(**changed):
    loop = {"epochs": 40, "batch_size": 64, "patience": 10}
    return DeltaOptions.model_validate({**SMALL, "loop": loop, **changed})


def _fitted(resources, workspace, **changed):
    reranker = Delta(_options(**changed))
    reranker.prepare(resources)
    reranker.fit(_data(workspace))
    return reranker


@pytest.fixture(scope="module")
def fitted(resources, tmp_path_factory):
    return _fitted(resources, tmp_path_factory.mktemp("work"))


def _score(reranker, resources, labelled_topic):
    documents = resources.documents(labelled_topic.candidates)
    return np.array(reranker.score(labelled_topic.topic, documents))


def test_it_learns_what_only_word_vectors_tell(fitted, resources):
    unseen = _topics(range(40, 60))
    first = [
        topic.candidates[int(_score(fitted, resources, topic).argmax())] in topic.judgments
        for topic in unseen
    ]
    assert np.mean(first) >= 0.95


def test_training_again_gives_the_same_weights(fitted, resources, tmp_path):
    again = _fitted(resources, tmp_path)
    fitted.save(tmp_path)
    first = (tmp_path / "delta.safetensors").read_bytes()
    again.save(tmp_path)
    assert (tmp_path / "delta.safetensors").read_bytes() == first


def test_another_seed_gives_other_weights(fitted, resources, tmp_path):
    other = _fitted(replace(resources, seed=2), tmp_path)
    (topic,) = _topics([50])
    assert not np.allclose(_score(other, resources, topic), _score(fitted, resources, topic))


def test_scores_do_not_depend_on_the_other_documents(fitted, resources):
    (topic,) = _topics([41])
    together = _score(fitted, resources, topic)
    order = np.random.default_rng(0).permutation(len(together))
    shuffled = labelled("t41", [topic.candidates[i] for i in order], query=topic.topic.query)
    assert np.allclose(_score(fitted, resources, shuffled), together[order], atol=1e-5)
    for n, doc_id in enumerate(topic.candidates):
        alone = labelled("t41", [doc_id], query=topic.topic.query)
        assert np.allclose(_score(fitted, resources, alone), together[n], atol=1e-5)


def test_both_forms_score_alike_after_training(fitted, resources, tmp_path):
    fitted.save(tmp_path)
    plain = Delta(_options(form="plain"))
    plain.prepare(resources)
    plain.load(tmp_path)
    for topic in _topics([0, 45]):
        scores = _score(fitted, resources, topic)
        assert np.allclose(_score(plain, resources, topic), scores, atol=1e-5)


def test_what_was_saved_scores_the_same_when_loaded(fitted, resources, tmp_path):
    fitted.save(tmp_path)
    other = Delta(_options())
    other.prepare(resources)
    (topic,) = _topics([50])
    assert not np.array_equal(
        _score(_untrained(resources), resources, topic), _score(fitted, resources, topic)
    )
    other.load(tmp_path)
    assert np.array_equal(_score(other, resources, topic), _score(fitted, resources, topic))


def _untrained(resources):
    reranker = Delta(_options())
    reranker.prepare(resources)
    reranker._after_weights()
    return reranker


@pytest.mark.parametrize(
    "changed",
    [
        {"filters": 9},
        {"hidden": 9},
        {"lexical": ("bm25_title",)},
        {"difference": False},
        {"delta_features": False},
        {"convolutions": 2},
    ],
    ids=str,
)
def test_weights_of_another_network_are_refused(fitted, resources, tmp_path, changed):
    fitted.save(tmp_path)
    other = Delta(_options(**changed))
    other.prepare(resources)
    with pytest.raises(InputError, match="belong to another model"):
        other.load(tmp_path)


def test_weights_of_other_lexical_features_are_refused(resources, tmp_path):
    saved = Delta(_options(lexical=("bm25_title",)))
    saved.prepare(resources)
    saved.save(tmp_path)
    other = Delta(_options(lexical=("bm25_text",)))
    other.prepare(resources)
    with pytest.raises(InputError, match="bm25_title"):
        other.load(tmp_path)


def test_a_pickle_is_refused(resources, tmp_path):
    (tmp_path / "delta.safetensors").write_bytes(pickle.dumps({"weights": [1.0]}))
    with pytest.raises(InputError, match="not a safetensors file"):
        _untrained(resources).load(tmp_path)


def test_an_unknown_lexical_feature_is_refused():
    with pytest.raises(ValueError, match="'bm26_title' is not one of"):
        DeltaOptions(lexical=("bm26_title",))


def test_no_documents_no_scores(fitted, resources):
    assert fitted.score(Topic("t", "word"), resources.documents([])) == []


def test_topics_without_anything_to_tell_apart_are_an_error(resources, tmp_path):
    reranker = Delta(_options())
    reranker.prepare(resources)
    nothing = labelled("t1", ["t1d1", "t1d2"], {}, query=QUERY_WORDS[1])
    with pytest.raises(InputError, match="no training topic"):
        reranker.fit(TrainingData([nothing], [], tmp_path))


def test_lexical_features_are_standardized_with_the_training_pools(resources, tmp_path):
    names = ("bm25_text", "overlap_text")
    topics = [
        replace(labelled_topic, topic=Topic(labelled_topic.topic.id, " ".join(OTHERS[:n])))
        for n, labelled_topic in enumerate(_topics(range(30)))
    ]
    reranker = Delta(_options(lexical=names, loop={"epochs": 1}))
    reranker.prepare(resources)
    reranker.fit(TrainingData(topics, topics, tmp_path))
    network = reranker._network
    features = np.concatenate(
        [
            lexical_features(
                resources.index,
                resources.index.query_ids(topic.topic.query),
                resources.index.rows(topic.candidates),
                names,
            )
            for topic in topics
        ]
    )
    assert np.allclose(network.lexical_mean.numpy(), features.mean(axis=0), rtol=1e-4)
    assert np.allclose(network.lexical_scale.numpy(), features.std(axis=0, ddof=1), rtol=1e-4)
