"""A plugin of a stranger, as it looks when it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def platform_with(code: str, place: Path, *arguments: str, cwd: Path):
    """Call `platform` in a process of its own where a plugin "strange" with this code is installed.

    Args:
        code: of its module.
        place: a folder to install it to.
        arguments: of the command.
        cwd: the folder to call it in.
    """
    (place / "strange_module.py").write_text(code)
    info = place / "strange_distribution-0.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: strange-distribution\nVersion: 0.3\n"
    )
    (info / "entry_points.txt").write_text("[irplatform]\nstrange = strange_module\n")
    paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "irplatform", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
