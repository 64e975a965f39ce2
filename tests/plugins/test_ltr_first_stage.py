"""Scores and ranks of retrievers as features."""

from types import SimpleNamespace

import numpy as np
import pytest

from irplatform.plugin import Document, Documents, Retriever, Topic
from irplatform.runs import Ranking, Run
from irplatform_ltr.groups.first_stage import FirstStage, FirstStageOptions

TOPICS = [Topic("1", "one"), Topic("2", "two"), Topic("3", "three")]
FOUND = {"1": {"a": 8.0, "b": 4.0, "c": 2.0}, "2": {"b": -1.0, "a": -3.0}, "3": {}}


class Finds(Retriever):
    """Finds the documents above, with scores of another scale."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def retrieve(self, topics, depth, resources):
        rankings = {
            t.id: Ranking.of(
                list(FOUND[t.id]), [self.scale * score for score in FOUND[t.id].values()]
            ).top(depth)
            for t in topics
        }
        return Run("finds", rankings)


def _columns(topic, ids, **options):
    """The features of documents, by name."""
    group = FirstStage(FirstStageOptions(retrievers=("one", "ten"), **options))
    scales = {"one": 1.0, "ten": 10.0}
    group.prepare(SimpleNamespace(retriever=lambda name, settings: Finds(scales[name])))
    documents = Documents.of([Document(d) for d in ids])
    values = group.compute_batch([(TOPICS[1], documents), (topic, documents)])[1]
    assert np.array_equal(group.compute(topic, documents), values)
    return dict(zip(group.names(), values.T.tolist(), strict=True))


def test_two_topics_of_one_id_have_rankings_of_their_own():
    """Those to validate on may be of another collection, which counts from 1, too."""

    class OfWords(Retriever):
        def retrieve(self, topics, depth, resources):
            assert len({t.id for t in topics}) == len(topics)
            return Run("words", {t.id: Ranking.of(["a"], [float(len(t.query))]) for t in topics})

    group = FirstStage(FirstStageOptions(retrievers=("words",)))
    group.prepare(SimpleNamespace(retriever=lambda *_: OfWords()))
    topics = [Topic("1", "one"), Topic("2", "three"), Topic("1", "seventeen"), Topic("1", "one")]
    tables = group.compute_batch([(topic, Documents.of([Document("a")])) for topic in topics])
    assert [columns[0, 0] for columns in tables] == [3, 5, 9, 3]


def test_a_document_has_its_score_its_share_of_the_best_and_its_rank():
    columns = _columns(TOPICS[0], ["c", "a", "b"])
    assert columns["one_score"] == [2, 8, 4]
    assert columns["ten_score"] == [20, 80, 40]
    assert columns["one_share"] == columns["ten_share"] == [0.25, 1, 0.5]
    assert columns["one_rank"] == pytest.approx(np.log1p([3, 1, 2]))


def test_what_was_not_found_has_the_last_score_and_a_rank_far_behind():
    columns = _columns(TOPICS[0], ["unknown", "c", "b"], depth=2)
    assert columns["one_score"] == [4, 4, 4]
    assert columns["one_share"] == [0.5, 0.5, 0.5]
    assert columns["one_rank"] == pytest.approx(np.log1p([5, 5, 2]))
    columns = _columns(TOPICS[0], ["unknown", "c", "b"], depth=50)
    assert columns["one_rank"] == pytest.approx(np.log1p([101, 3, 2])), "of however few were found"


def test_of_scores_below_zero_there_is_no_share():
    columns = _columns(TOPICS[1], ["a", "b"])
    assert columns["one_score"] == [-3, -1]
    assert columns["one_share"] == [0, 0]


def test_where_nothing_was_found_all_documents_are_alike():
    columns = _columns(TOPICS[2], ["a", "b"])
    assert columns["one_score"] == columns["one_share"] == [0, 0]
    assert columns["one_rank"] == pytest.approx(np.log1p([2001, 2001]))
