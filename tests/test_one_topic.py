"""A plugin that defines the form for several topics alone has that for one topic, too."""

import numpy as np
import pytest

from irplatform.plugin import Documents, FeatureGroup, Reranker, Topic

TOPIC = Topic("t", "two words")
DOCUMENTS = Documents(["b", "a"], list)


class BatchScores(Reranker):
    """The length of the query, and the place of the document."""

    def score_batch(self, batch):
        return [
            [len(topic.query) + place for place, _ in enumerate(documents.ids)]
            for topic, documents in batch
        ]


class BatchFeatures(FeatureGroup):
    """The same as a feature."""

    def names(self):
        return ("length",)

    def compute_batch(self, batch):
        return [np.array([scores], np.float32).T for scores in BatchScores().score_batch(batch)]


def test_a_reranker_that_scores_batches_alone_scores_a_topic():
    assert BatchScores().score(TOPIC, DOCUMENTS) == [9, 10]


def test_a_group_that_computes_batches_alone_computes_a_topic():
    assert BatchFeatures().compute(TOPIC, DOCUMENTS).tolist() == [[9], [10]]


def test_what_defines_neither_says_so():
    with pytest.raises(NotImplementedError, match=r"Reranker does not define score\(\)"):
        Reranker().score(TOPIC, DOCUMENTS)
    with pytest.raises(NotImplementedError, match=r"Reranker does not define score\(\)"):
        Reranker().score_batch([(TOPIC, DOCUMENTS)])
    with pytest.raises(NotImplementedError, match=r"FeatureGroup does not define compute\(\)"):
        FeatureGroup().compute(TOPIC, DOCUMENTS)
    with pytest.raises(NotImplementedError, match=r"FeatureGroup does not define compute\(\)"):
        FeatureGroup().compute_batch([(TOPIC, DOCUMENTS)])
