"""The benchmarks are programs, not an installed package: their folder is put on the path."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="session", autouse=True)
def _benchmarks_can_be_imported():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the benchmarks."""
    return FOLDER
