"""DeepSenSe as the harness sees it: it learns, resumes, is saved, and reads fields of documents."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch
from small import SmallResources, labelled, words

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic, TrainingData
from irplatform.text import ForwardIndex, WordVectors, build_forward_index
from irplatform_deepsense.options import DeepSenSeOptions
from irplatform_deepsense.reranker import DeepSenSe
from irplatform_deepsense.task import DeepSenSeTask

TOPICS = 120
QUERY_WORDS = words(TOPICS)
SYNONYMS = [f"{word}a" for word in QUERY_WORDS]
OTHERS = [f"{word}u" for word in words(200)]
FILLERS = [f"{word}e" for word in words(TOPICS)]  # words of queries alone
SMALL = {
    "projection": 16,
    "compare": 12,
    "side": (6, 4),
    "classifier": (12, 8),
    "lexical": (),
    "groups": {"inside": 4, "outside": 1},
}
LOOP = {
    "optimizer": "adam",
    "learning_rate": 0.01,
    "epochs": 12,
    "batch_size": 64,
    "patience": 12,
}


@dataclass
class FieldResources(SmallResources):
    """Resources whose documents have titles and fields, and that keep artifacts in a folder."""

    held: dict[str, Document] = field(default_factory=dict)
    folder: object = None

    def documents(self, doc_ids):
        return Documents(doc_ids, lambda ids: [self.held[i] for i in ids])

    def artifact(self, kind, depends_on, build):
        folder = self.folder / kind
        if not folder.exists():
            folder.mkdir()
            build(folder)
        return folder

    def notice(self, message):
        pass


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    """Relevant documents have a synonym of the topic's word, which only its vector tells."""
    random = np.random.default_rng(8)
    held = {}
    for topic in range(TOPICS):
        for number in range(12):
            text = [*random.choice(OTHERS, 8), *random.choice(SYNONYMS[:topic] or OTHERS, 2)]
            if number < 3:
                text[random.integers(10)] = SYNONYMS[topic]
            doc_id = f"t{topic}d{number}"
            held[doc_id] = Document(
                doc_id,
                " ".join(text[:3]),
                " ".join(text[3:]),
                {"year": str(2000 + number), "publication_types": ("Review", f"t{number % 2}")},
            )
    vectors = {word: random.normal(size=16) for word in (*QUERY_WORDS, *OTHERS, *FILLERS)}
    for word, synonym in zip(QUERY_WORDS, SYNONYMS, strict=True):
        vectors[synonym] = vectors[word] + random.normal(scale=0.2, size=16)
    folder = tmp_path_factory.mktemp("forward")
    build_forward_index(held.values(), folder, workers=1)
    matrix = np.array(list(vectors.values()), dtype=np.float32)
    return FieldResources(
        {},
        ForwardIndex.open(folder),
        WordVectors.with_unk(list(vectors), matrix, seed=5),
        held=held,
        folder=tmp_path_factory.mktemp("artifacts"),
    )


def _topics(numbers):
    return [
        labelled(
            f"t{n}",
            [f"t{n}d{d}" for d in range(12)],
            {f"t{n}d{d}": 1 for d in range(3)},
            query=f"the {QUERY_WORDS[n]} of {FILLERS[n]}",
        )
        for n in numbers
    ]


def _data(workspace):
    workspace.mkdir(exist_ok=True)
    return TrainingData(_topics(range(80)), _topics(range(80, 90)), workspace)


def _options(**changed):
    fields = {"numbers": (), "categories": ()}
    return DeepSenSeOptions.model_validate({**SMALL, **fields, "loop": LOOP, **changed})


def _prepared(resources, **changed):
    reranker = DeepSenSe(_options(**changed))
    reranker.prepare(resources)
    return reranker


def _fitted(resources, workspace, **changed):
    reranker = _prepared(resources, **changed)
    reranker.fit(_data(workspace))
    return reranker


@pytest.fixture(scope="module")
def fitted(resources, tmp_path_factory):
    return _fitted(resources, tmp_path_factory.mktemp("work"))


def _score(reranker, resources, labelled_topic):
    documents = resources.documents(labelled_topic.candidates)
    return np.array(reranker.score(labelled_topic.topic, documents))


def _first(reranker, resources):
    """P@1 on topics that nothing was learned from."""
    unseen = _topics(range(90, 120))
    return np.mean(
        [
            topic.candidates[int(_score(reranker, resources, topic).argmax())] in topic.judgments
            for topic in unseen
        ]
    )


def test_it_learns_what_only_word_vectors_tell(fitted, resources):
    assert _first(fitted, resources) >= 0.95


@pytest.mark.parametrize("loss", ["bce", "hinge"])
def test_it_learns_with_the_other_losses(resources, tmp_path, loss):
    assert _first(_fitted(resources, tmp_path, loss=loss), resources) >= 0.95


def _bytes(reranker, folder):
    folder.mkdir(exist_ok=True)
    reranker.save(folder)
    return (folder / "deepsense.safetensors").read_bytes()


def test_training_again_gives_the_same_weights(fitted, resources, tmp_path):
    again = _fitted(resources, tmp_path / "work")
    assert _bytes(again, tmp_path / "a") == _bytes(fitted, tmp_path / "b")


def test_an_interrupted_training_ends_with_the_same_weights(
    fitted, resources, tmp_path, monkeypatch
):
    loss, steps = DeepSenSeTask.loss, []

    def killed(task, batch):
        steps.append(1)
        if len(steps) == 30:
            raise KeyboardInterrupt
        return loss(task, batch)

    monkeypatch.setattr(DeepSenSeTask, "loss", killed)
    with pytest.raises(KeyboardInterrupt):
        _fitted(resources, tmp_path / "work")
    assert (tmp_path / "work" / "state.safetensors").exists()
    monkeypatch.undo()
    again = _fitted(resources, tmp_path / "work")
    assert _bytes(again, tmp_path / "a") == _bytes(fitted, tmp_path / "b")


def test_another_seed_gives_other_weights(fitted, resources, tmp_path):
    other = _fitted(replace(resources, seed=2), tmp_path)
    (topic,) = _topics([50])
    assert not np.allclose(_score(other, resources, topic), _score(fitted, resources, topic))


def test_scores_do_not_depend_on_the_other_documents(fitted, resources):
    (topic,) = _topics([41])
    together = _score(fitted, resources, topic)
    order = np.random.default_rng(0).permutation(len(together))
    shuffled = replace(topic, candidates=tuple(topic.candidates[i] for i in order))
    assert np.allclose(_score(fitted, resources, shuffled), together[order], atol=1e-5)
    for n, doc_id in enumerate(topic.candidates):
        alone = replace(topic, candidates=(doc_id,))
        assert np.allclose(_score(fitted, resources, alone), together[n], atol=1e-5)


def test_what_was_saved_scores_the_same_when_loaded_in_either_form(fitted, resources, tmp_path):
    fitted.save(tmp_path)
    (topic,) = _topics([50])
    expected = _score(fitted, resources, topic)
    for form, tolerance in (("tabulated", 0), ("plain", 1e-5)):
        other = _prepared(resources, form=form)
        other.load(tmp_path)
        assert np.allclose(_score(other, resources, topic), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "changed",
    [{"projection": 15}, {"compare_on": "projected"}, {"lexical": ("bm25_text",)}],
    ids=str,
)
def test_weights_of_another_network_are_refused(fitted, resources, tmp_path, changed):
    fitted.save(tmp_path)
    with pytest.raises(InputError, match="belong to another model"):
        _prepared(resources, **changed).load(tmp_path)


@torch.no_grad()
def test_a_batch_in_training_scores_each_document_as_it_is_scored_alone(resources, tmp_path):
    reranker = _prepared(resources, lexical=("bm25_text", "overlap_title"))
    task = DeepSenSeTask(
        reranker._network,
        reranker._encoder,
        reranker.options,
        resources.index,
        _topics(range(10)),
        _topics(range(30, 32)),
        1,
        lambda _steps: None,
    )
    task.standardize_features()
    reranker._after_weights()
    batch = next(iter(task.batches(0)))
    for row, scores in enumerate(task._scores(batch).numpy()):
        topic = batch.topic[row]
        pool = task._sampler.pools[topic].doc_ids
        given = replace(
            task._sampler.topics[topic], candidates=[pool[i] for i in batch.documents[row]]
        )
        assert np.allclose(scores, _score(reranker, resources, given), atol=1e-5)


def test_fields_of_documents_are_side_features_where_they_are_there(resources):
    reranker = _prepared(
        resources, numbers=("year", "citations"), categories=("publication_types",)
    )
    names = reranker._features.names
    assert names[:2] == ("year", "publication_types: Review")
    assert set(names[2:]) == {"publication_types: t0", "publication_types: t1"}
    features = reranker._features(Topic("t", "query"), ["t3d1", "t5d4"])
    expected = [[2001, 1, 0, 1], [2004, 1, 1, 0]]
    assert np.array_equal(features[:, [0, 1, *(2 + np.argsort(names[2:]))]], expected)


def test_no_documents_no_scores(fitted, resources):
    assert fitted.score(Topic("t", "word"), resources.documents([])) == []


def test_topics_without_a_relevant_document_are_an_error(resources, tmp_path):
    nothing = labelled("t1", ["t1d1", "t1d2"], {}, query=QUERY_WORDS[1])
    with pytest.raises(InputError, match="no training topic has a relevant document"):
        _prepared(resources).fit(TrainingData([nothing], [], tmp_path))


@pytest.mark.parametrize("name", sorted(DeepSenSe.presets))
def test_presets_are_options(name):
    DeepSenSeOptions.model_validate(DeepSenSe.presets[name])
