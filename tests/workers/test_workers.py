import os
import pickle
import signal
import subprocess
import sys
import threading

import pytest

from irplatform.errors import PlatformError
from irplatform.workers.pool import Work, WorkerKilledError, Workers, _how_ended, packed, result_of

ABANDONED = """
from time import sleep
from irplatform.workers.pool import Workers
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
        results = {}
        while len(results) < 2:
            results.update(workers.results())
    assert results == {0: b"X" * 10_000_000, 1: b"X" * 10_000_000}


def test_an_error_says_where_in_the_worker_it_was_raised():
    with pytest.raises(ValueError, match="invalid literal") as caught, Workers(int, 1) as workers:
        workers.give(0, "x")
        list(workers.results())
    assert "Traceback (most recent call last)" in str(caught.value.__cause__)
    assert "answer" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("function", "message"),
    [(_raise_what_cannot_be_read, "this and that"), (_unpicklable, "pickle|local object")],
)
def test_what_cannot_be_sent_back_is_described(function, message):
    with pytest.raises(Exception, match=message), Workers(function, 1) as workers:
        workers.give(0, None)
        list(workers.results())


def test_a_worker_that_was_killed_is_noticed_when_it_is_given_work():
    with pytest.raises(WorkerKilledError), Workers(abs, 1) as workers:
        for process in workers._processes.values():
            process.kill()
            process.join()
        workers.give(0, -1)
        list(workers.results())


def test_workers_that_got_nothing_to_do_end():
    with Workers(abs, 2) as workers:
        workers.give(0, -1)
        assert workers.result() == 1


@pytest.mark.parametrize(
    ("exit_code", "stopped", "message"),
    [
        (-signal.SIGKILL, False, r"was killed, perhaps because memory ran out\. .*fewer workers"),
        (None, False, "was killed"),
        (0, False, "ended with exit code 0: a plugin or a library"),
        (-signal.SIGSEGV, False, "was ended by SIGSEGV"),
        (-signal.SIGKILL, True, r"was stopped \(SIGSTOP\)"),
    ],
)
def test_the_error_says_how_a_worker_ended(exit_code, stopped, message):
    with pytest.raises(WorkerKilledError, match=message):
        raise WorkerKilledError(_how_ended(exit_code, stopped=stopped))


def _raised(error):
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), SystemExit(3)])
def test_what_would_end_the_program_is_an_error_of_a_worker(error):
    answer = Work(packed(_raised)).answer(pickle.dumps(error))
    with pytest.raises(PlatformError, match=rf"was ended: {type(error).__name__}.*test_workers"):
        result_of(*pickle.loads(answer))


def test_a_module_that_only_a_worker_fails_to_import_is_told(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "fails_there.py").write_text("def work(_): ...")
    import fails_there

    work = packed(fails_there.work)
    del sys.modules["fails_there"]
    (tmp_path / "fails_there.py").write_text("raise OSError('no licence')  # not here before")
    answer = Work(work).answer(pickle.dumps(1))
    message = r"cannot import its work: OSError: no licence \(.*:1\)"
    with pytest.raises(PlatformError, match=message):
        result_of(*pickle.loads(answer))


def _die_with_a_child(_):
    """As when memory runs out while a process that the plugin forked holds the pipe open."""
    if os.fork() == 0:
        signal.alarm(20)
        signal.pause()
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(_):
    os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.parametrize(
    ("function", "message"),
    [(_die_with_a_child, "was killed"), (_stop, r"was stopped \(SIGSTOP\)")],
)
def test_no_wait_for_a_worker_that_will_not_answer_is_endless(function, message, monkeypatch):
    monkeypatch.setattr("irplatform.workers.pool.LOOK", 0.05)
    monkeypatch.setattr("irplatform.workers.pool._STOPPED", 0.05)
    with pytest.raises(WorkerKilledError, match=message), Workers(function, 1) as workers:
        workers.give(0, None)
        workers.result()


def _leave_a_thread(number):
    threading.Thread(target=threading.Event().wait).start()
    return number


def test_a_thread_that_a_plugin_left_does_not_keep_workers_from_ending(monkeypatch):
    monkeypatch.setattr("irplatform.workers.pool._ENDING", 0.05)
    with Workers(_leave_a_thread, 1) as workers:
        workers.give(0, 7)
        assert workers.result() == 7


def test_workers_that_nobody_ended_do_not_keep_a_program_from_ending():
    process = subprocess.run(
        [sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=60, check=True
    )
    assert (process.stdout, process.stderr) == ("done\n", "")
