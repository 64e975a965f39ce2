"""Names that are imported at first use are listed before, so that editors offer them."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("irplatform", "reranker"),
        ("irplatform.plugin", "TrainableReranker"),
        ("irplatform.kit", "tokenize"),
        ("irplatform.runs", "read_run"),
        ("irplatform.text", "lexical_features"),
    ],
)
def test_a_name_is_listed_before_it_is_imported(package, name):
    program = f"import {package} as p; print({name!r} in dir(p), {name!r} in vars(p))"
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (process.stdout, process.stderr) == ("True False\n", "")


@pytest.mark.parametrize("package", ["irplatform", "irplatform.plugin", "irplatform.kit"])
def test_every_import_for_others_is_offered(package):
    module = importlib.import_module(package)
    tree = ast.parse(Path(module.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    offered = {
        a.asname for node in imports for a in node.names if a.asname == a.name and a.name[0] != "_"
    }
    assert offered == {*module.__all__}
