"""Mixing with the first stage: the ends of the scale are exact, the choice is cautious."""

import numpy as np
import pytest

from irplatform.reranking.interpolation import WEIGHTS, Reranked, choose_weight, standardized
from irplatform.runs import Ranking

FIRST = Ranking.of(["a", "b", "c", "d", "e", "f"], [9.0, 7.0, 7.0, 4.0, 3.0, 3.0])


def test_standardized_scores_have_mean_0_and_deviation_1():
    values = standardized(np.array([3.0, 5.0, 10.0, 2.0]))
    assert values.mean() == pytest.approx(0)
    assert values.std() == pytest.approx(1)
    assert standardized(np.array([2.0, 2.0])).tolist() == [0, 0]
    assert standardized(np.array([])).tolist() == []


@pytest.mark.parametrize("outlier", [-1e6, -1e9, -1e30, 1e9])
def test_an_outlier_takes_nothing_from_the_order_of_the_others(outlier):
    """Rejected documents are often given -1e9; beside it all others would be one number."""
    doc_ids = [f"d{n:03d}" for n in range(500)]
    scores = np.random.default_rng(0).random(500)
    scores[[7, 8]] = outlier
    first = Ranking.of(doc_ids, np.linspace(20, 5, 500))
    reranked = Reranked.of(first, doc_ids, scores.tolist())
    assert reranked.mixed(0.0).doc_ids == Ranking.of(doc_ids, scores).doc_ids
    assert reranked.second.std() == pytest.approx(1)
    mixed = reranked.mixed(0.5).doc_ids
    assert mixed not in (first.doc_ids, reranked.mixed(0.0).doc_ids)


@pytest.mark.parametrize("outlier", [-1e9, 1e9])
def test_nor_does_one_among_the_first_stages_scores(outlier):
    doc_ids = [f"d{n:03d}" for n in range(100)]
    scores = np.linspace(20, 5, 100)
    scores[-1 if outlier < 0 else 0] = outlier
    first = Ranking.of([*doc_ids, "beyond", "last"], [*scores, -2e9, -3e9])
    reranked = Reranked.of(first, doc_ids, np.random.default_rng(0).random(100).tolist())
    mixed = reranked.mixed(0.8).doc_ids
    assert mixed[-2:] == ("beyond", "last")
    assert mixed not in (first.doc_ids, reranked.mixed(0.0).doc_ids)
    assert len(set(mixed[:50]) & set(first.doc_ids[:50])) > 40, "the first stage has most to say"


def test_scores_that_are_close_to_each_other_keep_their_distances():
    scores = np.array([0.0, 1e-9, 2e-9, 3.0, 5.0, 9.0])
    assert standardized(scores) == pytest.approx((scores - scores.mean()) / scores.std())


@pytest.mark.parametrize("candidates", [list("abcdef"), ["a", "c", "b"], ["d"], []], ids=str)
def test_with_weight_1_it_is_the_first_stage(candidates):
    scores = [float(n) for n in range(len(candidates))]
    mixed = Reranked.of(FIRST, candidates, scores).mixed(1.0)
    assert mixed.doc_ids == FIRST.doc_ids


def test_with_weight_1_scores_that_hardly_differ_make_no_ties():
    """Standardized they are equal with 32 bits, and the document id would decide."""
    near = np.nextafter(np.float32(900), np.float32(1000))
    doc_ids = ["a", "b", *(f"c{n:03d}" for n in range(300))]
    first = Ranking.of(doc_ids, [near, 900.0, *np.linspace(800, -1e7, 300)])
    assert first.doc_ids[:2] == ("a", "b")
    reranked = Reranked.of(first, doc_ids, [float(n) for n in range(302)])
    assert Ranking.of(doc_ids, reranked.first).doc_ids[:2] == ("b", "a")
    assert reranked.mixed(1.0) == first


def test_with_weight_0_it_is_the_reranker_and_then_the_rest_in_order():
    mixed = Reranked.of(FIRST, ["a", "c", "b"], [1.0, 2.0, 3.0]).mixed(0.0)
    assert mixed.doc_ids[:3] == ("b", "c", "a")
    assert mixed.doc_ids[3:] == tuple(d for d in FIRST.doc_ids if d in "def")


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("last", [0.0, -1e9])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_rest_stays_in_order_where_candidates_do_not_tell_how_far_scores_lie_apart(
    scale, last, count
):
    """With one candidate, none, or several that are equal, whatever the scale of the scores."""
    doc_ids = [f"d{n:02d}" for n in range(50)]
    scores = scale * np.linspace(2, 1, 50)
    scores[:count], scores[-1] = scores[0], last
    first = Ranking.of(doc_ids, scores)
    reranked = Reranked.of(first, first.doc_ids[:count], [float(n) for n in range(count)])
    for weight in WEIGHTS:
        mixed = reranked.mixed(weight).doc_ids
        assert mixed[count:] == first.doc_ids[count:]
        assert set(mixed[:count]) == set(first.doc_ids[:count])


def test_documents_that_were_not_reranked_stay_below_all_others_however_the_weight():
    scattered = Ranking.of(list("abcdef"), [10.0, 9.0, 8.0, 7.0, 6.0, 5.0])
    reranked = Reranked.of(scattered, ["a", "b", "c"], [-1e9, 0.0, 1e9])
    for weight in WEIGHTS:
        assert set(reranked.mixed(weight).doc_ids[:3]) == {"a", "b", "c"}
        assert reranked.mixed(weight).doc_ids[3:] == ("d", "e", "f")


@pytest.mark.parametrize("weight", [0.0, 0.05, 0.5, 0.95])
def test_the_rest_stays_in_order_where_its_scores_hardly_differ(weight):
    """As after a softmax: what is distinct near 1e-7 is equal beside scores near 1."""
    doc_ids = [f"d{n:04d}" for n in range(1000)]
    random = np.random.default_rng(0)
    logits = np.sort(random.normal(size=1000) * 3)[::-1]
    first = Ranking.of(random.permutation(doc_ids).tolist(), np.exp(logits) / np.exp(logits).sum())
    mixed = Reranked.of(first, first.doc_ids[:20], random.random(20).tolist()).mixed(weight)
    assert mixed.doc_ids[20:] == first.doc_ids[20:]
    assert set(mixed.doc_ids[:20]) == set(first.doc_ids[:20])


def test_equal_scores_of_the_rest_stay_equal():
    first = Ranking.of(list("abcdef"), [9.0, 8.0, 1e-9, 1e-9, 5e-10, 0.0])
    mixed = Reranked.of(first, ["a", "b"], [1.0, 2.0]).mixed(0.0)
    assert mixed.doc_ids == ("b", "a", "d", "c", "e", "f")
    assert mixed.scores[2] == mixed.scores[3] > mixed.scores[4] > mixed.scores[5]


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.95])
def test_what_no_retriever_has_among_its_first_stays_below_though_their_fusion_has(weight):
    """Of two retrievers, c may be third in both, and d second in one alone."""
    first = Ranking.of(list("abcdef"), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    mixed = Reranked.of(first, ["a", "b", "d"], [1.0, 3.0, 2.0]).mixed(weight)
    assert sorted(mixed.doc_ids[:3]) == ["a", "b", "d"]
    assert mixed.doc_ids[3:] == ("c", "e", "f")


@pytest.mark.parametrize("seed", range(200))
def test_it_does_so_whatever_the_scores(seed):
    """Few documents outside have small scores, and a floor may be large: 32 bits must tell them."""
    random = np.random.default_rng(seed)
    for _ in range(20):
        number = int(random.integers(4, 40))
        ids = random.permutation([f"d{n:03d}" for n in range(number)]).tolist()
        scores = random.normal(size=number) * 10 ** random.uniform(-6, 6)
        first = Ranking.of(ids, np.round(scores, 9))
        outside = set(random.choice(ids, int(random.integers(1, 3)), replace=False))
        candidates = [d for d in first.doc_ids if d not in outside]
        reranked = Reranked.of(first, candidates, random.normal(size=len(candidates)).tolist())
        mixed = reranked.mixed(float(random.choice([0, 0.05, 0.5, 0.95])))
        assert mixed.doc_ids[len(candidates) :] == tuple(d for d in first.doc_ids if d in outside)


def test_both_scores_are_standardized_over_the_candidates_alone():
    reranked = Reranked.of(FIRST, ["a", "d"], [10.0, 50.0])
    assert reranked.first == pytest.approx((FIRST.scores - 6.5) / 2.5)
    inside = [FIRST.doc_ids.index(doc_id) for doc_id in ("a", "d")]
    assert reranked.second[inside].tolist() == [-1, 1]
    assert np.delete(reranked.second, inside).max() == -2  # one deviation below the last candidate


def test_in_between_both_count():
    first = Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])
    reranked = Reranked.of(first, ["a", "b", "c"], [1.0, 3.0, 2.0])
    ends = standardized(np.array([3.0, 2.0, 1.0])), standardized(np.array([1.0, 3.0, 2.0]))
    expected = Ranking.of(["a", "b", "c"], 0.3 * ends[0] + 0.7 * ends[1])
    mixed = reranked.mixed(0.3)
    assert mixed.doc_ids == expected.doc_ids
    assert np.allclose(mixed.scores, expected.scores)


def test_a_first_stages_scale_does_not_matter():
    """Probabilities of texts are as small as 1e-20, and differ all the same."""
    small = Ranking.of(["a", "b", "c"], [3e-20, 2e-20, 1e-20])
    plain = Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])
    mixed, expected = (
        Reranked.of(first, ["a", "b", "c"], [1.0, 3.0, 2.0]).mixed(0.9) for first in (small, plain)
    )
    assert mixed.doc_ids == expected.doc_ids == ("a", "b", "c")
    assert np.allclose(mixed.scores, expected.scores)


def test_scores_that_are_all_equal_change_nothing():
    reranked = Reranked.of(FIRST, list("abcdef"), [5.0] * 6)
    for weight in WEIGHTS[1:]:
        assert reranked.mixed(weight).doc_ids == FIRST.doc_ids


def test_nor_do_scores_that_rounding_alone_tells_apart():
    """A network's, where no word of the query is known."""
    nearly = 0.3 + np.array([0, 3, 1, -2, 2, -1]) * np.spacing(np.float32(0.3))
    reranked = Reranked.of(FIRST, list("abcdef"), nearly.tolist())
    for weight in WEIGHTS[1:]:
        assert reranked.mixed(weight).doc_ids == FIRST.doc_ids


def test_first_stage_scores_that_are_all_equal_leave_the_order_to_the_reranker():
    first = Ranking.of(["a", "b", "c"], [1.0, 1.0, 1.0])
    reranked = Reranked.of(first, first.doc_ids, [1.0, 3.0, 2.0])
    assert (
        reranked.mixed(0.5).doc_ids
        == Reranked.of(first, first.doc_ids, [1.0, 3.0, 2.0]).mixed(0.0).doc_ids
    )


def _topics(number, gain):
    """Topics whose relevant document stands last; the reranker puts it first where `gain` says."""
    topics, judgments = {}, {}
    for n in range(number):
        scores = [0.0, 0.0, 9.0] if gain(n) else [9.0, 0.0, -9.0]
        first = Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])
        topics[f"t{n}"] = Reranked.of(first, ["a", "b", "c"], scores)
        judgments[f"t{n}"] = {"c": 1}
    return topics, judgments


def test_weights_go_from_the_reranker_alone_to_the_first_stage_alone():
    assert pytest.approx(np.linspace(0, 1, 21)) == WEIGHTS
    assert (WEIGHTS[0], WEIGHTS[-1]) == (0.0, 1.0)


def test_a_reranker_that_is_better_gets_its_share():
    choice = choose_weight(*_topics(12, lambda n: True))
    assert choice.weight < 0.7
    assert choice.topics == 12
    assert choice.curve[choice.weight] == max(choice.curve.values()) == 1
    assert list(choice.curve) == list(WEIGHTS)


def test_the_weight_is_chosen_by_exponential_gains_where_topics_have_levels():
    reranked = Reranked.of(Ranking.of(["b", "a"], [2.0, 1.0]), ["b", "a"], [1.0, 2.0])
    topics = {f"t{n}": reranked for n in range(9)}
    choice = choose_weight(topics, {topic: {"a": 10.0, "b": 1.0} for topic in topics})
    discount = 1 / np.log2(3)
    first_stage = (1 + 1023 * discount) / (1023 + discount)
    assert (choice.measure, choice.curve[0.0]) == ("nDCG-exp@20", 1.0)
    assert choice.curve[1.0] == pytest.approx(first_stage, abs=1e-6)
    choice = choose_weight(topics, {topic: {"a": 10, "b": 1} for topic in topics})
    assert choice.measure == "nDCG@20"
    assert choice.curve[1.0] == pytest.approx((1 + 10 * discount) / (10 + discount), abs=1e-6)


def test_a_reranker_that_is_no_better_leaves_the_first_stage():
    assert choose_weight(*_topics(12, lambda n: False)).weight == 1


def test_a_gain_within_the_standard_error_is_luck():
    first = Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])
    turned_over = Reranked.of(first, ["a", "b", "c"], [1.0, 2.0, 9.0])
    topics = {f"t{n}": turned_over for n in range(11)}
    judgments = {f"t{n}": {"c" if n < 6 else "a": 1} for n in range(11)}  # six better, five worse
    choice = choose_weight(topics, judgments)
    assert max(choice.curve.values()) > choice.curve[1.0]
    assert choice.weight == 1


def test_a_grade_below_0_counts_as_not_relevant():
    topics, judgments = _topics(3, lambda n: True)
    negative = {topic: {**grades, "a": -1} for topic, grades in judgments.items()}
    assert choose_weight(topics, negative).curve == choose_weight(topics, judgments).curve


def test_topics_without_a_relevant_document_do_not_count():
    topics, judgments = _topics(6, lambda n: True)
    subset = {
        topic: grades if n < 3 else {"c": 0} for n, (topic, grades) in enumerate(judgments.items())
    }
    without = {topic: topics[topic] for topic in list(topics)[:3]}
    choice = choose_weight(topics, subset)
    assert choice.topics == 3
    assert choice == choose_weight(without, subset)


@pytest.mark.parametrize("number", [1, 2])
def test_two_topics_are_not_enough_to_leave_the_first_stage(number):
    assert choose_weight(*_topics(number, lambda n: True)).weight == 1
    assert choose_weight(*_topics(3, lambda n: True)).weight < 0.7


def test_without_validation_topics_the_first_stage_stays():
    choice = choose_weight({}, {})
    assert (choice.weight, choice.topics) == (1.0, 0)


def test_of_equal_weights_the_more_cautious_wins():
    topics, judgments = _topics(12, lambda n: True)
    choice = choose_weight(topics, judgments)
    best = [weight for weight, value in choice.curve.items() if value == 1]
    assert choice.weight == max(best)


def _difference(first, alone):
    """Ten topics and their judgments: in some the first stage is right, in some the reranker."""
    topics, judgments = {}, {}
    for n in range(10):
        ranking = Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])
        topics[f"t{n}"] = Reranked.of(ranking, ["a", "b", "c"], [1.0, 2.0, 3.0])
        judgments[f"t{n}"] = {"a": int(n < first), "c": int(n >= 10 - alone)}
    return topics, judgments


@pytest.mark.parametrize(
    ("first", "alone", "weight"), [(5, 5, 0.0), (3, 7, 0.0), (6, 5, 0.0), (9, 1, 1.0)]
)
def test_who_has_the_first_stage_among_its_features_stands_alone_unless_it_is_worse(
    first, alone, weight
):
    choice = choose_weight(*_difference(first, alone), holds_first_stage=True)
    assert choice.weight == weight
    assert set(choice.curve) == set(WEIGHTS)


@pytest.mark.parametrize("number", [1, 2])
def test_two_topics_do_not_put_the_first_stage_before_it(number):
    topics, judgments = _difference(10, 0)
    few = {topic: topics[topic] for topic in list(topics)[:number]}
    assert choose_weight(few, judgments, holds_first_stage=True).weight == 0
