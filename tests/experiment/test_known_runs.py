"""A command that is repeated costs what changed."""

import json
import subprocess
import sys

import pytest

import irplatform as ir

HEAVY = ("torch", "gensim", "jnius", "pyserini", "ir_datasets")
AGAIN = """
import json, sys
import irplatform as ir
report = ir.run("demo", ["bm25-text", "lexical"], members=1, run_dir=sys.argv[1])
heavy = [name for name in sys.argv[2:] if name in sys.modules]
print(json.dumps([heavy, report.as_json()]))
"""


def _again(folder):
    command = [sys.executable, "-c", AGAIN, str(folder), *HEAVY]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


def _files(folder):
    return {path.name: (path.stat().st_ino, path.read_bytes()) for path in folder.glob("*.run")}


@pytest.mark.java
def test_a_repeated_run_loads_and_writes_nothing(tmp_path):
    first = ir.run("demo", ["bm25-text", "lexical"], members=1, run_dir=tmp_path)
    before = _files(tmp_path)
    heavy, report = _again(tmp_path)
    assert heavy == []
    assert _files(tmp_path) == before
    for system, again in zip(first.systems, report["runs"], strict=True):
        assert (again["name"], again["measures"]) == (system.name, dict(system.measures))
