"""What is installed: typed packages, and a version that is written in one place."""

import re
import tomllib
from pathlib import Path

import pytest

import irplatform

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = sorted(path for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").exists())


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore")
def test_the_version_of_the_package_is_that_of_the_module():
    from setuptools.config.pyprojecttoml import read_configuration

    read = read_configuration(ROOT / "pyproject.toml")
    assert read["project"]["version"] == irplatform.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", irplatform.__version__)


def test_the_version_is_written_once(project):
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]


def test_the_version_to_cite_is_this_one():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {irplatform.__version__}\n" in cited


@pytest.mark.parametrize(
    "package", [ROOT / "platform" / "irplatform", *PLUGINS], ids=lambda p: p.name
)
def test_every_package_ships_its_types(package):
    assert (package / "py.typed").is_file()


def test_the_command_begins_where_ctrl_c_is_looked_after(project):
    """Importing the command line takes a while; `irplatform.__main__` imports nothing."""
    assert project["project"]["scripts"] == {"platform": "irplatform.__main__:main"}


def test_every_plugin_is_registered_and_checked_for_types(project):
    names = {path.name for path in PLUGINS}
    places = project["project"]["entry-points"]["irplatform"].values()
    assert {place.partition(":")[0] for place in places} == names
    assert set(project["tool"]["mypy"]["packages"]) == names | {"irplatform"}
