"""stdout belongs to results, whatever plugins print, in whichever thread."""

import sys
import threading

import pytest

from irplatform import stdout
from irplatform.errors import PluginError, plugin_at_work


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
    assert sys.stdout is sys.stderr  # the other one is at work still
    leave.set()
    thread.join()
    assert sys.stdout is before
    assert capsys.readouterr() == ("", "second\n")
