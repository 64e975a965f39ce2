"""stdout belongs to results, whatever plugins print, in whichever thread."""

import gc
import io
import subprocess
import sys
import threading

import pytest

from irplatform import stdout
from irplatform.at_work import plugin_at_work
from irplatform.errors import PluginError


def test_what_a_plugin_prints_at_work_goes_to_stderr(capsys):
    with plugin_at_work("reranker 'x'", "scoring", __name__):
        print("loud")
    print("result")
    assert capsys.readouterr() == ("result\n", "loud\n")


def test_one_that_works_within_another_does_not_end_it(capsys):
    with stdout.to_stderr():
        with stdout.to_stderr():
            print("inner")
        print("outer")
    print("result")
    assert capsys.readouterr() == ("result\n", "inner\nouter\n")


def test_one_that_fails_gives_stdout_back(capsys):
    with pytest.raises(PluginError), plugin_at_work("reranker 'x'", "scoring", __name__):
        raise ValueError
    print("result")
    assert capsys.readouterr().out == "result\n"


def test_threads_that_overlap_leave_stdout_as_it_was(capsys):
    before = sys.stdout
    entered, leave = threading.Event(), threading.Event()

    def work():
        with stdout.to_stderr():
            entered.set()
            leave.wait()
            print("second")

    thread = threading.Thread(target=work)
    with stdout.to_stderr():
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
    with stdout.to_stderr():
        with stdout.to_stderr():
            destroy("stdout")
        gc.collect()
        destroy("stdout")
    gc.collect()
    print("result")
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr() == ("result\n", "")


def test_bytes_lead_to_stderr_too(capsys):
    with stdout.to_stderr():
        sys.stdout.buffer.write("β".encode()[:1])
        sys.stdout.buffer.write("β".encode()[1:])
        sys.stdout.write("\udc80\n")
    assert capsys.readouterr() == ("", "β\\udc80\n")


def test_a_stream_that_a_plugin_keeps_goes_on_working(capsys):
    with stdout.to_stderr():
        kept = sys.stdout
    print("later", file=kept)
    assert capsys.readouterr() == ("", "later\n")


PROGRAM = """
import ctypes, os, subprocess, sys
from irplatform import stdout

def work():
    print("first", flush=True)
    with stdout.to_stderr():
        os.write(1, b"descriptor\\n")
        ctypes.CDLL(None).puts(b"library")
        with stdout.to_stderr():
            pass
        subprocess.run(["echo", "program"])
    print("last")
"""


@pytest.mark.parametrize(
    ("call", "out"),
    [
        ("stdout.of_a_command()(work)()", {"first", "last"}),
        ("work()", {"first", "descriptor", "library", "program", "last"}),
    ],
)
def test_a_command_redirects_what_is_not_python_too_and_no_other_program_does(call, out):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + call], capture_output=True, text=True, check=True
    )
    assert {*done.stdout.split()} == out
    assert {*done.stderr.split()} == {"descriptor", "library", "program"} - out
