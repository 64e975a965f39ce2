"""Which documents of a topic are learned from."""

from dataclasses import replace

from small import labelled

from irplatform_ltr.options import PoolOptions
from irplatform_ltr.pools import pools_of_system

CANDIDATES = [f"d{n:03}" for n in range(200)]
JUDGED = {f"d{n:03}": int(n % 4 == 0) for n in range(60)} | {"missed": 2}


TOPIC = labelled("t", CANDIDATES, JUDGED)


def _pool(topic=TOPIC, **options):
    return pools_of_system([topic], PoolOptions(**options))[0]


def test_judged_candidates_and_a_share_of_unjudged_ones():
    pool = _pool(unjudged_share=0.25)
    grades = dict(zip(pool.doc_ids, pool.grades.tolist(), strict=True))
    assert [d for d in grades if d in JUDGED] == sorted(set(JUDGED) - {"missed"})
    assert len(grades) - 60 == 15  # beside 45 rejected ones
    assert all(grades[d] == 0 for d in grades if d not in JUDGED)


def test_all_judged_documents_when_asked_for():
    pool = _pool(relevant="judged")
    assert dict(zip(pool.doc_ids, pool.grades.tolist(), strict=True))["missed"] == 2


def test_without_rejected_documents_unjudged_ones_stand_in():
    topic = labelled("t", CANDIDATES, {"d003": 1})
    (pool,) = pools_of_system([topic], PoolOptions(unjudged=30))
    assert len(pool.doc_ids) == 31
    assert pool.grades.sum() == 1


def test_few_rejected_documents_do_not_keep_unjudged_ones_away():
    relevant = {f"d{n:03}": 1 for n in range(10)}
    for rejected, unjudged in ((1, 7), (5, 3), (6, 3), (10, 4), (100, 40)):
        judged = relevant | {f"d{n:03}": 0 for n in range(10, 10 + rejected)}
        (pool,) = pools_of_system([labelled("t", CANDIDATES, judged)], PoolOptions())
        assert len(pool.doc_ids) == 10 + rejected + unjudged


def test_the_same_documents_whatever_their_order_and_the_other_topics():
    topic = labelled("t", CANDIDATES, JUDGED)
    turned = labelled("t", CANDIDATES[::-1], dict(reversed(JUDGED.items())))
    other = labelled("other", CANDIDATES, JUDGED)
    drawn = [pools_of_system(topics, PoolOptions())[-1] for topics in ([topic], [other, turned])]
    assert drawn[0].doc_ids == drawn[1].doc_ids


def test_topics_without_anything_to_tell_apart_are_left_out():
    assert (
        pools_of_system([labelled("t", ["a"], {"a": 0}), labelled("u", ["a"], {})], PoolOptions())
        == []
    )


def test_unjudged_candidates_may_be_drawn_from_those_that_the_first_stage_likes_best():
    candidates = [f"d{n}" for n in range(100)]
    topic = labelled("t", candidates, {"d50": 1})
    scores = tuple(float(n) for n in range(100))  # the last are the best
    best = {f"d{n}" for n in range(80, 100)}
    half = _pool(replace(topic, first_stage=scores), unjudged=10, head=0.5, head_depth=20)
    assert len(best & set(half.doc_ids)) == 5
    assert len(half.doc_ids) == 11
    assert not {f"d{n}" for n in range(95, 100)} <= set(half.doc_ids)  # drawn, not the first five
    pool = _pool(topic, unjudged=10, head=1.0, head_depth=10)  # candidates come best first
    assert set(pool.doc_ids) == {"d50", *(f"d{n}" for n in range(10))}
    none = _pool(topic, unjudged=10, head_depth=1)
    assert none.doc_ids == _pool(topic, unjudged=10, head_depth=60).doc_ids


def test_where_documents_were_rejected_unjudged_ones_are_drawn_from_all():
    for head in (0.5, 1.0):
        assert _pool(head=head, head_depth=60).doc_ids == _pool().doc_ids
