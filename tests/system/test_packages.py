"""A damaged package stands in nobody's way, and is named."""

from importlib import metadata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.registry.entry_points import entry_points
from irplatform.registry.loading import load
from irplatform.system.containment import command
from irplatform.system.packages import check_packages

WHOLE = b"Metadata-Version: 2.1\nName: odd\nVersion: 1\n"
ENTRIES = b"[irplatform]\nodd = odd\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Write the description of a package that is installed."""
    place = tmp_path_factory.mktemp("packages")
    info = place / "odd-1.dist-info"
    info.mkdir()

    def write(description, entries):
        (info / "METADATA").write_bytes(description)
        (info / "entry_points.txt").write_bytes(entries)

    discover = metadata.Distribution.discover
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        yield write
    metadata.Distribution.discover = discover


@pytest.fixture(autouse=True)
def discover(monkeypatch):
    monkeypatch.setattr(metadata.Distribution, "discover", metadata.Distribution.discover)


@pytest.mark.parametrize(
    ("description", "entries", "told"),
    [
        (WHOLE, bytes(range(256)), True),
        (WHOLE, b"[irplatform]\nodd\n", True),
        (WHOLE, b"garbage", False),
        (WHOLE, b"", False),
        (bytes(range(256)), ENTRIES, True),
        (b"", ENTRIES, False),
        (b"Version: 1\n", ENTRIES, False),
    ],
)
def test_a_damaged_package_is_named_and_others_go_on(package, capsys, description, entries, told):
    package(description, entries)
    check_packages()
    found = load(entry_points())
    assert {"delta", "lucene"} <= {plugin.name for plugin in found.plugins if not plugin.error}
    assert (
        "odd-1.dist-info is damaged, and none of its plugins" in capsys.readouterr().err
    ) is told
    metadata.entry_points(group="pydantic")


@settings(max_examples=15)
@given(
    description=st.binary(max_size=60) | st.just(WHOLE),
    entries=st.binary(max_size=60).map(lambda tail: b"[irplatform]\n" + tail),
)
def test_no_description_ends_a_command(package, description, entries):
    package(description, entries)
    discover = metadata.Distribution.discover
    try:
        check_packages()
        points = entry_points()
        assert "delta" in {point.name for point in points}
    finally:
        metadata.Distribution.discover = discover


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "GeneratorExit", "SystemExit"])
def test_what_ends_programs_names_the_plugin_that_raises_it(tmp_path, monkeypatch, raised):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"ending_{raised}.py").write_text(f"raise {raised}\n")
    point = metadata.EntryPoint("odd", f"ending_{raised}", "irplatform")
    with command():
        (plugin,) = load([point]).plugins
    assert plugin.error.startswith(raised)


def test_ctrl_c_while_plugins_load_ends_the_command(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "waiting.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    point = metadata.EntryPoint("odd", "waiting", "irplatform")
    with pytest.raises(KeyboardInterrupt), command():
        load([point])
