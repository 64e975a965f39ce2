import subprocess
import sys

import pytest

from irplatform.system.pool import WorkerKilledError, Workers

ABANDONED = """
from time import sleep
from irplatform.system.pool import Workers
workers = Workers(sleep, 2)
workers.__enter__()
workers.give(0, 10_000)
print("done", flush=True)
"""


class UnreadableError(Exception):
    """Pickles, and fails when it is read: it wants two arguments and keeps one."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def _raise_what_cannot_be_read(_):
    raise UnreadableError("this", "that")


def _unpicklable(_):
    return lambda: 0


def test_items_and_results_of_megabytes_do_not_block_each_other():
    with Workers(bytes.upper, 2) as workers:
        for number in range(2):
            workers.give(number, b"x" * 10_000_000)
        assert not workers.idle
        done = {}
        while len(done) < 2:
            done.update(workers.results())
    assert done == {0: b"X" * 10_000_000, 1: b"X" * 10_000_000}


def test_an_error_says_where_in_the_worker_it_was_raised():
    with pytest.raises(ValueError, match="invalid literal") as caught, Workers(int, 1) as workers:
        workers.give(0, "x")
        list(workers.results())
    assert "Traceback (most recent call last)" in str(caught.value.__cause__)
    assert "answer" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("function", "named"),
    [(_raise_what_cannot_be_read, "this and that"), (_unpicklable, "pickle|local object")],
)
def test_what_cannot_be_sent_back_is_described(function, named):
    with pytest.raises(Exception, match=named), Workers(function, 1) as workers:
        workers.give(0, None)
        list(workers.results())


def test_a_worker_that_was_killed_is_noticed_when_it_is_given_work():
    with pytest.raises(WorkerKilledError), Workers(abs, 1) as workers:
        for process in workers._processes.values():
            process.kill()
            process.join()
        workers.give(0, -1)
        list(workers.results())


def test_workers_that_nobody_ended_do_not_keep_a_program_from_ending():
    done = subprocess.run(
        [sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
