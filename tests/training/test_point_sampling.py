"""Single documents to learn from: which, how many of each class, how weighted."""

from collections import Counter

import numpy as np
import pytest
from small import labelled

from irplatform.errors import InputError
from irplatform.training.samplers import PointSampler, PointSettings

CANDIDATES = [f"d{n}" for n in range(40)]
GRADES = {"d0": 2, "d3": 1, "d5": 1, "d7": 0, "d9": 0, "d11": -1, "elsewhere": 2}


def _sampler(*topics, seed=1, weighting="none", **settings):
    return PointSampler(
        topics or [labelled("t", CANDIDATES, GRADES)], PointSettings(**settings), seed, weighting
    )


def _named(sampler, epoch=0):
    points = sampler.epoch(epoch)
    pools = [sampler.pools[t].doc_ids for t in points.topic]
    return [
        (pool[d], float(label), float(weight))
        for pool, d, label, weight in zip(
            pools, points.document, points.label, points.weight, strict=True
        )
    ]


def test_every_relevant_document_and_as_many_others():
    for epoch in range(20):
        points = _named(_sampler(), epoch)
        assert sorted(d for d, label, _ in points if label == 1) == ["d0", "d3", "d5"]
        others = [d for d, label, _ in points if label == 0]
        assert len(set(others)) == 3
        assert all(max(GRADES.get(d, 0), 0) == 0 for d in others)


def test_the_most_relevant_documents_come_first_where_there_are_too_many():
    for epoch in range(20):
        relevant = [d for d, label, _ in _named(_sampler(samples_per_topic=2), epoch) if label]
        assert "d0" in relevant
        assert len(relevant) == 2
    assert len({tuple(sorted(_named(_sampler(samples_per_topic=2), e))) for e in range(20)}) > 1


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        ("none", [1, 1, 1]),
        ("log", [1, np.log(8), np.log(3)]),
        ("root", [1, np.sqrt(7), np.sqrt(2)]),
    ],
)
def test_relevant_samples_count_by_their_grade(weighting, expected):
    topic = labelled("t", ["a", "b", "c", "d"], {"a": 7, "b": 2, "c": 0, "d": 0})
    weights = {d: w for d, _, w in _named(_sampler(topic, weighting=weighting))}
    assert [weights["c"], weights["a"], weights["b"]] == pytest.approx(expected)


def test_a_low_grade_counts_no_less_than_none():
    topic = labelled("t", ["a", "b"], {"a": 1, "b": 0})
    assert {w for _, _, w in _named(_sampler(topic, weighting="log"))} == {1.0}


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0.0), (0.3, 0.3), (1.0, 1.0)])
def test_unjudged_candidates_have_their_share(share, expected):
    sampler = _sampler(unjudged_share=share)
    points = [point for epoch in range(400) for point in _named(sampler, epoch)]
    unjudged = np.mean([d not in GRADES for d, label, _ in points if label == 0])
    assert unjudged == pytest.approx(expected, abs=0.05)


def test_one_kind_of_negatives_serves_where_the_other_does_not_suffice():
    few = labelled("t", CANDIDATES, {"d0": 1, "d1": 1, "d2": 0})
    kinds = Counter(
        d == "d2" for d, label, _ in _named(_sampler(few, unjudged_share=0)) if not label
    )
    assert kinds == {True: 1, False: 1}
    judged = labelled("t", ["a", "b"], {"a": 1, "b": 0})
    assert sorted(_named(_sampler(judged, unjudged_share=1))) == [("a", 1, 1), ("b", 0, 1)]


def test_topics_without_either_class_are_left_out():
    nothing = [
        labelled("none relevant", ["a", "b"], {"a": 0}),
        labelled("no candidates", [], {"a": 1}),
        labelled("none irrelevant", ["a", "b"], {"a": 1, "b": 2}),
    ]
    sampler = _sampler(*nothing, labelled("t", CANDIDATES, GRADES))
    assert [t.topic.id for t in sampler.topics] == ["t"]
    assert [pool.labelled for pool in sampler.pools] == sampler.topics
    assert len(_named(sampler)) == 6
    with pytest.raises(InputError, match="no training topic has two candidates of different rel"):
        _sampler(*nothing)


def test_the_same_seed_and_epoch_give_the_same_samples_and_others_do_not():
    wide = labelled("t", CANDIDATES, {f"d{n}": int(n % 2) for n in range(40)})
    assert _named(_sampler(wide), 3) == _named(_sampler(wide), 3)
    assert _named(_sampler(wide), 3) != _named(_sampler(wide), 4)
    assert _named(_sampler(wide, seed=1), 3) != _named(_sampler(wide, seed=2), 3)


def test_batches_are_all_samples_in_order():
    points = _sampler(*(labelled(f"t{n}", CANDIDATES, GRADES) for n in range(3))).epoch(0)
    parts = list(points.batches(4))
    assert [len(part) for part in parts] == [4, 4, 4, 4, 2]
    for column in ("topic", "document", "label", "weight"):
        joined = np.concatenate([getattr(part, column) for part in parts])
        assert np.array_equal(joined, getattr(points, column))
