"""Delta as the harness sees it, and its lexical features."""

from dataclasses import replace

import numpy as np
import pytest
from planted import planted_data, planted_topics, saved

from irplatform.errors import InputError
from irplatform.text import lexical_features
from irplatform_delta.options import DeltaOptions
from irplatform_delta.reranker import Delta

SMALL = {"filters": 8, "hidden": 8, "document_words": 12, "lexical": (), "loop": {"epochs": 3}}


def _reranker(resources, **changed):
    reranker = Delta(DeltaOptions.model_validate({**SMALL, **changed}))
    reranker.prepare(resources)
    return reranker


def test_weights_of_other_lexical_features_are_refused(planted, tmp_path):
    saved(_reranker(planted, lexical=("bm25_title",)), tmp_path / "saved")
    with pytest.raises(InputError, match="bm25_title"):
        _reranker(planted, lexical=("bm25_text",)).load(tmp_path / "saved")


def test_an_unknown_lexical_feature_is_refused():
    with pytest.raises(ValueError, match="'bm26_title' is not one of"):
        DeltaOptions(lexical=("bm26_title",))


def test_lexical_features_are_standardized_with_the_training_pools(planted, tmp_path):
    names = ("bm25_text", "overlap_text")
    topics = [
        replace(t, topic=replace(t.topic, query=planted.texts[t.candidates[number % 12]]))
        for number, t in enumerate(planted_topics(range(30)))
    ]
    reranker = _reranker(planted, lexical=names, loop={"epochs": 1})
    reranker.fit(replace(planted_data(tmp_path), training=topics, validation=topics))
    network = reranker.network
    index = planted.index
    features = np.concatenate(
        [
            lexical_features(index, index.query_ids(t.topic.query), index.rows(t.candidates), names)
            for t in topics
        ]
    )
    assert np.allclose(network.lexical_mean.numpy(), features.mean(axis=0), rtol=1e-4)
    assert np.allclose(network.lexical_scale.numpy(), features.std(axis=0, ddof=1), rtol=1e-4)
