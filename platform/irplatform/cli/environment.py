"""What the command line finds when it starts: streams, and variables that are meant for it."""

from __future__ import annotations

import difflib
import io
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import ReadableBuffer

_PREFIX = "IRPLATFORM_"
VARIABLES = (
    "IRPLATFORM_ARITHMETIC",
    "IRPLATFORM_EUTILS_URL",
    "IRPLATFORM_HOME",
    "IRPLATFORM_JAVA_HEAP",
    "IRPLATFORM_PLUGINS",
    "IRPLATFORM_TEST_DATA",
    "IRPLATFORM_TRACEBACK",
    "IRPLATFORM_TRAINING_PROCESSES",
    "IRPLATFORM_TREC_URL",
)
"""All that the platform reads whose names begin like this."""
_ALIKE = 0.75


def misspelt(environment: Mapping[str, str]) -> Iterator[str]:
    """Tell of variables that nobody reads and that are nearly called like one of ours.

    Any other name is left alone: plugins have variables of their own.
    """
    for name in sorted(environment):
        if not name.startswith(_PREFIX) or name in VARIABLES:
            continue
        rests = [variable.removeprefix(_PREFIX) for variable in VARIABLES]
        near = difflib.get_close_matches(name.removeprefix(_PREFIX), rests, n=1, cutoff=_ALIKE)
        if near:
            yield f"WARNING: nobody reads {name}. Did you mean {_PREFIX}{near[0]}?"


class _Lossy(io.FileIO):
    """Where messages go: what a full disk or a closed pipe does not take is lost, not the work."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def ready_home() -> None:
    """Give a user without a home folder, as in containers, one for this command, and say which.

    Libraries that keep files look for it, too: ir_datasets, torch, Hugging Face's.
    """
    if os.path.isabs(os.path.expanduser("~")):  # noqa: PTH111, PTH117 - Path raises an error
        return
    home = Path(tempfile.gettempdir()) / f"irplatform-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid():
        home = Path(tempfile.mkdtemp(prefix="irplatform-"))
    os.environ["HOME"] = str(home)
    os.environ.setdefault("USER", str(os.getuid()))
    notice(f"this user has no home folder: {home} stands for it. Set HOME to another one.")


def ready_streams() -> None:
    """Make stdout and stderr such that printing does not fail, after hours of work perhaps.

    One that the shell closed leads nowhere; its number must not go to a file that is opened later.
    What the encoding of stdout has no character for is written as an escape.
    """
    if isinstance(sys.stderr, io.TextIOWrapper) and not sys.stderr.isatty():
        with suppress(OSError):  # streams of tests and notebooks have no number
            raw = io.BufferedWriter(_Lossy(sys.stderr.fileno(), "w", closefd=False))
            sys.stderr = io.TextIOWrapper(
                raw, sys.stderr.encoding, errors="backslashreplace", write_through=True
            )
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - as long as we
            setattr(sys, name, nowhere)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
