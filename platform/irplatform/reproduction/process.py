"""A command of `platform` in a process of its own, as a user would call it.

It frees its memory, and one that fails stops no other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_FAILURES = ("platform: ", "Usage: ")
"""How what a command fails with begins: our message, or click's of wrong arguments."""


def call(command: Sequence[str], cache: Path, run_dir: Path) -> Mapping[str, Any]:
    """Run `platform` in a process of its own, its messages on our stderr.

    Returns:
        What it printed; or, where it failed, `error` with its last message, and `refused` where
        it could not do what the arguments say.
    """
    arguments = [sys.executable, "-m", "irplatform", *command, "--run-dir", str(run_dir), "--json"]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        subprocess.Popen(
            arguments,
            env={**os.environ, "IRPLATFORM_HOME": str(cache)},
            stdout=printed,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            reason = _passed_on(process)
        except BaseException:
            process.terminate()
            raise
        if process.returncode:
            error = reason or f"it ended with exit code {process.returncode}"
            refused = process.returncode == InputError.exit_code
            return {"error": error, **({"refused": True} if refused else {})}
        printed.seek(0)
        try:
            report: Mapping[str, Any] = json.load(printed)
        except ValueError:  # arguments such as --help
            return {"error": "it printed no report"}
        return report


def _passed_on(process: subprocess.Popen[str]) -> str:
    """Hand a process's messages to ours; return the one that it fails with, or the last line."""
    last, message_lines = "", list[str]()
    for line in process.stderr or ():
        if message_lines or line.startswith(_FAILURES):
            message_lines.append(line)
            continue
        sys.stderr.write(line)
        last = line.strip() or last
    if not process.wait() or not message_lines:
        sys.stderr.writelines(message_lines)
        return last
    # Without what stands around it: our name, or how to call us.
    text = " ".join(line.strip() for line in message_lines if line.strip())
    ours, usage = _FAILURES
    if text.startswith(usage):
        return text.partition(" Error: ")[2] or text
    return text.removeprefix(ours)
