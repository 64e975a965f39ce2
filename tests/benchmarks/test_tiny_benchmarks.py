"""Every benchmark runs to its end in its tiny form, on generated data.

Those of a class share a process, so that heavy libraries and Java start once.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.py")) if path.stem[0] != "_"]
RERANKERS = [name for name in NAMES if name.endswith("_rerank")]
OTHERS = [name for name in NAMES if name not in RERANKERS]
MAY_BE_LEFT_OUT = {"late_interaction", "processors", "workers"}
"""A machine may lack QEMU, Ray, or a library that is new enough."""

PROGRAM = """
import contextlib, io, json, os, runpy, sys, traceback
from pathlib import Path
from _tiny import ARGUMENTS, write_data

folder, *names = sys.argv[1:]
write_data(Path(folder, "data"), Path(folder, "home"))
for name in names:
    os.environ["IRPLATFORM_TEST_DATA"] = f"{folder}/data"
    os.environ["IRPLATFORM_HOME"] = f"{folder}/home"
    sys.argv = [f"{name}.py", *ARGUMENTS[name]]
    printed, status = io.StringIO(), "0"
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(f"{name}.py", run_name="__main__")
    except SystemExit as end:
        status = str(end.code or 0)
    except Exception:
        status = traceback.format_exc()
    Path(folder, f"{name}.json").write_text(json.dumps([status, printed.getvalue()]))
"""


@pytest.fixture(scope="class")
def ended(request, tmp_path_factory):
    """What each benchmark of a class ended with, and printed."""
    folder = tmp_path_factory.mktemp("tiny")
    names = request.cls.names
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder, *names],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    results = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    return {name: results.get(name, [process.stderr[-2000:], ""]) for name in names}


def _check(name, status, printed):
    from _common import LEFT_OUT

    if status == str(LEFT_OUT) and name in MAY_BE_LEFT_OUT:
        pytest.skip(printed)
    assert status == "0"
    result = json.loads(printed.splitlines()[-1])
    assert result["benchmark"] == name
    assert result["ours"] > 0
    assert result["peer"] is None or result["ratio"] > 0


class TestRerankers:
    """Milliseconds to score documents."""

    names = RERANKERS

    @pytest.mark.parametrize("name", RERANKERS)
    def test_it_runs_to_its_end(self, name, ended):
        _check(name, *ended[name])


class TestOthers:
    """Indexes, files, services."""

    names = OTHERS

    @pytest.mark.parametrize("name", OTHERS)
    def test_it_runs_to_its_end(self, name, ended):
        _check(name, *ended[name])
