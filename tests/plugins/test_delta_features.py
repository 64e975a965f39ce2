"""Delta with groups of features in its last layer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from feature_resources import feature_resources
from small import labelled, words

from irplatform.errors import InputError
from irplatform.plugin import FeatureGroup, TrainingData
from irplatform_delta.options import DeltaOptions
from irplatform_delta.reranker import Delta

NOISE = words(120)


class Marked(FeatureGroup):
    """What words do not tell: a document's number in its topic, the relevant ones having 0 to 2."""

    batches: list = []  # noqa: RUF012

    def names(self):
        return ("number", "nothing")

    def compute(self, topic, documents):
        rows = [[float(d.split("d")[1]), 1.0] for d in documents.ids]
        return np.array(rows, dtype=np.float32).reshape(-1, 2)

    def compute_batch(self, batch):
        type(self).batches.append(len(batch))
        return super().compute_batch(batch)


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(3)
    texts = {f"t{t}d{n}": " ".join(random.choice(NOISE, 8)) for t in range(40) for n in range(10)}
    vectors = {word: random.normal(size=8) for word in NOISE}
    folder = tmp_path_factory.mktemp("delta")
    return feature_resources(folder, texts, vectors, groups={"marked": Marked})


def _topics(numbers):
    return [
        labelled(
            f"t{n}", [f"t{n}d{d}" for d in range(10)], {f"t{n}d{d}": 1 for d in range(3)},
            query=NOISE[n],
        )
        for n in numbers
    ]  # fmt: skip


def _prepared(resources, features=("marked",), **changed):
    options = {
        "filters": 4, "hidden": 8, "document_words": 8, "lexical": ("overlap_text",),
        "features": features,
        "loop": {"epochs": 25, "patience": 25, "batch_size": 64, "learning_rate": 0.05},
    }  # fmt: skip
    reranker = Delta(DeltaOptions.model_validate({**options, **changed}))
    reranker.prepare(resources)
    return reranker


def _fit(reranker, folder):
    folder.mkdir(exist_ok=True)
    reranker.fit(TrainingData(_topics(range(20)), _topics(range(20, 25)), folder))
    return reranker


@pytest.fixture(scope="module")
def fitted(resources, tmp_path_factory):
    return _fit(_prepared(resources), tmp_path_factory.mktemp("work"))


def _batch(resources, numbers):
    return [(t.topic, resources.documents(t.candidates)) for t in _topics(numbers)]


def test_it_learns_what_only_a_feature_tells(fitted, resources, tmp_path):
    def right(reranker):
        scores = reranker.score_batch(_batch(resources, range(25, 40)))
        return np.mean([np.argmax(values) < 3 for values in scores])

    assert right(fitted) >= 0.9
    assert right(_fit(_prepared(resources, ()), tmp_path / "without")) < 0.7


def test_scores_depend_on_neither_order_nor_company(fitted, resources):
    topic, documents = _batch(resources, [30])[0]
    scores = fitted.score(topic, documents)
    turned = fitted.score(topic, resources.documents(documents.ids[::-1]))
    assert np.allclose(turned[::-1], scores, atol=1e-6)
    assert np.allclose(fitted.score_batch(_batch(resources, [26, 30]))[1], scores, atol=1e-6)
    assert fitted.score(topic, resources.documents([])) == []


def test_features_of_all_topics_are_asked_for_at_once(fitted, resources):
    Marked.batches.clear()
    batch = _batch(resources, [35, 36, 37])
    fitted.score_batch([(replace(topic, query="others"), documents) for topic, documents in batch])
    assert Marked.batches == [3]


def test_what_was_saved_scores_alike_and_belongs_to_its_features(fitted, resources, tmp_path):
    fitted.save(tmp_path)
    again = _prepared(resources)
    again.load(tmp_path)
    topic, documents = _batch(resources, [30])[0]
    assert again.score(topic, documents) == fitted.score(topic, documents)
    with pytest.raises(InputError, match="are of another model"):
        _prepared(resources, ()).load(tmp_path)


def test_training_again_gives_the_same_bytes(fitted, resources, tmp_path):
    again = _fit(_prepared(resources), tmp_path / "work")
    for reranker, name in ((fitted, "a"), (again, "b")):
        (tmp_path / name).mkdir()
        reranker.save(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == ["delta.safetensors", "features.json", "features.safetensors"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


class TestPretraining:
    """Pre-training knows no features."""

    def test_its_options_leave_them_out(self, resources):
        options = _prepared(resources).options
        assert Delta(options).traits().pretraining_options == _prepared(resources, ()).options

    def test_its_weights_give_the_same_scores_until_more_is_learned(self, resources, tmp_path):
        narrow = _fit(_prepared(resources, ()), tmp_path / "work")
        (tmp_path / "saved").mkdir()
        narrow.save(tmp_path / "saved")
        wide = _prepared(resources)
        wide.load(tmp_path / "saved")
        topic, documents = _batch(resources, [30])[0]
        encoded = wide.encoder.encode(topic, documents.ids)
        values = np.random.default_rng(1).normal(size=(10, 2)).astype(np.float32)
        with torch.inference_mode():
            scores = wide.network.tabulated(
                wide.table, encoded.words, encoded.documents, encoded.with_features(values).lexical
            )
        assert np.allclose(scores.tolist(), narrow.score(topic, documents), atol=1e-6)
        with pytest.raises(InputError, match="trained without the features marked"):
            wide.score(topic, documents)
        _fit(wide, tmp_path / "more")
        scores = wide.score_batch(_batch(resources, range(25, 40)))
        assert np.mean([np.argmax(values) < 3 for values in scores]) >= 0.9
