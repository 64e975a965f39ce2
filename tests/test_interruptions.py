"""Ctrl-C and SIGTERM end a command, whatever becomes of the exceptions that they raise."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from irplatform.at_work import plugin_at_work
from irplatform.cli.failures import chain, lost
from irplatform.console import progress
from irplatform.errors import PluginError
from irplatform.interruptions import GRACE, Terminated, ending, raise_lost

SIGNALS = [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)]


class Finalized:
    """A finalizer loses what is raised in it."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.kill(os.getpid(), self.number)


@pytest.fixture(autouse=True)
def usual_handlers():
    before = {number: signal.getsignal(number) for number, _ in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_a_signal_raises_where_it_comes_and_handlers_are_put_back(number, kind):
    before = signal.getsignal(number)
    with pytest.raises(kind), ending(print):
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before
    raise_lost()  # there is nothing left


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_one_that_a_finalizer_lost_ends_what_a_plugin_does(number, kind):
    reached = []
    with pytest.raises(kind), ending(print):
        with plugin_at_work("a plugin", "working", "x"):
            Finalized(number)
            reached.append("in it")
        reached.append("behind it")
    assert reached == ["in it"]


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_one_that_a_library_took_for_an_error_of_its_own_is_no_error_of_the_plugin(number, kind):
    with pytest.raises(kind), ending(print), plugin_at_work("a plugin", "working", "x"):
        try:
            os.kill(os.getpid(), number)
        except BaseException as error:
            raise ValueError("cannot build a schema") from error
    with pytest.raises(PluginError), plugin_at_work("a plugin", "working", "x"):
        raise ValueError("cannot build a schema")


def test_what_the_exception_said_is_told_all_the_same():
    """What starts over stands in notes of it."""

    def work():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except BaseException as error:
            error.add_note("An hour is lost.")
            raise ValueError("cannot build a schema") from error

    with (
        pytest.raises(Terminated) as raised,
        ending(print),
        plugin_at_work("a plugin", "working", "x"),
    ):
        work()
    assert lost(raised.value) == " An hour is lost."
    click_makes = ValueError()
    click_makes.__cause__ = raised.value
    assert Terminated in map(type, chain(click_makes))


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_a_lost_one_ends_work_that_advances(number, kind):
    steps = []
    with pytest.raises(kind), ending(print), progress("counting") as advance:
        for step in range(3):
            if step == 1:
                with suppress(BaseException):
                    os.kill(os.getpid(), number)
            advance(1)
            steps.append(step)
    assert steps == [0]


def test_no_thread_is_left():
    before = threading.active_count()
    with ending(print):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_where_no_thread_is_allowed_signals_raise_all_the_same(monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(Terminated), ending(print):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    assert signal.set_wakeup_fd(-1) == -1


def test_a_second_sigterm_does_not_cut_short_what_the_first_one_tidies_up():
    tidied = []
    with pytest.raises(Terminated), ending(print):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            tidied.append(1)
    assert tidied == [1]


def test_where_ctrl_c_is_ignored_it_stays_so():
    """As of a job in the background of a shell without job control."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with ending(print):
        os.kill(os.getpid(), signal.SIGINT)
        raise_lost()


def test_a_forked_process_is_ended():
    with ending(print):
        if (child := os.fork()) == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(7)  # not reached
        _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGTERM


STUCK = """
import time
from irplatform.interruptions import ending

with ending(print):
    while True:
        try:
            print("begun", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_does_not_end_in_time_is_ended(number, code):
    """Python can raise nothing in a library that computes, and some catch what it raises."""
    command = [sys.executable, "-c", STUCK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"begun\n"
        sent = time.monotonic()
        process.send_signal(number)
        assert process.wait(30) == code
        assert GRACE - 0.1 < time.monotonic() - sent < 20
