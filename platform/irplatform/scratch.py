"""Scratch beside a file or folder that is being made, which outlives no process for long.

Scratch is a hidden folder. A process that is killed leaves it; the next one that makes the same
thing removes it. A locked file in it, the mark, tells scratch that is in use from what was left:
the lock goes with its process, however that ends. Where files cannot be locked there is no mark,
and what a killed process leaves stays.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = ".irplatform-at-work"
"""Ends the name of the mark."""


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A folder for scratch, which vanishes when the block ends; so does what was left before.

    Args:
        path: what is being made; its folder is there.

    Yields:
        The scratch, a hidden folder beside it. No file in it may begin with the name of what is
        made and end in ".irplatform-at-work".

    Raises:
        OSError: nothing can be written there.
    """
    _remove_left(path)
    scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    handle = None
    try:
        handle = _locked_file(_mark(scratch, path))
        yield scratch
    finally:
        shutil.rmtree(scratch)  # while it is held: no other process is at it
        if handle is not None:
            os.close(handle)


def _mark(scratch: Path, path: Path) -> Path:
    return scratch / f"{path.name}{_MARK}"


def _locked_file(path: Path) -> int | None:
    """A new file that is locked from the moment that it has its name; None where none can be."""
    new = path.with_name(f"{path.name}.new")
    handle = os.open(new, os.O_RDWR | os.O_CREAT)
    try:
        lock_open(handle)
        new.rename(path)
    except OSError:
        os.close(handle)
        return None
    return handle


def lock_open(handle: int) -> None:
    """Lock an open file or folder, until it is closed.

    Raises:
        BlockingIOError: another process holds it.
        OSError: it cannot be locked here.
    """
    try:
        import fcntl
    except ImportError as error:
        raise OSError("files cannot be locked on this system") from error
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_left(path: Path) -> None:
    """Remove the scratch of killed processes: what is marked, where no process holds the mark."""
    with suppress(OSError):
        for scratch in path.parent.iterdir():
            if scratch.name.startswith(f".{path.name}.") and not scratch.is_symlink():
                _remove_unless_held(scratch, _mark(scratch, path))


def _remove_unless_held(scratch: Path, mark: Path) -> None:
    try:
        handle = os.open(mark, os.O_RDWR)
    except OSError:  # it is no scratch of ours, or another process has just removed it
        return
    try:
        lock_open(handle)
        shutil.rmtree(scratch)
    except OSError:
        return
    finally:
        os.close(handle)
