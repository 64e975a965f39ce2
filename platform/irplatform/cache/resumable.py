"""A user's folder that takes several attempts to fill: a pool that is downloaded, a corpus."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.cache.location import home
from irplatform.cache.locks import lock
from irplatform.errors import InputError
from irplatform.storage import fingerprint, refuse_taken, writable_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def resumable_folder(path: Path) -> Iterator[Path]:
    """Fill a folder in several attempts; it appears under its name when the block ends well.

    What an interrupted attempt left is handed to the next one.

    Args:
        path: the final name, which must be free (an empty folder is free).

    Yields:
        The folder to fill, `<name>.partial` beside the final one.

    Raises:
        InputError: something is there already, another process is filling it, or the place cannot
            be written to.
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
