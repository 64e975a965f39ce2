"""The notebooks in `examples/` run from their beginning to their end, and show what is in them."""

import ast
import json
import re
from itertools import pairwise

import pytest
from pages import ROOT

pytestmark = pytest.mark.usefixtures("restored_registry")
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
_FIGURE = re.compile(r"(?<![\d.])0\.\d{4}(?!\d)")


def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _display(source, cell):
    """Run a cell, and return what a notebook shows of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), cell)
    if last is None:
        return ""
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), cell)
    html = getattr(value, "_repr_html_", None)
    return html() if html else repr(value)


@pytest.mark.java
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_figures(path, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("altair")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for cell in _code(_read(path)):
        text = _display("".join(cell["source"]), namespace)
        for output in cell["outputs"]:
            html = "".join(output["data"].get("text/html", ""))
            assert set(_FIGURE.findall(html)) <= set(_FIGURE.findall(text)), cell["source"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_saved_notebook_ran_from_start_to_end(path):
    notebook = _read(path)
    counts = [cell["execution_count"] for cell in _code(notebook)]
    assert all(other == one + 1 for one, other in pairwise(counts))
    outputs = [output for cell in _code(notebook) for output in cell["outputs"]]
    assert outputs
    assert {output["output_type"] for output in outputs} == {"execute_result"}
    assert path.stat().st_size < 300_000


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_jupyter_runs_a_notebook(path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, 4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
