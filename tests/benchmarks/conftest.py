"""The benchmarks are programs, not an installed package: their folder is put on the path."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the benchmarks."""
    return FOLDER
