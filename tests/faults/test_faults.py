"""A crash, a full disk or a failing one at any file operation of a command loses nothing.

A seeded sample of what `make test-faults` tries at every operation.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIOS = ["fuse", "submit fix", "submit prepare", "kb add", "kb replace"]
SCENARIOS += ["qrels pool", "qrels pool round", "judge --export", "judge --backup"]
"""Those that need no Java, and take a tenth of a second."""
SAMPLE = 8


@pytest.mark.skipif(sys.platform != "linux", reason="faults are made with Linux's LD_PRELOAD")
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler, cc")
def test_the_same_command_completes_what_a_fault_interrupted(record_property):
    drive = Path(__file__).with_name("drive.py")
    process = subprocess.run(
        [sys.executable, drive, "--sample", str(SAMPLE), *SCENARIOS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout, process.stderr
    reports = json.loads(process.stdout)
    assert {report["scenario"]: report["failures"] for report in reports} == {
        scenario: [] for scenario in SCENARIOS
    }
    points = sum(sum(report["tries"].values()) for report in reports)
    record_property("points", points)
    print(f"{points} of {3 * sum(report['operations'] for report in reports)} points tried")
    assert points == SAMPLE * len(SCENARIOS)
    crashes = sum(report["tries"]["crash"] for report in reports)
    assert sum(report["messages"].get("crash: exit 137: ", 0) for report in reports) == crashes > 0
