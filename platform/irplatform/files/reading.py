"""Text files read line by line: plain, gzip or a pipe, as bytes, with errors that name the line.

Lines stay bytes because only ASCII white space separates TREC's columns: `str.split` would also
split at a no-break space inside an id.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import shutil
import stat
import tarfile
import tempfile
import zlib
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO, Self


NO_FILES = {
    errno.ENAMETOOLONG: "this name is too long for a file.",
    errno.ELOOP: "this link leads back to itself.",
}
"""Errors for names that no file can have."""
_GZIP = b"\x1f\x8b"
_OTHERS = {
    b"PK\x03\x04": "a zip archive",
    b"BZh91AY&SY": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
}
"""How files begin that are not unpacked here, and their kinds."""
NUL_BYTE = "NUL byte, as damaged and binary files have. Make the file again."
BARE_RETURN = (
    "a carriage return (CR) inside, as if lines ended in CR alone. Convert the file: "
    "tr '\\r' '\\n' < FILE > NEW."
)
COMMENT = re.compile(rb"\n[ \t]*#")
"""How a comment begins, after the end of the line before."""
LONGEST_LINE = 1 << 26
"""Bytes: 64 MB. No document has a tenth of it, and a file without line ends would fill the
memory."""
_LONG = f"this line has more than {LONGEST_LINE >> 20} MB. Is the file damaged?"
_SYSTEM_FILES = ("/proc/", "/sys/")
_STREAM = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")
"""Where a process finds what is piped to it; the `<(…)` of a shell is such a name."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LISTENERS: list[Callable[[int], None]] = []
_PIPES: dict[tuple[int, int], IO[bytes]] = {}
"""Copies of what came out of pipes, by device and inode: a pipe gives its content once, and files
are opened more than once. The copies vanish when the process ends."""


class _ReportedFile(io.FileIO):
    def readinto(self, buffer: Any) -> int | None:
        """Read into a buffer, and report the number of bytes."""
        read = super().readinto(buffer)
        for tell in _LISTENERS[-1:]:
            tell(read or 0)
        return read


@contextmanager
def reporting_reads(tell: Callable[[int], None]) -> Iterator[None]:
    """Call a function with the number of bytes of each read of a file, before unpacking."""
    _LISTENERS.append(tell)
    try:
        yield
    finally:
        _LISTENERS.remove(tell)


@contextmanager
def open_bytes(path: Path) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    """Open a file for reading, unpacked if it is gzip; a pipe as often as any other file.

    Raises:
        InputError: the file is missing, a folder, unreadable, packed other than with gzip, or
            damaged gzip (also while it is read inside the block).
    """
    try:
        raw: Any = (_ReportedFile if _LISTENERS else io.FileIO)(readable_again(path))
        packed: io.BufferedReader
        with io.BufferedReader(raw) as packed:
            beginning = packed.peek(max(map(len, _OTHERS)))
            if path.suffix == ".gz" or beginning.startswith(_GZIP):
                with gzip.open(packed, "rb") as file:
                    yield file
            elif kind := next((_OTHERS[b] for b in _OTHERS if beginning.startswith(b)), None):
                raise InputError(f"this is {kind}. Unpack it; gzip is read as it is.", path=path)
            else:
                yield packed
    except FileNotFoundError as error:
        hint = " Name standard input /dev/stdin." if str(path) == "-" else ""
        for other in (f"{path.name}.gz", path.name.removesuffix(".gz")):
            hint = f" There is {other}." if path.with_name(other).is_file() else hint
        raise InputError(f"there is no such file.{hint}", path=path) from error
    except IsADirectoryError as error:
        raise InputError("this is a folder; name a file.", path=path) from error
    except PermissionError as error:
        raise InputError("this file may not be read (no permission).", path=path) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        has_ending = path.suffix == ".gz"
        otherwise = ", or drop '.gz' from its name if it is not compressed" if has_ending else ""
        raise InputError(
            f"this is not a whole gzip file ({error}). Copy it again{otherwise}.", path=path
        ) from error
    except OSError as error:
        if error.errno not in NO_FILES:  # a full disk, say, is not a mistake of the user
            raise
        raise InputError(NO_FILES[error.errno], path=path) from error


def is_readable(path: Path) -> bool:
    """Tell if `open_bytes` can read a file to its end."""
    try:
        with open_bytes(path) as file:
            while file.read(1 << 20):
                pass
    except InputError:
        return False
    return True


def read_whole(path: Path, most: int) -> bytes:
    """Return the content of a file as `open_bytes` reads it; InputError beyond `most` bytes."""
    with open_bytes(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(f"this file has more than {most >> 20:,} MB (unpacked).", path=path)
    return content


def in_utf_8(content: bytes) -> bytes:
    """Return UTF-16 with a byte order mark as UTF-8, and UTF-8 without its mark."""
    if content.startswith(_UTF_16_MARKS):
        return content.decode("utf-16", "replace").encode()
    return content.removeprefix(_BYTE_ORDER_MARK)


@contextmanager
def opened_text(path: Path) -> Iterator[io.TextIOBase]:
    """Open a file as `open_bytes` does, as UTF-8 text without a byte order mark."""
    try:
        with (
            open_bytes(path) as file,
            io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text,
        ):
            yield text
    except UnicodeDecodeError as error:
        raise InputError(f"this is not UTF-8 text ({error.reason}).", path=path) from error


def readable_again(path: Path) -> Path:
    """Return the path itself, or that of a copy if it is a pipe such as `<(zcat run.gz)`.

    OSError if there is no such file; InputError for a device, or a pipe of another process.
    """
    status = path.stat()
    if is_ordinary(path, status):
        return path
    if not _STREAM.match(os.path.abspath(path)):  # noqa: PTH100 - a link is looked at, not followed
        raise InputError(
            "this is a device or a named pipe, not a file. Copy what it gives into a file, or name "
            "it /dev/stdin and pipe it there.",
            path=path,
        )
    key = (status.st_dev, status.st_ino)
    if key not in _PIPES:
        copy = tempfile.NamedTemporaryFile(prefix="irplatform-")  # noqa: SIM115 - kept until the end
        with path.open("rb") as file:
            shutil.copyfileobj(file, copy)
        copy.flush()
        _PIPES[key] = copy
    return type(path)(_PIPES[key].name)


def is_ordinary(path: Path, status: os.stat_result) -> bool:
    """Tell if a path leads to a file or folder on a disk, which has an end."""
    if stat.S_ISREG(status.st_mode):
        return status.st_size > 0 or not os.path.realpath(path).startswith(_SYSTEM_FILES)
    return stat.S_ISDIR(status.st_mode)


def starts_with_mark(path: Path) -> bool:
    """Tell if a file begins with UTF-8's byte order mark, which `numbered_lines` drops."""
    with open_bytes(path) as file:
        return file.read(len(_BYTE_ORDER_MARK)) == _BYTE_ORDER_MARK


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1.

    Raises:
        InputError: see `open_bytes`; or the encoding is not a superset of ASCII, lines end in a
            carriage return alone, or a line is too long.
    """
    with open_bytes(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), start=1):
            if len(line) >= LONGEST_LINE:
                raise InputError(_LONG, path=path, line=number)
            content = line
            if number == 1:
                _refuse_utf_16(line, path)
                if b"\r" in line.rstrip():
                    raise InputError(f"the first line has {BARE_RETURN}", path=path)
                content = line.removeprefix(_BYTE_ORDER_MARK)
            if content.strip():
                yield number, content


def blank_lines(path: Path) -> list[int]:
    """Return the numbers of the lines that are empty, or white space.

    Raises:
        InputError: see `open_bytes`.
    """
    with open_bytes(path) as file:
        first = file.readline().removeprefix(_BYTE_ORDER_MARK)
        numbered = enumerate(chain([first] if first else [], file), start=1)
        return [number for number, line in numbered if not line.strip()]


def uncommented_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the same lines without those that begin with `#`, which a notice counts."""
    comments = 0
    for number, line in numbered_lines(path):
        if b"#" in line and line.lstrip().startswith(b"#"):
            comments += 1
        else:
            yield number, line
    notice_comments(path, comments)


def notice_comments(path: Path, lines: int) -> None:
    """Write once how many lines of a file are ignored."""
    if lines:
        notice_once(f"{path}: ignored as comments: {counted(lines, 'line')} beginning with '#'")


def _refuse_nul_bytes(path: Path) -> None:
    """Name the first line with a NUL byte, where programs in C, such as trec_eval, end a text."""
    for number, line in numbered_lines(path):
        if b"\0" in line:
            raise InputError(f"this line has a {NUL_BYTE}", path=path, line=number)


def _refuse_utf_16(beginning: bytes, path: Path) -> None:
    """Name the encoding, which would make every column wrong."""
    if beginning.startswith(_UTF_16_MARKS) or b"\0" in beginning:
        raise InputError(
            "this file has NUL bytes, as UTF-16 and binary files have. Save the file as UTF-8.",
            path=path,
            line=1,
        )


def decoded(line: bytes, path: Path, number: int) -> str:
    """Return the text of a line; InputError if it is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start + 1} of this line is not UTF-8. Save the file as UTF-8.",
            path=path,
            line=number,
        ) from error


def blocks_of_lines(path: Path, size: int = 1 << 18) -> Iterator[bytes]:
    """Yield the file's content in blocks of about `size` bytes, each of whole lines.

    Raises:
        InputError: see `open_bytes`; or a line has a NUL byte or is too long.
    """
    with open_bytes(path) as file:
        rest = b""
        first = True
        while block := file.read(size):
            if b"\0" in block:
                _refuse_nul_bytes(path)
            if first:
                block, first = block.removeprefix(_BYTE_ORDER_MARK), False
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                rest += block
                if len(rest) >= LONGEST_LINE:
                    raise InputError(f"after {file.tell() - len(rest):,} bytes: {_LONG}", path=path)
                continue
            yield rest + block[:cut]
            rest = block[cut:]
        if rest:
            yield rest


class _Header(tarfile.TarInfo):
    """A header that raises an error if it is broken.

    tarfile takes a damaged header for the end of the archive, so files would be missing.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined] # zeros: the archive's end
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error


def read_tar(
    path: Path, accept: Callable[[str], bool], *, most: int = -1
) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a tar archive's files, in order, whose names `accept` takes.

    Of each content at most `most` bytes are read. InputError if the archive cannot be read or is
    not whole; earlier files have been yielded.
    """
    with open_bytes(path) as file:
        try:
            with tarfile.open(fileobj=file, mode="r|", tarinfo=_Header) as archive:
                for entry in archive:
                    if accept(entry.name) and entry.isreg():
                        content = archive.extractfile(entry)
                        yield entry.name, content.read(most) if content else b""
            while file.read(1 << 20):  # up to the end, where gzip has its checksum
                pass
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            raise InputError(
                f"this is not a whole tar archive ({error}). Remove it and fetch it again.",
                path=path,
            ) from error
