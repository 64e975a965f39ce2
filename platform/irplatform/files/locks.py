"""Locks that keep processes from building the same thing at once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError, disk_fault
from irplatform.files.writing import home, within_home
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def lock(final: Path, *, wait: bool = False, shown_as: Path | None = None) -> Iterator[bool]:
    """Keep other processes from building something; yield if the lock is ours.

    With `wait` it always is, after the other process, which a notice names as `shown_as`.
    InputError if the cache cannot be written to.
    """
    from filelock import FileLock, Timeout

    file_lock = FileLock(f"{final}.lock")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        try:
            file_lock.acquire(timeout=0)
        except Timeout:
            if wait:
                building = within_home(shown_as or final)
                notice(f"another process is building {building}; waiting for it")
                file_lock.acquire()
    except OSError as error:
        if disk_fault(error):
            raise
        raise InputError(
            f"the cache cannot be written to: {error.strerror}. Set IRPLATFORM_HOME to a folder "
            "that can.",
            path=error.filename or home(),
        ) from error
    try:
        yield file_lock.is_locked
    finally:
        file_lock.release()
