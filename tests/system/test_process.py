"""While plugins work, output and paths stay the user's; Ctrl-C and SIGTERM end a command."""

import gc
import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from irplatform.errors import PluginError, chain, lost
from irplatform.registry.plugin_calls import plugin_call
from irplatform.system.console import progress
from irplatform.system.process import GRACE, Terminated, command, isolated, raise_lost


def test_what_a_plugin_prints_at_work_goes_to_stderr(capsys):
    with plugin_call("reranker 'x'", "scoring", __name__):
        print("loud")
    print("result")
    assert capsys.readouterr() == ("result\n", "loud\n")


def test_one_that_works_within_another_does_not_end_it(capsys):
    with isolated():
        with isolated():
            print("inner")
        print("outer")
    print("result")
    assert capsys.readouterr() == ("result\n", "inner\nouter\n")


def test_one_that_fails_gives_stdout_back(capsys):
    with pytest.raises(PluginError), plugin_call("reranker 'x'", "scoring", __name__):
        raise ValueError
    print("result")
    assert capsys.readouterr().out == "result\n"


def test_threads_that_overlap_leave_stdout_as_it_was(capsys):
    before = sys.stdout
    entered, leave = threading.Event(), threading.Event()

    def work():
        with isolated():
            entered.set()
            leave.wait()
            print("second")

    thread = threading.Thread(target=work)
    with isolated():
        thread.start()
        entered.wait()
    assert sys.stdout is not before  # the other one is at work still
    leave.set()
    thread.join()
    assert sys.stdout is before
    assert capsys.readouterr() == ("", "second\n")


def _wrap(name):
    setattr(sys, name, io.TextIOWrapper(getattr(sys, name).buffer, encoding="utf-8"))


def _detach(name):
    setattr(sys, name, io.TextIOWrapper(getattr(sys, name).detach(), encoding="utf-8"))


def _close(name):
    getattr(sys, name).close()


def _remove(name):
    setattr(sys, name, None)


@pytest.mark.parametrize("destroy", [_wrap, _detach, _close, _remove])
def test_what_a_plugin_does_to_stdout_is_undone(destroy, capsys):
    before = sys.stdout, sys.stderr
    with isolated():
        with isolated():
            destroy("stdout")
        gc.collect()
        destroy("stdout")
    gc.collect()
    print("result")
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr() == ("result\n", "")


def test_bytes_lead_to_stderr_too(capsys):
    with isolated():
        sys.stdout.buffer.write("β".encode()[:1])
        sys.stdout.buffer.write("β".encode()[1:])
        sys.stdout.write("\udc80\n")
    assert capsys.readouterr() == ("", "β\\udc80\n")


def test_a_stream_that_a_plugin_keeps_goes_on_working(capsys):
    with isolated():
        stream = sys.stdout
    print("later", file=stream)
    assert capsys.readouterr() == ("", "later\n")


PROGRAM = """
import ctypes, os, subprocess, sys
from irplatform.system.process import command, isolated

def work():
    print("first", flush=True)
    with isolated():
        os.write(1, b"descriptor\\n")
        ctypes.CDLL(None).puts(b"library")
        with isolated():
            pass
        subprocess.run(["echo", "program"])
    print("last")
"""


@pytest.mark.parametrize(
    ("call", "out"),
    [
        ("command()(work)()", {"first", "last"}),
        ("work()", {"first", "descriptor", "library", "program", "last"}),
    ],
)
def test_a_command_redirects_what_is_not_python_too_and_no_other_program_does(call, out):
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM + call], capture_output=True, text=True, check=True
    )
    assert {*process.stdout.split()} == out
    assert {*process.stderr.split()} == {"descriptor", "library", "program"} - out


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("fails", [False, True])
def test_a_plugin_that_goes_elsewhere_at_work_does_not_move_paths_of_users(home, fails):
    def work():
        with plugin_call("reranker 'far'", "learning", __name__):
            os.chdir("/")
            if fails:
                raise ValueError("lost")

    if fails:
        with pytest.raises(PluginError, match="failed learning: ValueError: lost"):
            work()
    else:
        work()
    assert Path.cwd() == home


def test_of_blocks_that_overlap_the_last_to_end_goes_back_to_where_the_first_began(home):
    """As those of threads do."""
    first, second = isolated(), isolated()
    first.__enter__()
    os.chdir("/")
    second.__enter__()
    first.__exit__(None, None, None)
    os.chdir("/usr")
    second.__exit__(None, None, None)
    assert Path.cwd() == home


def test_a_directory_that_is_gone_is_no_hindrance(home):
    (gone := home / "gone").mkdir()
    os.chdir(gone)
    gone.rmdir()
    with isolated():
        os.chdir(home)
    assert Path.cwd() == home


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
    with pytest.raises(kind), command():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before
    raise_lost()  # there is nothing left


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_one_that_a_finalizer_lost_ends_what_a_plugin_does(number, kind):
    reached = []
    with pytest.raises(kind), command():
        with plugin_call("a plugin", "working", "x"):
            Finalized(number)
            reached.append("in it")
        reached.append("behind it")
    assert reached == ["in it"]


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_one_that_a_library_took_for_an_error_of_its_own_is_no_error_of_the_plugin(number, kind):
    with pytest.raises(kind), command(), plugin_call("a plugin", "working", "x"):
        try:
            os.kill(os.getpid(), number)
        except BaseException as error:
            raise ValueError("cannot build a schema") from error
    with pytest.raises(PluginError), plugin_call("a plugin", "working", "x"):
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
        command(),
        plugin_call("a plugin", "working", "x"),
    ):
        work()
    assert lost(raised.value) == " An hour is lost."
    click_makes = ValueError()
    click_makes.__cause__ = raised.value
    assert Terminated in map(type, chain(click_makes))


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_a_lost_one_ends_work_that_advances(number, kind):
    steps = []
    with pytest.raises(kind), command(), progress("counting") as advance:
        for step in range(3):
            if step == 1:
                with suppress(BaseException):
                    os.kill(os.getpid(), number)
            advance(1)
            steps.append(step)
    assert steps == [0]


def test_no_thread_is_left():
    before = threading.active_count()
    with command():
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_where_no_thread_is_allowed_signals_raise_all_the_same(monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(Terminated), command():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    assert signal.set_wakeup_fd(-1) == -1


def test_a_second_sigterm_does_not_cut_short_what_the_first_one_tidies_up():
    tidied = []
    with pytest.raises(Terminated), command():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            tidied.append(1)
    assert tidied == [1]


def test_where_ctrl_c_is_ignored_it_stays_so():
    """As of a job in the background of a shell without job control."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with command():
        os.kill(os.getpid(), signal.SIGINT)
        raise_lost()


def test_a_forked_process_is_ended():
    with command():
        if (child := os.fork()) == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(7)  # not reached
        _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGTERM


STUCK = """
import time
from irplatform.system.process import command

with command():
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
        start = time.monotonic()
        process.send_signal(number)
        assert process.wait(30) == code
        assert GRACE - 0.1 < time.monotonic() - start < 20
