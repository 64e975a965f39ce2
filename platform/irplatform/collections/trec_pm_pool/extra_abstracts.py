"""The track's extra abstracts: of AACR and ASCO conferences, which PubMed does not have.

Each is a text file named after its id: a line "Meeting: …", then "Title: …" down to the first blank
line, then the abstract. They come as an archive (tar or zip) or as the folder that it unpacks to;
nothing is unpacked here, members are read in place.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from irplatform.collections.archives import read_tar
from irplatform.errors import InputError
from irplatform.plugin import Document

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from pathlib import Path

_ID = re.compile(r"(?:AACR|ASCO)_\S+")
_LARGEST = 1 << 20
"""Bytes of an abstract's file; the longest one of the track has a hundredth of that."""
_OF_ZIP = (zipfile.BadZipFile, RuntimeError, NotImplementedError)
"""What zipfile raises, also for passwords and kinds of packing that it does not know."""
_UNREADABLE = "this cannot be read as a folder, zip or tar of abstracts"
_FORMAT = "It needs a line 'Meeting: …', a line 'Title: …', a blank line, and the abstract."


def is_extra(document_id: str) -> bool:
    """Whether an id is that of a conference abstract."""
    return _ID.fullmatch(document_id) is not None


def read_extra_abstracts(path: Path, wanted: Container[str]) -> dict[str, Document]:
    """Find conference abstracts in an archive or folder.

    Args:
        path: a folder, a zip, or a tar (gzipped or not).
        wanted: ids.

    Returns:
        Those that are there, by id, with the field `meeting`.

    Raises:
        InputError: it is none of those or not whole, or a wanted file in it has another format.
    """
    abstracts: dict[str, Document] = {}
    for name, content in _members(path, wanted):
        abstracts.setdefault(name, _document(name, content, path))
    return abstracts


def _members(path: Path, wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    try:
        yield from _read(path, wanted)
    except InputError as error:  # a tar's
        raise InputError(f"{_UNREADABLE}: {error.message}", path=path) from error
    except (*_OF_ZIP, zlib.error, EOFError, OSError) as error:
        raise InputError(f"{_UNREADABLE} ({error}).", path=path) from error


def _read(path: Path, wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.txt")):
            if (name := file.name.partition(".")[0]) in wanted:
                with file.open("rb") as stream:
                    yield name, stream.read(_LARGEST)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if (name := _id(info.filename)) in wanted and not info.is_dir():
                    with archive.open(info) as member:
                        yield name, member.read(_LARGEST)
    else:
        for name, content in read_tar(path, lambda name: _id(name) in wanted, most=_LARGEST):
            yield _id(name), content


def _id(member: str) -> str:
    return PurePosixPath(member).name.partition(".")[0]


def _document(name: str, content: bytes, path: Path) -> Document:
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"the abstract {name} in it is not UTF-8.", path=path) from error
    text = iter(lines)
    meeting = next(text, "")
    title: list[str] = []
    for line in text:
        if not line.strip() and title:
            break
        if line.strip():
            title.append(line)
    heading = _joined(title)
    if not (meeting.startswith("Meeting:") and heading.startswith("Title:")):
        raise InputError(f"the abstract {name} in it has another format. {_FORMAT}", path=path)
    meeting = _joined([meeting.removeprefix("Meeting:")])
    fields = {"meeting": meeting} if meeting else {}
    return Document(name, heading.removeprefix("Title:").strip(), _joined(text), fields)


def _joined(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
