"""Locks that keep two processes from building the same thing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.cache.location import home, within_home
from irplatform.console import notice
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def lock(final: Path, *, wait: bool = False, told_as: Path | None = None) -> Iterator[bool]:
    """Keep other processes from building something, or learn that one is building it.

    Args:
        final: what is built, or what stands for it.
        wait: for a process that is building it; a notice says so, since it may take hours.
        told_as: what the notice calls it, where that is not `final`.

    Yields:
        Whether the lock is ours; always, with `wait`.

    Raises:
        InputError: the cache cannot be written to.
    """
    from filelock import FileLock, Timeout

    file_lock = FileLock(f"{final}.lock")
    free = True
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        try:
            file_lock.acquire(timeout=0)
        except Timeout:
            free = wait
            if wait:
                building = within_home(told_as or final)
                notice(f"another process is building {building}; waiting for it")
                file_lock.acquire()
    except OSError as error:
        raise InputError(
            f"the cache cannot be written to: {error.strerror}. Set IRPLATFORM_HOME to a folder "
            "that can.",
            path=error.filename or home(),
        ) from error
    try:
        yield free
    finally:
        if free:
            file_lock.release()
