"""What all tests share: a cache of their own, and the real data where there is some."""

import irplatform  # noqa: F401, I001 - first, since it tells numpy how to compute

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("irplatform", deadline=None)
settings.load_profile("irplatform")

# Two workers with a thread per core each would wait for one another; torch reads this when loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory):
    """No test reads or writes the user's cache."""
    before = os.environ.get("IRPLATFORM_HOME")
    os.environ["IRPLATFORM_HOME"] = str(tmp_path_factory.mktemp("irplatform-home"))
    yield
    if before is None:
        del os.environ["IRPLATFORM_HOME"]
    else:
        os.environ["IRPLATFORM_HOME"] = before


@pytest.fixture
def fresh_home(tmp_path, monkeypatch):
    """An empty cache for one test."""
    home = tmp_path / "home"
    monkeypatch.setenv("IRPLATFORM_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real collections; the test is skipped where there is none."""
    folder = Path(os.environ.get("IRPLATFORM_TEST_DATA", _ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real collections at {folder}: set IRPLATFORM_TEST_DATA to run this test")
    return folder
