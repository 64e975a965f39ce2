"""Folders of users that are filled in several attempts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.files.digests import fingerprint
from irplatform.files.locks import lock
from irplatform.files.writing import home, refuse_taken, writable_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def resumable_folder(path: Path) -> Iterator[Path]:
    """Fill a user's folder in several attempts; it appears when the block ends well.

    Yields `<name>.partial` beside it, with what an interrupted attempt left. InputError if
    something is there already, another process is filling it, or the place cannot be written to.
    """
    path = path.absolute()
    writable_folder(path).parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with lock(home() / "locks" / fingerprint({"folder": str(path)})) as free:
        if not free:
            raise InputError("another process is building this; wait for it.", path=path)
        refuse_taken(path)
        partial.mkdir(exist_ok=True)
        yield partial
        partial.replace(path)
