"""Estimates of work, from what it took before."""

import pytest

from irplatform.files.costs import Cost, Work, costs, measured, note_use, record
from irplatform.planning.estimates import added, estimate

pytestmark = pytest.mark.usefixtures("fresh_home")


def _cost(processor, amount=100, name="delta", variant="a", kind="train", **more):
    return Cost(Work(kind, name, amount, variant), processor, processor / 2, **more)


WORK = Work("train", "delta", 100, "a")


def test_the_latest_work_of_the_same_kind_name_and_amount_counts():
    before = [_cost(90), *map(_cost, (8, 9, 10, 11, 12)), _cost(1, name="drmm")]
    found = estimate(WORK, before)
    assert (found.processor, found.low, found.high, found.seconds) == (10, 8, 12, 5)


def test_seconds_grow_with_the_amount_and_the_range_is_wider():
    found = estimate(WORK, [_cost(10, amount=50, bytes=1000)])
    assert (found.processor, found.low, found.high, found.bytes) == (20, 10, 40, 2000)


def test_other_options_count_where_nothing_else_is_known():
    others = [_cost(10, variant="b"), _cost(20, variant="b")]
    assert estimate(WORK, others).processor == 15
    assert estimate(WORK, [*others, _cost(3)]).processor == 3


def test_what_was_never_done_is_not_known():
    assert estimate(WORK, [_cost(1, name="drmm"), _cost(1, kind="rank")]) is None


def test_estimates_add_up_but_for_memory():
    one, other = (estimate(WORK, [_cost(n, memory=n, bytes=n)]) for n in (1, 2))
    total = added([one, other])
    assert (total.processor, total.bytes, total.memory) == (3, 3, 2)


def test_work_within_work_counts_once():
    with measured(Work("weigh", "x")) as outer:
        note_use("check")
        with measured(Work("rank", "x")):
            note_use("scores")
            sum(range(400_000))
        assert outer.within > 0
    kept = {cost.work.kind: cost for cost in costs()}
    assert kept["rank"].needs == ("scores",)
    assert "weigh" not in kept or kept["weigh"].processor < kept["rank"].processor


def test_work_that_fails_or_goes_on_leaves_no_record():
    with pytest.raises(ValueError, match="no"), measured(Work("rank")):
        sum(range(400_000))
        raise ValueError("no")
    with measured(Work("rank")) as meter:
        sum(range(400_000))
        meter.counts = False
    assert costs() == []


def test_a_damaged_record_is_passed_over(fresh_home):
    record(_cost(1))
    with (fresh_home / "costs.jsonl").open("ab") as file:
        file.write(b'{"work": 3}\n{"wo\n')
    record(_cost(2))
    assert [cost.processor for cost in costs()] == [1, 2]


def test_old_records_go(fresh_home, monkeypatch):
    monkeypatch.setattr("irplatform.files.costs._MOST", 1000)
    for number in range(20):
        record(_cost(number))
    kept = [cost.processor for cost in costs()]
    assert kept == [*range(20)][-len(kept) :]
    assert (fresh_home / "costs.jsonl").stat().st_size <= 1000
