"""What plugins print does not mix with the output of commands."""

import json

import pytest

LOUD = """
import os, subprocess, sys
from irplatform.plugin import Reranker, hookimpl

print("imported")
os.write(1, b"descriptor\\n")

class Strange(Reranker):
    '''Strange.'''
    def prepare(self, resources):
        print("prepared")

    def score(self, topic, documents):
        print("scored")
        sys.__stdout__.write("process\\n")
        subprocess.run(["echo", "program"])
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    print("registered")
    register("strange", Strange)

@hookimpl
def run_started(event):
    print("started")
"""


@pytest.mark.java
def test_what_a_plugin_prints_does_not_break_json(with_plugin):
    result = with_plugin(LOUD, "run", "--collection", "small", "--reranker", "strange", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["collection"] == "small-test"
    lines = result.stderr.splitlines()
    assert {"imported", "registered", "started", "prepared", "scored"} <= set(lines)
    assert {"descriptor", "process", "program"} <= set(lines)


LATE = """
import threading

def tell():
    threading.main_thread().join()
    print("late")

class Late(Strange):
    def score(self, topic, documents):
        threading.Thread(target=tell).start()
        return super().score(topic, documents)

Strange = Late
"""


@pytest.mark.java
def test_nor_does_it_stand_among_the_findings_of_a_check(with_plugin, demo_index):
    """Nor below them, where a thread goes on at the end."""
    result = with_plugin(LOUD + LATE, "plugins", "check", "strange", "--device", "cpu")
    report = "hooks strange: keeps the contract\nreranker strange: keeps the contract\n"
    assert (result.returncode, result.stdout) == (0, report)
    assert {"scored", "descriptor", "program", "late"} <= set(result.stderr.split())


WRAPPING = """
import io, sys
from irplatform.plugin import Reranker, hookimpl

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")

class Strange(Reranker):
    def score(self, topic, documents):
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    register("strange", Strange)
"""


@pytest.mark.java
def test_a_plugin_that_wraps_stdout_takes_it_from_nobody(with_plugin):
    result = with_plugin(
        WRAPPING, "run", "--collection", "small", "--reranker", "strange", "--json"
    )
    assert result.returncode == 0
    assert json.loads(result.stdout)["collection"] == "small-test"
    assert "lost sys.stderr" not in result.stderr


def test_a_plugin_that_wraps_stdout_at_import_leaves_errors_readable(with_plugin):
    result = with_plugin(WRAPPING, "run", "--collection", "smal")
    assert result.returncode == 2
    assert result.stderr.startswith("platform: unknown collection 'smal'")


def test_nor_does_what_is_printed_between_calls_while_a_plugin_is_checked(platform, monkeypatch):
    monkeypatch.setattr(
        "irplatform.conformance.check.check_plugin", lambda *_: print("between") or []
    )
    outcome = platform("plugins", "check", "demo")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "between\n")
