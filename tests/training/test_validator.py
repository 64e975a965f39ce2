"""The measure of early stopping."""

from dataclasses import replace

import numpy as np
import pytest
from small import labelled

from irplatform.errors import PlatformError
from irplatform.plugin import LabelledTopic, Topic
from irplatform.training.validation import Validator


def test_it_is_the_mean_ndcg_at_20_over_all_judgments():
    good = labelled("a", ["x", "y"], {"x": 1})
    bad = labelled("b", ["x", "y"], {"x": 1, "never found": 1})
    measure = Validator([good, bad], on="mixture")
    scores = {0: [2.0, 1.0], 1: [1.0, 2.0]}
    second_place = 0.6309297535714575  # 1 / log2(3)
    ideal_of_two = 1 + second_place
    assert measure(scores.__getitem__) == pytest.approx((1 + second_place / ideal_of_two) / 2)


def test_topics_with_levels_are_judged_by_exponential_gains():
    """The gain of level 10 is 2^10 - 1, and that of level 1 is 1."""
    measure = Validator([labelled("a", ["x", "y"], {"x": 10.0, "y": 1.0})], on="mixture")
    discount = 0.6309297535714575  # 1 / log2(3)
    assert measure(lambda _: [1.0, 2.0]) == pytest.approx((1 + 1023 * discount) / (1023 + discount))


def test_the_model_is_judged_alone_or_in_its_best_mixture():
    topic = labelled("t", ["x", "y", "z"], {"x": 1})
    topic = replace(topic, first_stage=(3.0, 2.0, 1.0))
    wrong = np.array([1.0, 3.0, 2.0])
    assert Validator([topic], on="alone")(lambda _: wrong) == 0.5  # 1 / log2(4)
    assert Validator([topic], on="mixture")(lambda _: wrong) == 1


def test_only_the_first_twenty_count():
    candidates = [f"d{n:02}" for n in range(25)]
    measure = Validator([labelled("t", candidates, {"d24": 1})], on="mixture")
    assert measure(lambda _: list(range(25, 0, -1))) == 0
    assert measure(lambda _: list(range(25))) == 1


def test_topics_that_cannot_tell_are_left_out():
    useless = [labelled("a", ["x"], {"x": 0}), labelled("b", [], {"x": 1})]
    assert Validator(useless, on="mixture").topics == []
    assert Validator(useless, on="mixture")(lambda _: []) == 0


def test_many_topics_are_thinned_evenly():
    topics = [labelled(f"t{n}", ["x"], {"x": 1}) for n in range(10)]
    ids = [t.topic.id for t in Validator(topics, limit=4, on="mixture").topics]
    assert ids == ["t0", "t3", "t6", "t9"]


def test_only_so_many_candidates_are_ranked_where_a_depth_is_given():
    topic = LabelledTopic(Topic("t", "query"), ("x", "y", "z"), {"y": 1, "z": 1}, (3.0, 2.0, 1.0))
    (cut,) = Validator([topic], depth=2, on="mixture").topics
    assert (cut.candidates, cut.first_stage) == (("x", "y"), (3.0, 2.0))
    assert cut.judgments == topic.judgments
    assert Validator([topic], on="mixture").topics == [topic]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_not_finite_are_an_error(score):
    measure = Validator([labelled("t", ["x", "y"], {"x": 1})], on="mixture")
    with pytest.raises(PlatformError, match="scores of validation topic t are not all finite"):
        measure(lambda _: [1.0, score])


def test_negative_grades_are_not_relevant():
    measure = Validator([labelled("t", ["x", "y"], {"x": -1, "y": 1})], on="mixture")
    assert measure(lambda _: [1.0, 2.0]) == 1


def _with_first_stage(name, first_stage, judgments):
    candidates = tuple("abc"[: len(first_stage)])
    return LabelledTopic(Topic(name, "query"), candidates, judgments, first_stage)


def test_a_model_is_judged_together_with_the_first_stage():
    """Each of them finds one of two relevant documents, and both of them both."""
    topic = _with_first_stage("t", (0.0, 300.0, 100.0), {"a": 1, "b": 1})
    scores = [30_000.0, 0.0, 10_000.0]
    assert Validator([topic], on="mixture")(lambda _: scores) == 1
    alone = Validator([replace(topic, first_stage=())], on="mixture")(lambda _: scores)
    assert alone == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3)))


def test_all_topics_are_judged_with_the_same_share_of_the_first_stage():
    """The model is right about one topic, the first stage about the other: never about both."""
    one, other = (_with_first_stage(n, (2.0, 1.0), {d: 1}) for n, d in (("one", "a"), ("two", "b")))
    measure = Validator([one, other], on="mixture")
    assert measure(lambda _: [1.0, 2.0]) == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_the_best_share_is_that_of_a_plain_search():
    random = np.random.default_rng(3)
    names = [f"d{n}" for n in range(12)]
    topics, outputs = [], []
    for number in range(30):
        grades = random.integers(0, 3, 12)
        first, second = grades + random.normal(size=(2, 12))
        judgments = dict(zip(names, grades.tolist(), strict=True))
        topic = Topic(str(number), "query")
        topics.append(LabelledTopic(topic, tuple(names), judgments, tuple(first.tolist())))
        outputs.append(second)

    def mean_ndcg(share):
        gains = []
        for topic, scores in zip(topics, outputs, strict=True):
            first = np.array(topic.first_stage)
            mixed = share * (first - first.mean()) / first.std()
            mixed += (1 - share) * (scores - scores.mean()) / scores.std()
            grades = np.array([topic.judgments[name] for name in names], dtype=float)
            discounts = 1 / np.log2(np.arange(2, 14))
            gain = grades[np.argsort(-mixed)] @ discounts
            gains.append(gain / (np.sort(grades)[::-1] @ discounts))
        return np.mean(gains)

    best = max(mean_ndcg(share) for share in (0, 0.2, 0.4, 0.6, 0.8))
    assert Validator(topics, on="mixture")(outputs.__getitem__) == pytest.approx(best)
    assert best > mean_ndcg(0)


def test_the_model_is_judged_alone_where_a_topic_has_no_scores_of_the_first_stage():
    topics = [_with_first_stage("t", (2.0, 1.0), {"a": 1}), labelled("u", ["a"], {"a": 1})]
    measure = Validator(topics, on="mixture")
    assert measure([[1.0, 2.0], [1.0]].__getitem__) == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_what_is_read_of_a_topic_is_read_once_and_scored_alike():
    topics = [labelled("a", ["x", "y"], {"x": 1}), labelled("b", ["z", "y", "x"], {"x": 1})]
    validator = Validator([*topics, labelled("useless", ["x"])], on="mixture")
    read, steps = [], []

    def lengths(topic, doc_ids):
        read.append(topic.id)
        return [ord(doc_id) for doc_id in doc_ids]

    measure = validator.reading(lengths, steps.append)
    expected = validator([[ord(d) for d in topic.candidates] for topic in topics].__getitem__)
    assert measure(lambda values: values) == measure(lambda values: values) == expected
    assert (read, steps) == (["a", "b"], [1, 1])


class _Index:
    def rows(self, doc_ids):
        return np.array(["xyz".index(doc_id) for doc_id in doc_ids], dtype=np.int64)


def test_documents_that_topics_share_are_among_the_candidates_once():
    topics = [labelled("a", ["z", "x"], {"x": 1}), labelled("b", ["x"], {"x": 1})]
    rows = Validator(topics, on="mixture").candidate_rows(_Index())
    assert rows.distinct.tolist() == [0, 2]
    assert [places.tolist() for places in rows.of_topic] == [[1, 0], [0]]
    assert Validator([], on="mixture").candidate_rows(_Index()).distinct.tolist() == []
