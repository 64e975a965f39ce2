"""Plugins of strangers, as pip would install them."""

from importlib import metadata

import pytest


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Write a module with its metadata, as pip would; returns its entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(
        name: str, code: str, version: str = "1.5", called: str = "", requires: str = "irplatform"
    ):
        module = f"module_{name.replace('-', '_')}_{tmp_path.name}"
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"irplatform_{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: irplatform-{name}\nVersion: {version}\n"
            f"Requires-Dist: {requires}\n"
        )
        (info / "entry_points.txt").write_text(f"[irplatform]\n{called or name} = {module}\n")
        return tuple(metadata.Distribution.at(info).entry_points)

    return install
