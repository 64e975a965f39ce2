"""A search says how it goes: what it found, what is left, and not too often."""

import pytest

from irplatform.tuning import report as progress
from irplatform.tuning.report import Progress
from irplatform.tuning.search import Trial


@pytest.fixture
def tell(monkeypatch, capsys):
    """Runs trials of (nDCG@20, seconds), and returns the lines about them."""
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])

    def run(*trials, expected=5):
        report = Progress(expected, "nDCG@20")
        for score, seconds in trials:
            clock[0] += seconds
            report(Trial({}, {"t": score}, seconds))
        return capsys.readouterr().err.splitlines()

    return run


def test_the_first_trial_is_told_at_once(tell):
    assert tell((0.5, 2.0)) == [
        "trial 1 of at most 5: nDCG@20 0.5000, best so far 0.5000; 2.0 s a trial, 8.0 s left"
    ]


def test_further_lines_come_every_fifteen_seconds_and_leave_the_slow_first_trial_out(tell):
    _, line = tell((0.6, 60.0), (0.4, 14.0), (0.5, 16.0))
    assert line == (
        "trial 3 of at most 5: nDCG@20 0.5000, best so far 0.6000; 15 s a trial, 30 s left"
    )


@pytest.mark.parametrize(
    ("seconds", "remainder"), [(9.9, "9.9 s"), (30, "30 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_what_is_left_is_said_in_the_unit_that_suits(tell, seconds, remainder):
    assert tell((0.5, seconds), expected=2)[0].endswith(f"{remainder} left")


def test_more_trials_than_were_expected_leave_nothing(tell):
    assert tell((0.5, 20), (0.5, 20), expected=1)[-1].endswith("20 s a trial, 0.0 s left")
