"""Stages within stages: each second counts for the innermost one."""

from irplatform.system.progress import Stopwatch, added


class Clock:
    """Goes on when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


def test_time_within_a_stage_is_not_counted_twice():
    clock = Clock()
    stopwatch = Stopwatch(clock=clock)
    with stopwatch.timed("train"):
        clock.now += 1
        with stopwatch.timed("vectors"):
            clock.now += 30
        with stopwatch.timed("train"):
            clock.now += 5
        clock.now += 2
    assert stopwatch.seconds == {"vectors": 30, "train": 8}


def test_only_stages_that_went_on_are_told_since_then():
    clock = Clock()
    stopwatch = Stopwatch({"index": 4.0, "train": 1.0}, clock)
    before = dict(stopwatch.seconds)
    with stopwatch.timed("train"):
        clock.now += 2
    with stopwatch.timed("rerank"):
        clock.now += 3
    assert stopwatch.since(before) == {"train": 2, "rerank": 3}


def test_spans_are_added_stage_by_stage():
    assert added({"index": 1, "train": 2}, {"train": 3, "rerank": 4}) == {
        "index": 1,
        "train": 5,
        "rerank": 4,
    }
