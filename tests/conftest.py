"""What all tests share: nothing of the user's, nor of one another; real data where it is."""

import irplatform  # noqa: F401, I001 - first, since it tells numpy how to compute

import os
import random
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import settings

from irplatform.lucene.java.class_archive import VARIABLE as CLASSES
from irplatform.system.packages import EXTRAS, absent

pytest_plugins = ["collection_fixtures", "index_fixtures"]

# How long an example takes says more of the machine than of the code.
settings.register_profile("irplatform", deadline=None)
settings.load_profile("irplatform")

# Two workers with a thread per core each would wait for one another; torch reads this when loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What is set for one's own work (plugins left out, a key, another server) is not for the tests.
for _name in [*os.environ]:
    kept = _name in ("IRPLATFORM_TEST_DATA", "IRPLATFORM_TEST_MODELS") or (
        _name == CLASSES and "PYTEST_XDIST_WORKER" in os.environ
    )
    if _name.startswith(("IRPLATFORM_", "NCBI_")) and not kept:
        del os.environ[_name]

# Nor is what one has downloaded. The library settles where that lies when it is imported.
_downloads = TemporaryDirectory(prefix="irplatform-tests-")
os.environ["IR_DATASETS_HOME"] = _downloads.name

# Java starts twice as fast with an archive of its classes. The workers of a session share one.
if CLASSES not in os.environ:
    _classes = TemporaryDirectory(prefix="irplatform-classes-", ignore_cleanup_errors=True)
    os.environ[CLASSES] = str(Path(_classes.name, "classes.jsa"))

_begun = []

_ROOT = Path(__file__).resolve().parent.parent

_MISSING = absent(*{module for modules in EXTRAS.values() for module in modules})
_EXTRAS = [extra for extra, modules in EXTRAS.items() if {*modules} & {*_MISSING}]
_BROUGHT = {"pandas": "pyterrier", "threadpoolctl": "concepts", "tokenizers": "encoders"}
"""Modules that packages of an extra bring along, and that tests import."""
_SAYS = re.compile(
    rf"No module named '({'|'.join([*_MISSING, *_BROUGHT])})\b"
    rf"|pip install \\*'irplatform\[(?:\w+,)*({'|'.join(_EXTRAS)})\b"
)
"""What tests fail with where an extra is not installed."""


def _skip_without_extra(report, text):
    if report.failed and _MISSING and (said := _SAYS.search(text)):
        report.outcome = "skipped"
        owner = _BROUGHT.get(said[1]) or next((e for e in _EXTRAS if said[1] in EXTRAS[e]), "")
        extra = said[2] or owner
        report.longrepr = (str(report.fspath), 0, f"the extra '{extra}' is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A test that fails for want of an extra is skipped; with all of them this changes nothing."""
    report = yield
    _skip_without_extra(report, f"{report.longreprtext}{report.capstderr}{report.capstdout}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """So is a file of tests that imports what an extra brings."""
    report = yield
    _skip_without_extra(report, str(report.longrepr))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """What a test draws does not depend on what was drawn before; its fixtures draw after this.

    Beside the first test that starts Java, a process makes the archive of its classes.
    """
    if item.get_closest_marker("java"):
        begin_archive()
    random.seed(0)
    np.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
        # A test that takes more leaves them to all that follow, where workers wait for one another.
        torch.set_num_threads(1)


@cache
def begin_archive():
    archive = Path(os.environ[CLASSES])
    with suppress(FileExistsError):  # another worker has begun
        archive.with_name("begun").touch(exist_ok=False)
        command = [sys.executable, "-m", "irplatform.lucene.rehearsal", archive]
        _begun.append(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )


@pytest.fixture(scope="module", autouse=True)
def groups_of_module():
    """Groups of features that a file of tests names are gone after it."""
    yield
    if helper := sys.modules.get("feature_resources"):
        helper.unregister_groups()


@pytest.fixture(scope="module", autouse=True)
def cache_of_module(tmp_path_factory):
    """A cache for each file of tests: none finds the user's, or what another has put into its."""
    home = tmp_path_factory.mktemp("irplatform-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRPLATFORM_HOME", str(home))
        yield home


@pytest.fixture
def fresh_home(tmp_path, monkeypatch):
    """An empty cache for one test."""
    home = tmp_path / "home"
    monkeypatch.setenv("IRPLATFORM_HOME", str(home))
    return home


@pytest.fixture
def restored_registry():
    """Undo what a test registers."""
    from irplatform.registry.loading import registry

    systems = registry()
    before = {name: dict(table) for name, table in vars(systems).items() if isinstance(table, dict)}
    plugins = [*systems.plugins]
    yield
    for name, table in before.items():
        getattr(systems, name).clear()
        getattr(systems, name).update(table)
    systems.plugins[:] = plugins


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real collections; the test is skipped where there is none."""
    folder = Path(os.environ.get("IRPLATFORM_TEST_DATA", _ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real collections at {folder}: set IRPLATFORM_TEST_DATA to run this test")
    return folder
