"""Pairs of documents: which, how many, how weighted."""

from collections import Counter

import numpy as np
import pytest
from small import labelled

from irplatform.errors import InputError
from irplatform.training.samplers import PairSampler, PairSettings

CANDIDATES = [f"d{n}" for n in range(40)]
GRADES = {"d0": 2, "d3": 1, "d5": 1, "d7": 0, "d9": 0, "d11": -1, "elsewhere": 2}


def _sampler(*topics, seed=1, **settings):
    return PairSampler(
        topics or [labelled("t", CANDIDATES, GRADES)], PairSettings(**settings), seed
    )


def _named(sampler, epoch=0):
    pairs = sampler.epoch(epoch)
    pools = [sampler.pools[t].doc_ids for t in pairs.topic]
    return [
        (pool[h], pool[low], float(w))
        for pool, h, low, w in zip(pools, pairs.higher, pairs.lower, pairs.weight, strict=True)
    ]


def test_every_relevant_document_meets_one_of_lower_grade():
    for epoch in range(20):
        pairs = _named(_sampler(), epoch)
        assert sorted(higher for higher, _, _ in pairs) == ["d0", "d3", "d5"]
        for higher, lower, _ in pairs:
            assert GRADES[higher] > max(GRADES.get(lower, 0), 0)


def test_the_weight_is_the_square_root_of_the_difference_of_grades():
    differences = set()
    for epoch in range(50):
        for higher, lower, weight in _named(_sampler(), epoch):
            difference = GRADES[higher] - max(GRADES.get(lower, 0), 0)
            assert weight == pytest.approx(np.sqrt(difference))
            differences.add(difference)
    assert differences == {1, 2}


def test_pairs_weigh_the_same_without_weighting():
    assert {weight for _, _, weight in _named(_sampler(weighting="none"))} == {1.0}


def test_a_document_of_middle_grade_stands_on_either_side():
    pairs = [pair for epoch in range(50) for pair in _named(_sampler(unjudged_share=0), epoch)]
    assert any(higher == "d3" for higher, _, _ in pairs)
    assert any(lower == "d3" and higher == "d0" for higher, lower, _ in pairs)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0.0), (0.3, 0.3), (1.0, 1.0)])
def test_unjudged_candidates_have_their_share(share, expected):
    pairs = [pair for epoch in range(400) for pair in _named(_sampler(unjudged_share=share), epoch)]
    unjudged = np.mean([lower not in GRADES for _, lower, _ in pairs])
    assert unjudged == pytest.approx(expected, abs=0.05)


def test_relevant_documents_that_were_not_found_are_used_when_asked_for():
    assert all(higher != "elsewhere" for higher, _, _ in _named(_sampler()))
    assert any(higher == "elsewhere" for higher, _, _ in _named(_sampler(relevant="judged")))


def test_without_judged_ones_of_lower_grade_the_unjudged_serve():
    only_relevant = labelled("t", CANDIDATES, {"d0": 1, "d1": 1})
    pairs = _named(_sampler(only_relevant, unjudged_share=0))
    assert {higher for higher, _, _ in pairs} == {"d0", "d1"}
    assert all(lower not in {"d0", "d1"} for _, lower, _ in pairs)


def test_without_unjudged_ones_the_judged_serve():
    all_judged = labelled("t", ["a", "b"], {"a": 1, "b": 0})
    assert _named(_sampler(all_judged, unjudged_share=1)) == [("a", "b", 1.0)]


def test_topics_with_nothing_to_tell_apart_are_left_out():
    nothing = [
        labelled("no candidates", [], {"a": 1}),
        labelled("none relevant", ["a", "b"], {"a": 0}),
        labelled("all alike", ["a", "b"], {"a": 1, "b": 1}),
    ]
    sampler = _sampler(*nothing, labelled("t", CANDIDATES, GRADES))
    assert [topic.topic.id for topic in sampler.topics] == ["t"]
    assert [pool.labelled for pool in sampler.pools] == sampler.topics
    with pytest.raises(InputError, match="no training topic has two candidates of different rel"):
        _sampler(*nothing)


def test_a_topic_has_at_most_as_many_pairs_as_allowed():
    grades = {f"d{n}": int(n < 20) for n in range(40)}
    topics = [labelled(f"t{n}", CANDIDATES, grades) for n in range(3)]
    pairs = _sampler(*topics, pairs_per_topic=7).epoch(0)
    assert Counter(pairs.topic.tolist()) == {0: 7, 1: 7, 2: 7}


def test_a_pool_has_at_most_as_many_negatives_as_allowed():
    (pool,) = _sampler(negatives_per_topic=4).pools
    assert sum(doc_id not in GRADES for doc_id in pool.doc_ids) == 4
    assert {"d0", "d3", "d5"} < set(pool.doc_ids)
    assert len(set(pool.doc_ids)) == len(pool.doc_ids)


def test_the_same_seed_and_epoch_give_the_same_pairs_and_others_do_not():
    wide = labelled("t", CANDIDATES, {f"d{n}": int(n % 2) for n in range(40)})
    assert _named(_sampler(wide), 3) == _named(_sampler(wide), 3)
    assert _named(_sampler(wide), 3) != _named(_sampler(wide), 4)
    assert _named(_sampler(wide, seed=1), 3) != _named(_sampler(wide, seed=2), 3)


def test_rows_are_those_of_all_pools_one_behind_the_other():
    sampler = _sampler(*(labelled(f"t{n}", CANDIDATES, GRADES) for n in range(3)))
    pairs = sampler.epoch(0)
    ids = [doc_id for pool in sampler.pools for doc_id in pool.doc_ids]
    expected = [
        sampler.pools[topic].doc_ids[document]
        for side in (pairs.higher, pairs.lower)
        for topic, document in zip(pairs.topic, side, strict=True)
    ]
    assert [ids[row] for row in pairs.rows(sampler.starts)] == expected


def test_batches_are_all_pairs_in_order():
    topics = [labelled(f"t{n}", CANDIDATES, GRADES) for n in range(5)]
    pairs = _sampler(*topics).epoch(0)
    parts = list(pairs.batches(4))
    assert [len(part) for part in parts] == [4, 4, 4, 3]
    for column in ("topic", "higher", "lower", "weight"):
        joined = np.concatenate([getattr(part, column) for part in parts])
        assert np.array_equal(joined, getattr(pairs, column))
