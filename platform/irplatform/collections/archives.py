"""Tar archives, read as streams from beginning to end, and refused where they do not have one.

Python's tarfile takes a header that is cut off or damaged for the end of the archive, and what
follows a gzip file's first part as nothing: the rest of the files would be missing without a word.
"""

from __future__ import annotations

import tarfile
import zlib
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.system.reading import open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Self

_BLOCK = 1 << 20


class _Header(tarfile.TarInfo):
    """A header that is not passed over where it is broken."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined] # zeros: the archive's end
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error


def read_tar(
    path: Path, wanted: Callable[[str], bool], *, most: int = -1
) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of an archive's files, in its order. Nothing is unpacked.

    Args:
        path: the archive, gzipped or not.
        wanted: which names to read; links and folders are passed over.
        most: bytes of a file's content to read, from its beginning; all by default.

    Raises:
        InputError: it cannot be read, or is not whole; by then what comes before has been yielded.
    """
    with open_bytes(path) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|", tarinfo=_Header) as archive:
                for entry in archive:
                    if wanted(entry.name) and entry.isreg():
                        content = archive.extractfile(entry)
                        yield entry.name, content.read(most) if content else b""
            while file.read(_BLOCK):  # up to the end, where gzip has its checksum
                pass
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            raise InputError(
                f"this is not a whole tar archive ({error}). Remove it and fetch it again.",
                path=path,
            ) from error
