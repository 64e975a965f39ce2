"""Lists of documents: which, how many, how often."""

from collections import Counter

import pytest
from small import labelled

from irplatform.errors import InputError
from irplatform.training.list_samplers import ListSampler, ListSettings

CANDIDATES = [f"d{n}" for n in range(60)]
GRADES = {f"d{n}": 2 if n < 3 else 1 for n in range(0, 20, 2)} | {
    f"d{n}": 0 for n in range(1, 60, 2)
}
"""Ten relevant documents, thirty judged ones that are not, twenty unjudged."""


def _sampler(*topics, seed=1, **settings):
    return ListSampler(
        topics or [labelled("t", CANDIDATES, GRADES)], ListSettings(**settings), seed
    )


def _named(sampler, epoch=0):
    lists = sampler.epoch(epoch)
    return [
        [sampler.pools[topic].doc_ids[place] for place in places]
        for topic, places in zip(lists.topic, lists.documents, strict=True)
    ]


def test_every_relevant_document_is_in_one_list_of_an_epoch():
    relevant = {doc_id for doc_id, grade in GRADES.items() if grade}
    for epoch in range(5):
        lists = _named(_sampler(relevant_per_list=4), epoch)
        hits = [[doc_id for doc_id in documents if doc_id in relevant] for documents in lists]
        assert sorted(map(len, hits)) == [2, 4, 4]
        assert sorted(doc_id for documents in hits for doc_id in documents) == sorted(relevant)


def test_an_epoch_has_so_many_relevant_documents_of_a_topic_at_most():
    lists = _named(_sampler(relevant_per_list=4, relevant_per_topic=6))
    assert sum(GRADES.get(doc_id, 0) > 0 for documents in lists for doc_id in documents) == 6


def test_a_list_has_so_many_lower_documents_and_none_twice():
    sampler = _sampler(relevant_per_list=4, lower_per_list=9, lower_per_relevant=3)
    for epoch in range(5):
        lists = _named(sampler, epoch)
        assert sorted(len(documents) for documents in lists) == [2 + 6, 4 + 9, 4 + 9]
        assert all(len(set(documents)) == len(documents) for documents in lists)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (0.25, 4), (1.0, 16)])
def test_unjudged_candidates_have_their_share(share, expected):
    (first, second) = _named(_sampler(unjudged_share=share))
    longer = max(first, second, key=len)
    assert sum(doc_id not in GRADES for doc_id in longer) == expected


def test_unjudged_candidates_stand_in_for_judged_ones_that_lack():
    few = labelled("t", CANDIDATES, {"d0": 1, "d1": 1, "d2": 0})
    (documents,) = _named(_sampler(few, unjudged_share=0.1))
    assert len(documents) == 2 + 14
    assert {"d0", "d1", "d2"} < set(documents)


def test_where_everything_is_judged_so_is_all_of_a_list():
    all_judged = labelled("t", ["a", "b", "c"], {"a": 1, "b": 0, "c": 0})
    assert [sorted(documents) for documents in _named(_sampler(all_judged))] == [["a", "b", "c"]]


def test_lower_documents_are_drawn_alike_wherever_they_rank():
    counts = Counter(
        doc_id
        for epoch in range(400)
        for documents in _named(_sampler(lower_per_list=4, unjudged_share=0), epoch)
        for doc_id in documents
        if GRADES.get(doc_id) == 0
    )
    first, last = (sum(counts[f"d{n}"] for n in range(start, start + 20, 2)) for start in (1, 41))
    assert len(counts) == 30
    assert first == pytest.approx(last, rel=0.2)


def test_batches_hold_so_many_documents_and_every_epoch_as_many_batches():
    topics = [
        labelled(f"t{n}", CANDIDATES, dict(list(GRADES.items())[: 12 + 3 * n])) for n in range(6)
    ]
    sampler = _sampler(*topics)
    counts = set()
    for epoch in range(5):
        batches = list(sampler.batches(epoch, 50))
        assert all(sum(map(len, batch.documents)) <= 50 for batch in batches)
        assert sum(map(len, batches)) == len(sampler.epoch(epoch))
        counts.add(len(batches))
    assert len(counts) == 1


def test_a_batch_has_a_list_even_if_it_is_too_long():
    assert [len(batch) for batch in _sampler().batches(0, 1)] == [1, 1]


def test_epochs_follow_from_the_seed():
    assert _named(_sampler(seed=3), 2) == _named(_sampler(seed=3), 2)
    assert _named(_sampler(seed=3), 2) != _named(_sampler(seed=4), 2)
    assert _named(_sampler(), 0) != _named(_sampler(), 1)


def test_topics_with_nothing_to_tell_apart_are_left_out():
    same = labelled("same", ["a", "b"], {"a": 1, "b": 1})
    sampler = _sampler(same, labelled("t", CANDIDATES, GRADES))
    assert [pool.labelled.topic.id for pool in sampler.pools] == ["t"]
    with pytest.raises(InputError, match="no training topic"):
        _sampler(same)
