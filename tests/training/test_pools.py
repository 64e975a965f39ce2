"""Pools of several topics, one behind the other."""

from small import labelled

from irplatform.training.samplers import Pool, pool_offsets, pool_starts


def _pool(doc_ids):
    return Pool.of(labelled("t", doc_ids), doc_ids, {})


def test_every_pool_begins_where_the_one_before_ends():
    pools = [_pool(["a", "b"]), _pool([]), _pool(["c", "a", "d"])]
    assert pool_offsets(pools).tolist() == [0, 2, 2, 5]
    assert pool_starts(pools).tolist() == [0, 2, 2]


def test_there_may_be_none():
    assert pool_offsets([]).tolist() == [0]
    assert pool_starts([]).tolist() == []
