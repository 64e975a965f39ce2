"""The examples of Python's functions, in their docstrings and on their page, do what they show."""

import doctest

import pytest
from pages import DOCS, fences

import irplatform as ir
from irplatform.queries.ready import ReadyReranker, ReadyRetriever
from irplatform.reports.comparison import ComparisonReport

pytestmark = pytest.mark.usefixtures("restored_registry")
FUNCTIONS = [name for name in ir.__all__ if name.islower()]
CLASSES = [ir.Run, ComparisonReport, ReadyReranker, ReadyRetriever]


def _examples(thing):
    tests = doctest.DocTestFinder(recurse=False).find(thing, thing.__name__, globs={"ir": ir})
    return [test for test in tests if test.examples]


@pytest.mark.java
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_does_what_its_example_shows(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    (test,) = _examples(getattr(ir, name))
    assert _run(test) == ""


@pytest.mark.parametrize("thing", CLASSES, ids=lambda thing: thing.__name__)
def test_a_method_does_what_its_example_shows(thing, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    for method in vars(thing).values():
        for test in _examples(method) if callable(method) else ():
            assert _run(test) == ""


def _run(test):
    lines = []
    doctest.DocTestRunner(verbose=False).run(test, out=lines.append)
    return "".join(lines)


@pytest.mark.java
def test_the_page_runs_from_start_to_end(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    page = {"__name__": "__main__"}
    for place, code in fences(DOCS / "python.md", "python"):
        exec(compile(code, place, "exec"), page)
    assert page["comparison"].baseline == "bm25"
