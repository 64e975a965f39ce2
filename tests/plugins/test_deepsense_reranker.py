"""DeepSenSe as the harness sees it: its losses and forms, and fields of documents."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from planted import OTHERS, planted_data, planted_topics, precision_at_1, saved, scores
from small import SmallResources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic, TrainingData
from irplatform_deepsense.options import DeepSenSeOptions
from irplatform_deepsense.reranker import DeepSenSe
from irplatform_deepsense.task import DeepSenSeTask

SMALL = {
    "projection": 16,
    "compare": 12,
    "side": (6, 4),
    "classifier": (12, 8),
    "lexical": (),
    "numbers": (),
    "categories": (),
    "groups": {"inside": 4, "outside": 1},
    "loop": {"optimizer": "adam", "learning_rate": 0.01, "epochs": 12, "batch_size": 64},
}


class FieldResources(SmallResources):
    """Resources whose documents have fields."""

    def documents(self, doc_ids):
        return Documents(doc_ids, lambda ids: [self.document(doc_id) for doc_id in ids])

    def document(self, doc_id):
        number = int(doc_id.rpartition("d")[2]) if doc_id != "glossary" else 0
        kinds = ("Review", f"t{number % 2}")
        return Document(doc_id, "", "", {"year": str(2000 + number), "publication_types": kinds})

    def notice(self, message):
        pass


def _reranker(resources, **changed):
    reranker = DeepSenSe(DeepSenSeOptions.model_validate({**SMALL, **changed}))
    reranker.prepare(resources)
    return reranker


def _with_others(topics):
    """Topics whose queries have words beside the one that tells."""
    return [
        replace(t, topic=replace(t.topic, query=f"the {t.topic.query} of {OTHERS[n % 20]}"))
        for n, t in enumerate(topics)
    ]


@pytest.mark.parametrize("loss", ["softmax", "bce", "hinge"])
def test_it_learns_with_every_loss(planted, tmp_path, loss):
    data = planted_data(tmp_path)
    training, validation = _with_others(data.training), _with_others(data.validation)
    reranker = _reranker(planted, loss=loss)
    reranker.fit(replace(data, training=training, validation=validation))
    unseen = _with_others(planted_topics(range(80, 100)))
    assert precision_at_1(reranker, planted, unseen) >= 0.95


@torch.no_grad()
def test_a_batch_in_training_scores_each_document_as_it_is_scored_alone(planted):
    reranker = _reranker(planted, lexical=("bm25_text", "overlap_title"))
    task = DeepSenSeTask(
        reranker.network,
        reranker.encoder,
        reranker.options,
        TrainingData(planted_topics(range(10)), planted_topics(range(30, 32)), Path()),
        1,
        lambda _steps: None,
    )
    task.standardize_features()
    reranker.weights_changed()
    batch = next(iter(task.batches(0)))
    for row, values in enumerate(task._scores(batch).numpy()):
        topic = batch.topic[row]
        pool = task.sampler.pools[topic].doc_ids
        sample = replace(
            task.sampler.topics[topic], candidates=[pool[i] for i in batch.documents[row]]
        )
        assert np.allclose(values, scores(reranker, planted, sample), atol=1e-5)


def test_fields_of_documents_are_side_features_where_they_are_there(planted):
    resources = FieldResources(**vars(planted))
    reranker = _reranker(
        resources, numbers=("year", "citations"), categories=("publication_types",)
    )
    names = reranker.features.names
    assert names[:2] == ("year", "publication_types: Review")
    assert set(names[2:]) == {"publication_types: t0", "publication_types: t1"}
    features = reranker.features(Topic("t", "query"), ["t3d1", "t5d4"])
    expected = [[2001, 1, 0, 1], [2004, 1, 1, 0]]
    assert np.array_equal(features[:, [0, 1, *(2 + np.argsort(names[2:]))]], expected)


class OtherResources(FieldResources):
    """The same documents with other publication types, and years that some lack."""

    def document(self, doc_id):
        number = int(doc_id.rpartition("d")[2]) if doc_id != "glossary" else 0
        kinds = ("Trial", "t1") if number % 2 else ("Trial",)
        year = {"year": str(2000 + number)} if number else {}
        return Document(doc_id, "", "", {**year, "publication_types": kinds})


def test_a_model_reads_the_fields_of_another_collection_as_it_learned_to(planted, tmp_path):
    options = {"numbers": ("year",), "categories": ("publication_types",), "loop": {"epochs": 1}}
    trained = _reranker(FieldResources(**vars(planted)), **options)
    trained.fit(planted_data(tmp_path / "work"))
    saved(trained, tmp_path / "saved")
    elsewhere = OtherResources(**{**vars(planted), "folder": tmp_path / "other"})
    loaded = _reranker(elsewhere, **options)
    assert loaded.features.names != trained.features.names
    loaded.load(tmp_path / "saved")
    assert loaded.features.names == trained.features.names
    mean = trained.features.columns.numbers["year"]
    features = loaded.features(Topic("t", "query"), ["t3d0", "t5d3"])
    assert features.tolist() == [[np.float32(mean), 0, 0, 0], [2003, 0, 0, 1]]
    (topic,) = planted_topics([90])
    assert len(scores(loaded, elsewhere, topic)) == len(topic.candidates)


def test_fields_that_another_collection_lacks_are_told_of(planted, tmp_path):
    options = {"numbers": ("year",), "categories": ("publication_types",), "loop": {"epochs": 1}}
    trained = _reranker(FieldResources(**vars(planted)), **options)
    trained.fit(planted_data(tmp_path / "work"))
    saved(trained, tmp_path / "saved")
    bare = FieldResources(**{**vars(planted), "folder": tmp_path / "other"})
    bare.document = lambda doc_id: Document(doc_id, "")
    notices = []
    bare.notice = notices.append
    loaded = _reranker(bare, **options)
    loaded.load(tmp_path / "saved")
    assert loaded.features.names == trained.features.names
    assert notices == [
        "deepsense: it has learned from year and publication_types of documents, which these have "
        "not"
    ]


def test_a_model_on_its_own_collection_is_loaded_without_reading_fields_again(planted, tmp_path):
    options = {"numbers": ("year",), "categories": ("publication_types",), "loop": {"epochs": 1}}
    resources = FieldResources(**vars(planted))
    trained = _reranker(resources, **options)
    trained.fit(planted_data(tmp_path / "work"))
    saved(trained, tmp_path / "saved")
    built = list(resources.built)
    again = _reranker(resources, **options)
    features = again.features
    again.load(tmp_path / "saved")
    assert again.features is features
    assert resources.built == built


def test_a_field_that_the_options_leave_out_is_not_read_for_a_model(planted, tmp_path):
    resources = FieldResources(**vars(planted))
    trained = _reranker(resources, numbers=("year",), loop={"epochs": 1})
    trained.fit(planted_data(tmp_path / "work"))
    saved(trained, tmp_path / "saved")
    with pytest.raises(InputError, match="these weights are of another model"):
        _reranker(resources, numbers=()).load(tmp_path / "saved")
