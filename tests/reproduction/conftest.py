"""A file of results, and a stand-in for the processes that run them."""

import pytest

from irplatform.reproduction import execute

ROWS = """
[[result]]
id = "bm25-small"
collection = "demo"
tags = ["quick"]
minutes = 0.1
tolerance = 0.0001
expected = { "AP" = 0.5 }

[[result]]
id = "ranker-small"
collection = "demo"
reranker = "delta"
settings = { filters = 8, lexical = ["bm25_text"], loop = { epochs = 3 } }
tags = ["small"]
minutes = 2
tolerance = 0.02
[result.expected]
"AP" = { value = 0.6 }
"P@10" = { value = 0.3, tolerance = 0.1 }
[result.alone]
"AP" = 0.55

[[result]]
id = "elsewhere"
collection = "${IRPLATFORM_TEST_DATA}/nowhere:dev"
minutes = 5
tolerance = 0.01
expected = { "AP" = 0.5 }
"""
REPORT = {
    "collection": "demo",
    "runs": [
        {"name": "bm25", "measures": {"AP": 0.50004}},
        {
            "name": "delta",
            "measures": {"AP": 0.59, "P@10": 0.4},
            "measures_alone": {"AP": 0.56},
        },
    ],
    "comparisons": {
        "systems": {
            "delta": {"AP": {"difference": 0.09}},
            "delta-alone": {"AP": {"difference": 0.06}},
        }
    },
}


@pytest.fixture
def results(tmp_path):
    """The file."""
    file = tmp_path / "results.toml"
    file.write_text(ROWS, encoding="utf-8")
    return file


@pytest.fixture
def report():
    """What all commands print."""
    return REPORT


@pytest.fixture
def called(monkeypatch, fresh_home):
    """Commands that were run, each with its cache; all print the same report."""
    calls = []

    def call(command, cache, run_dir):
        calls.append((command, cache))
        return REPORT

    monkeypatch.setattr(execute, "call", call)
    return calls
