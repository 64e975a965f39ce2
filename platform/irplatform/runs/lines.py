"""Text files read line by line: plain or gzip, as bytes, with errors that a person can use.

Lines stay bytes because TREC's columns are parted by ASCII white space only: `str.split` would
also split at a no-break space inside an id.
"""

from __future__ import annotations

import errno
import gzip
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase
    from pathlib import Path

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def open_bytes(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file for reading, unpacked if its name ends in `.gz`.

    Raises:
        InputError: the file is missing, is a folder, may not be read, or is not sound gzip (also
            while it is being read inside the block).
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise InputError("there is no such file.", path=path) from error
    except IsADirectoryError as error:
        raise InputError("this is a folder; name a file.", path=path) from error
    except PermissionError as error:
        raise InputError("this file may not be read (no permission).", path=path) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"this is not a whole gzip file ({error}). Copy it again, or drop '.gz' from its name "
            "if it is not compressed.",
            path=path,
        ) from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # a full disk, say, is no mistake of the user's
            raise
        raise InputError("this name is too long for a file.", path=path) from error


def starts_with_mark(path: Path) -> bool:
    """Whether a file begins with the byte order mark of UTF-8, which `numbered_lines` drops.

    Raises:
        InputError: see `open_bytes`.
    """
    with open_bytes(path) as file:
        return file.read(len(_BYTE_ORDER_MARK)) == _BYTE_ORDER_MARK


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their numbers, counted from 1.

    Raises:
        InputError: see `open_bytes`.
    """
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            content = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            if content.strip():
                yield number, content


def blocks_of_lines(path: Path, size: int = 1 << 18) -> Iterator[bytes]:
    """Yield the file's content in blocks of about `size` bytes, each ending where a line does.

    Raises:
        InputError: see `open_bytes`.
    """
    with open_bytes(path) as file:
        rest = b""
        first = True
        while block := file.read(size):
            if first:
                block, first = block.removeprefix(_BYTE_ORDER_MARK), False
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                rest += block
                continue
            yield rest + block[:cut]
            rest = block[cut:]
        if rest:
            yield rest
