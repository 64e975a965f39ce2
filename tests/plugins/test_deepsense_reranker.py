"""DeepSenSe as the harness sees it: its losses and forms, and fields of documents."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from planted import (
    OTHERS,
    planted_data,
    planted_topics,
    precision_at_1,
    saved,
    scores,
)
from small import SmallResources

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
        return Documents(doc_ids, lambda ids: [self._document(doc_id) for doc_id in ids])

    def _document(self, doc_id):
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


def test_both_forms_score_alike_after_training(planted, tmp_path):
    fitted, plain = _reranker(planted, loop={"epochs": 1}), _reranker(planted, form="plain")
    fitted.fit(planted_data(tmp_path / "work"))
    saved(fitted, tmp_path / "saved")
    plain.load(tmp_path / "saved")
    (topic,) = planted_topics([90])
    expected = scores(fitted, planted, topic)
    assert np.allclose(scores(plain, planted, topic), expected, rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_batch_in_training_scores_each_document_as_it_is_scored_alone(planted):
    reranker = _reranker(planted, lexical=("bm25_text", "overlap_title"))
    task = DeepSenSeTask(
        reranker.network,
        reranker._encoder,
        reranker.options,
        planted.index,
        TrainingData(planted_topics(range(10)), planted_topics(range(30, 32)), Path()),
        1,
        lambda _steps: None,
    )
    task.standardize_features()
    reranker.weights_changed()
    batch = next(iter(task.batches(0)))
    for row, found in enumerate(task._scores(batch).numpy()):
        topic = batch.topic[row]
        pool = task._sampler.pools[topic].doc_ids
        given = replace(
            task._sampler.topics[topic], candidates=[pool[i] for i in batch.documents[row]]
        )
        assert np.allclose(found, scores(reranker, planted, given), atol=1e-5)


def test_fields_of_documents_are_side_features_where_they_are_there(planted):
    resources = FieldResources(**vars(planted))
    reranker = _reranker(
        resources, numbers=("year", "citations"), categories=("publication_types",)
    )
    names = reranker._features.names
    assert names[:2] == ("year", "publication_types: Review")
    assert set(names[2:]) == {"publication_types: t0", "publication_types: t1"}
    features = reranker._features(Topic("t", "query"), ["t3d1", "t5d4"])
    expected = [[2001, 1, 0, 1], [2004, 1, 1, 0]]
    assert np.array_equal(features[:, [0, 1, *(2 + np.argsort(names[2:]))]], expected)
