"""Fusion by reciprocal ranks and by standardized scores."""

import functools
import json
import operator
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.runs import Ranking, Run
from irplatform.runs.fuse import fuse
from irplatform.runs.fusion import fusion_method
from irplatform.runs.run import standardized


def reciprocal_rank_fusion(runs, name="fused", k=60, depth=None, weights=()):
    return fuse(runs, fusion_method("ranks", k=k, weights=tuple(weights)), name, depth)


def score_fusion(runs, name="fused", depth=None, weights=()):
    return fuse(runs, fusion_method("scores", weights=tuple(weights)), name, depth)


def run(name, **topics):
    ranked = {topic: ids.split() for topic, ids in topics.items()}
    return Run(
        name,
        {t: Ranking.of(ids, [-float(i) for i in range(len(ids))]) for t, ids in ranked.items()},
    )


def test_shares_are_added_as_by_hand():
    fused = reciprocal_rank_fusion([run("x", q="a b c"), run("y", q="c a d")], k=60)
    assert fused.name == "fused"
    assert fused.rankings["q"].doc_ids == ("a", "c", "b", "d")
    by_hand = [1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62, 1 / 63]
    assert fused.rankings["q"].scores == pytest.approx(np.float32(by_hand), rel=1e-7)


def test_equal_shares_are_ordered_by_decreasing_id():
    fused = reciprocal_rank_fusion([run("x", q="a b"), run("y", q="b a")])
    assert fused.rankings["q"].doc_ids == ("b", "a")


def test_the_order_of_the_runs_does_not_matter():
    runs = [run("x", q="a b c d"), run("y", q="d b a"), run("z", q="c a b e")]
    forward, backward = reciprocal_rank_fusion(runs), reciprocal_rank_fusion(runs[::-1])
    assert forward.rankings["q"].doc_ids == backward.rankings["q"].doc_ids
    assert (forward.rankings["q"].scores == backward.rankings["q"].scores).all()


def test_a_topic_of_one_run_keeps_its_order_and_an_empty_one_stays():
    fused = reciprocal_rank_fusion([run("x", p="b a", q=""), run("y", r="c")], "both")
    assert fused.name == "both"
    assert {t: r.doc_ids for t, r in fused.rankings.items()} == {
        "p": ("b", "a"),
        "q": (),
        "r": ("c",),
    }


def test_a_smaller_k_makes_the_first_ranks_stand_out():
    runs = [run("x", q="a b c"), run("y", q="d b c")]
    assert reciprocal_rank_fusion(runs, k=60).rankings["q"].doc_ids[0] == "b"
    assert reciprocal_rank_fusion(runs, k=0).rankings["q"].doc_ids[:2] == ("d", "b")


def test_depth_cuts_the_fused_ranking():
    assert reciprocal_rank_fusion([run("x", q="a b c")], depth=2).rankings["q"].doc_ids == (
        "a",
        "b",
    )


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="no runs"):
        reciprocal_rank_fusion([])
    with pytest.raises(ValueError, match="k is -1"):
        reciprocal_rank_fusion([run("x", q="a")], k=-1)
    with pytest.raises(ValueError, match="depth is 0"):
        reciprocal_rank_fusion([run("x", q="a")], depth=0)


def test_weights_count():
    fused = reciprocal_rank_fusion([run("x", q="a b"), run("y", q="c d")], k=60, weights=(1, 0.5))
    assert fused.rankings["q"].doc_ids == ("a", "b", "c", "d")
    assert fused.rankings["q"].scores == pytest.approx(
        np.float32([1 / 61, 1 / 62, 0.5 / 61, 0.5 / 62]), rel=1e-6
    )


@pytest.mark.parametrize("weights", [(1,), (1, -1), (0, 0)])
def test_weights_that_make_no_sense_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        reciprocal_rank_fusion([run("x", q="a"), run("y", q="b")], weights=weights)


def scored(name, **topics):
    return Run(
        name, {t: Ranking.of(list(scores), list(scores.values())) for t, scores in topics.items()}
    )


def test_standardized_scores_are_added_as_by_hand():
    first = scored("x", q={"a": 3.0, "b": 2.0, "c": 1.0})
    second = scored("y", q={"c": 50.0, "d": 10.0})
    high = (1.5) ** 0.5  # of 3, 2, 1: the deviation is the root of two thirds
    fused = score_fusion([first, second], "sum")
    assert fused.name == "sum"
    scores = dict(zip(fused.rankings["q"].doc_ids, fused.rankings["q"].scores, strict=True))
    by_hand = {"a": high - 1, "b": 0 - 1, "c": -high + 1, "d": -high - 1}
    assert scores == pytest.approx(by_hand, rel=1e-6)
    assert fused.rankings["q"].doc_ids == ("a", "c", "b", "d")


def test_a_runs_scale_does_not_matter_nor_the_order_of_the_runs():
    scores = {"a": 3.0, "b": 2.5, "c": 1.0}
    other = scored("y", q={"b": 0.3, "c": 0.2, "e": 0.1}, r={"z": 1.0}, empty={})
    plain = score_fusion([scored("x", q=scores), other], depth=3)
    scaled = score_fusion(
        [other, scored("x", q={d: 7 * s - 40 for d, s in scores.items()})], depth=3
    )
    assert plain.rankings["q"].doc_ids == scaled.rankings["q"].doc_ids
    assert len(plain.rankings["q"].doc_ids) == 3
    assert np.allclose(plain.rankings["q"].scores, scaled.rankings["q"].scores)
    assert plain.rankings["r"].doc_ids == ("z",)
    assert plain.rankings["empty"].doc_ids == ()


def test_scores_as_small_as_probabilities_of_texts_count_too():
    scores = {"a": 3.0, "b": 2.5, "c": 1.0}
    other = scored("y", q={"b": 0.3, "c": 0.2, "e": 0.1})
    small = scored("x", q={d: s * 1e-20 for d, s in scores.items()})
    plain, fused = (
        score_fusion([run, other]).rankings["q"] for run in (scored("x", q=scores), small)
    )
    assert fused.doc_ids == plain.doc_ids
    assert fused.scores == pytest.approx(plain.scores, rel=1e-6)


@pytest.mark.parametrize("score", [0.0, 0.1, -1e-20, 3e38])
def test_equal_scores_are_zeros(score):
    same = scored("x", q=dict.fromkeys("abc", score))
    assert set(score_fusion([same, same]).rankings["q"].scores) == {0.0}


def test_scores_of_nothing_are_refused():
    with pytest.raises(ValueError, match="no runs"):
        score_fusion([])
    with pytest.raises(ValueError, match="depth is 0"):
        score_fusion([run("x", q="a")], depth=0)


def test_weighted_scores_are_added_as_by_hand():
    first = scored("x", q={"a": 3.0, "b": 2.0, "c": 1.0})
    second = scored("y", q={"c": 50.0, "d": 10.0})
    high = (1.5) ** 0.5
    fused = score_fusion([first, second], weights=[4, 1]).rankings["q"]
    by_hand = {"a": 4 * high - 1, "b": -1, "c": -4 * high + 1, "d": -4 * high - 1}
    assert dict(zip(fused.doc_ids, fused.scores, strict=True)) == pytest.approx(by_hand, rel=1e-6)
    again = score_fusion([second, first], weights=[1, 4]).rankings["q"]
    assert fused.doc_ids == again.doc_ids
    assert list(fused.scores) == list(again.scores)


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0]])
def test_weights_that_do_not_suit_are_refused_for_scores_too(weights):
    with pytest.raises(ValueError, match="do not suit 2 runs"):
        score_fusion([run("x", q="a"), run("y", q="a")], weights=weights)


def plainly_by_ranks(runs, topic, k, weights):
    shares = defaultdict(list)
    for run, weight in zip(runs, weights, strict=True):
        if topic in run.rankings:
            for rank, doc_id in enumerate(run.rankings[topic].doc_ids, start=1):
                shares[doc_id].append(weight / (k + rank))
    scores = [functools.reduce(operator.add, sorted(share)) for share in shares.values()]
    return Ranking.of(list(shares), scores)


def plainly_by_scores(runs, topic, weights):
    pairs = [(r.rankings[topic], w) for r, w in zip(runs, weights, strict=True)]
    doc_ids = sorted({doc_id for ranking, _ in pairs for doc_id in ranking.doc_ids})
    columns = []
    for ranking, weight in pairs:
        scores = weight * standardized(np.asarray(ranking.scores, dtype=np.float64))
        score_of = dict(zip(ranking.doc_ids, scores.tolist(), strict=True))
        lowest = min(score_of.values(), default=0.0)
        columns.append([score_of.get(doc_id, lowest) for doc_id in doc_ids])
    summed = np.sort(np.array(columns), axis=0).sum(axis=0) if doc_ids else []
    return Ranking.of(doc_ids, summed)


IDS = st.one_of(
    st.integers(0, 25).map(str),
    st.integers(0, 9).map(lambda number: f"clueweb09-en0000-{number}"),
    st.sampled_from(["é", "日本", "x" * 64, "x" * 65, "x" * 99]),
)
RANKINGS = st.dictionaries(IDS, st.sampled_from([0.0, 0.5, 1.0, 1.1, 7.25, -3.0]), max_size=20)


@settings(max_examples=150, deadline=None)
@given(
    rankings=st.lists(RANKINGS, min_size=1, max_size=4),
    weights=st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=4, max_size=4),
    k=st.sampled_from([0, 1, 60, 60.5]),
    depth=st.sampled_from([None, 1, 7]),
)
def test_fused_runs_are_those_of_plain_dictionaries_to_the_last_bit(rankings, weights, k, depth):
    weights = [*weights[: len(rankings) - 1], 1.0]
    runs = [scored("x", q=scores) for scores in rankings]
    by_ranks = reciprocal_rank_fusion(runs, "x", k, depth, weights)
    by_scores = score_fusion(runs, "x", depth, weights)
    plain = plainly_by_ranks(runs, "q", k, weights), plainly_by_scores(runs, "q", weights)
    for fused, ranking in zip((by_ranks, by_scores), plain, strict=True):
        expected = ranking.top(depth or 999)
        assert fused.rankings["q"].doc_ids == expected.doc_ids
        assert fused.rankings["q"].scores.dtype == np.float32
        assert fused.rankings["q"].scores.tobytes() == expected.scores.tobytes()


FIRST = scored("x", q={"a": 5.0, "b": 3.0, "c": 1.0})
SECOND = scored("y", q={"c": 80.0, "d": 20.0})


@pytest.mark.parametrize(
    ("method", "by_hand"),
    [
        (fusion_method("combsum"), {"a": 1, "b": 0.5, "c": 0 + 1, "d": 0}),
        (fusion_method("combsum", norm="max"), {"a": 1, "b": 0.6, "c": 0.2 + 1, "d": 0.25}),
        (fusion_method("combsum", norm="sum"), {"a": 4 / 6, "b": 2 / 6, "c": 0 + 1, "d": 0}),
        (
            fusion_method("combsum", norm="zmuv"),
            {"a": 1.5**0.5, "b": 0, "c": -(1.5**0.5) + 1, "d": -1},
        ),
        (fusion_method("combsum", norm="rank"), {"a": 1, "b": 2 / 3, "c": 1 / 3 + 1, "d": 0.5}),
        # of 4 documents, the first run leaves 1 place to d, the second 1 and 2 to a and b
        (
            fusion_method("combsum", norm="borda"),
            {"a": 1 + 1.5 / 4, "b": 0.75 + 1.5 / 4, "c": 0.5 + 1, "d": 0.25 + 0.75},
        ),
        (
            fusion_method("combmnz", norm="borda"),
            {"a": 2 + 1.5 / 2, "b": 1.5 + 1.5 / 2, "c": 1 + 2, "d": 0.5 + 1.5},
        ),
        (fusion_method("borda"), {"a": 4 + 1.5, "b": 3 + 1.5, "c": 2 + 4, "d": 1 + 3}),
        (fusion_method("combmnz"), {"a": 1, "b": 0.5, "c": 2 * (0 + 1), "d": 0}),
        (fusion_method("isr"), {"a": 1, "b": 1 / 4, "c": 2 * (1 / 9 + 1), "d": 1 / 4}),
        (
            fusion_method("combsum", weights=(2, 0.5)),
            {"a": 2, "b": 1, "c": 0.5, "d": 0},
        ),
        (fusion_method("combmnz", weights=(2, 0.5)), {"a": 2, "b": 1, "c": 2.5 * 1, "d": 0}),
        (
            fusion_method("borda", weights=(2, 0.5)),
            {"a": 8 + 0.75, "b": 6 + 0.75, "c": 4 + 2, "d": 2 + 1.5},
        ),
    ],
    ids=str,
)
def test_methods_add_as_by_hand(method, by_hand):
    fused = fuse([FIRST, SECOND], method).rankings["q"]
    assert dict(zip(fused.doc_ids, fused.scores.tolist(), strict=True)) == pytest.approx(by_hand)
    other = replace(method, weights=method.weights[::-1])
    again = fuse([SECOND, FIRST], other).rankings["q"]
    assert (fused.doc_ids, fused.scores.tolist()) == (again.doc_ids, again.scores.tolist())


@pytest.mark.parametrize("norm", ["min-max", "max", "sum", "zmuv", "rank", "borda"])
@pytest.mark.parametrize("by", ["combsum", "combmnz"])
def test_topics_without_results_and_equal_scores_are_fused(by, norm):
    runs = [scored("x", q={}, r={"a": 2.0, "b": 2.0}), scored("y", q={"c": 1.0}, r={})]
    fused = fuse(runs, fusion_method(by, norm=norm))
    assert fused.rankings["q"].doc_ids == ("c",)
    assert set(fused.rankings["r"].doc_ids) == {"a", "b"}


RANX = json.loads(Path(__file__).with_name("ranx.json").read_text())
OURS = {"rrf": "ranks", "bordafuse": "borda", "isr": "isr", "sum": "combsum", "mnz": "combmnz"}


@pytest.mark.parametrize("name", RANX["fused"])
def test_rankings_are_those_of_ranx_with_our_order_of_ties(name):
    method, _, norm = name.removeprefix("w_").partition(" ")
    weights = (0.7, 0.2, 0.5) if name.startswith("w") else ()
    by = OURS[method.removeprefix("w")]
    runs = [scored("x", q=scores) for scores in RANX["runs"]]
    fused = fuse(runs, fusion_method(by, norm=norm or None, weights=weights)).rankings["q"]
    expected = RANX["fused"][name]
    result = dict(zip(fused.doc_ids, fused.scores.tolist(), strict=True))
    assert result == pytest.approx(expected, abs=1e-6)
    assert fused.doc_ids == Ranking.of([*expected], [*expected.values()]).doc_ids
