"""Files of text and word vectors, gzipped where they are called so."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    """Open a file for reading, decompressed if its name ends in `.gz`.

    Raises:
        InputError: it cannot be read, also while the block reads it.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError("is cut short or no gzip file. Fetch it again.", path=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", path=path) from error


@contextmanager
def opened_text(path: Path) -> Iterator[io.TextIOBase]:
    """Open a text file likewise, behind its byte order mark if it has one.

    Raises:
        InputError: it cannot be read, or is not UTF-8, also while the block reads it.
    """
    try:
        with (
            opened(path) as file,
            io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text,
        ):
            yield text
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text ({error.reason}).", path=path) from error
