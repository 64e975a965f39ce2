"""A plugin of a stranger, as it looks when it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
from irplatform.plugin import Reranker, hookimpl

class Length(Reranker):
    '''Ranks longer documents first.'''
    def score(self, topic, documents):
        return [len(document.text) for document in documents]

@hookimpl
def register_rerankers(register):
    register("length", Length)
"""
"""The code of a plugin that has nothing wrong."""
FILED = """
from pathlib import Path
from pydantic import BaseModel
from irplatform.plugin import Options

class Filed(Options):
    words: Path | None = None
"""
"""The beginning of one whose options name a file."""


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
    info.mkdir(exist_ok=True)
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
