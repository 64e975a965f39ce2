"""Every benchmark runs to its end in its tiny form, on generated data."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.py")) if path.stem[0] != "_"]
RERANKERS = [name for name in NAMES if name.endswith("_rerank")]
MAY_BE_LEFT_OUT = {"processors"}  # a machine may lack QEMU


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """The variables of a process that finds generated data, and a cache with knowledge bases."""
    data, home = tmp_path_factory.mktemp("tiny") / "data", tmp_path_factory.mktemp("home")
    program = (
        "from pathlib import Path; from _tiny import write_data; "
        f"write_data(Path({str(data)!r}), Path({str(home)!r}))"
    )
    subprocess.run([sys.executable, "-c", program], cwd=FOLDER, check=True)
    return {**os.environ, "IRPLATFORM_TEST_DATA": str(data), "IRPLATFORM_HOME": str(home)}


def _check(name, environment):
    from _common import LEFT_OUT
    from _tiny import ARGUMENTS

    process = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *ARGUMENTS[name]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode == LEFT_OUT and name in MAY_BE_LEFT_OUT:
        pytest.skip(process.stdout)
    assert process.returncode == 0, process.stderr[-2000:]
    result = json.loads(process.stdout.splitlines()[-1])
    assert result["benchmark"] == name
    assert result["ours"] > 0
    assert result["peer"] is None or result["ratio"] > 0


class TestRerankers:
    """A class each, so that two processes share the work."""

    @pytest.mark.parametrize("name", RERANKERS)
    def test_it_runs_to_its_end(self, name, environment):
        _check(name, environment)


class TestOthers:
    """Indexes, files, services."""

    @pytest.mark.parametrize("name", [name for name in NAMES if name not in RERANKERS])
    def test_it_runs_to_its_end(self, name, environment):
        _check(name, environment)
