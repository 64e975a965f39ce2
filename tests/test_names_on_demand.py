"""Names that are imported at first use are listed before, so that editors offer them."""

import subprocess
import sys

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
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True False\n", "")
