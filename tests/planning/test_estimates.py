"""Estimates of work, from what it took before."""

from math import sqrt

import pytest

from irplatform.files.costs import Cost, Work, costs, measured, note_use, record
from irplatform.planning.estimates import added, estimate

pytestmark = pytest.mark.usefixtures("fresh_home")


def _cost(processor, amount=100, name="delta", variant="a", kind="train", **more):
    return Cost(Work(kind, name, amount, variant), processor, processor / 2, **more)


WORK = Work("train", "delta", 100, "a")


def test_the_latest_work_of_the_same_kind_name_and_amount_counts():
    before = [_cost(90), *map(_cost, (8, 9, 10, 11, 12)), _cost(1, name="drmm")]
    result = estimate(WORK, before)
    assert (result.processor, result.low, result.high, result.seconds) == (10, 8, 12, 5)


def test_a_start_of_some_seconds_may_grow_with_the_amount_or_not():
    long = estimate(WORK, [_cost(500, amount=50, bytes=1000)])
    assert long.processor == pytest.approx(sqrt(1000 * 995))
    assert (long.low, long.high, long.bytes) == (995 / 2, 2000, 2000)
    assert long.seconds == pytest.approx(long.processor / 2)
    short = estimate(WORK, [_cost(4, amount=1)])
    assert (short.processor, short.low, short.high) == (40, 2, 800)


def test_the_nearest_amounts_count():
    before = [_cost(40, amount=50), _cost(1, amount=1), _cost(80, amount=55), _cost(9, amount=1000)]
    assert 60 < estimate(WORK, before).processor < 120


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
    records = {cost.work.kind: cost for cost in costs()}
    assert records["rank"].needs == ("scores",)
    assert "weigh" not in records or records["weigh"].processor < records["rank"].processor


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
    times = [cost.processor for cost in costs()]
    assert times == [*range(20)][-len(times) :]
    assert (fresh_home / "costs.jsonl").stat().st_size <= 1000
