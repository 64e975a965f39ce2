"""Pools of several topics, one behind the other."""

from small import labelled

from irplatform.training.samplers import Pool, Sampler


def _sampler(*pools):
    sampler = Sampler()
    sampler.pools = [Pool.of(labelled("t", doc_ids), doc_ids, {}) for doc_ids in pools]
    return sampler


def test_every_pool_begins_where_the_one_before_ends():
    sampler = _sampler(["a", "b"], [], ["c", "a", "d"])
    assert sampler.offsets.tolist() == [0, 2, 2, 5]
    assert sampler.starts.tolist() == [0, 2, 2]


def test_there_may_be_none():
    sampler = _sampler()
    assert sampler.offsets.tolist() == [0]
    assert sampler.starts.tolist() == []
