"""What files hold, by their digests: of folders, and of files that are read later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import ChangedFileError, InputError
from irplatform.system.file_digests import digest, digests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["HashedFiles", "digest", "digests", "folder_digests"]


class HashedFiles:
    """The digests of some files, and whether the files are still what these stand for.

    Files are identified by their content first and read later, perhaps several times. What is built
    of them is kept under what identifies them. If one was replaced in between, the cache would hold
    something else under that name for good.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._states: dict[Path, tuple[int, ...]] = {}
        self._digests: dict[Path, str] = {}

    def digests(self) -> list[str]:
        """The SHA-256 of the files, as they were when this was asked first."""
        if not self._digests:
            self._states = {path: _state(path) for path in self._paths}
            self._digests = dict(zip(self._paths, digests(self._paths), strict=True))
        return [self._digests[path] for path in self._paths]

    def check(self, path: Path) -> None:
        """See that a file is what was hashed; call it before and after reading.

        Raises:
            ChangedFileError: it is not.
        """
        if path not in self._digests or (state := _state(path)) == self._states[path]:
            return
        if digest(path) != self._digests[path]:
            raise ChangedFileError(
                "this file was changed while it was used. Run the command again, when nobody "
                "writes to it.",
                path=path,
            )
        self._states[path] = state


def folder_digests(folder: Path, patterns: Sequence[str] = ("*",)) -> dict[str, str]:
    """The digests of the files in a folder and those in it, by their paths within it."""
    matching = {path for pattern in patterns for path in folder.rglob(pattern)}
    files = sorted(path for path in matching if path.is_file())
    return {
        str(path.relative_to(folder)): hexdigest
        for path, hexdigest in zip(files, digests(files), strict=True)
    }


def _state(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", path=path) from error
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
