"""The files that articles are read from: XML, gzipped or not, in folders and in tar archives.

Archives, as PubMed Central distributes them, are read as streams from beginning to end, and nothing
of them is written anywhere, so that the names in them can do no harm.
"""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from irplatform.collections.archives import read_tar
from irplatform.collections.folder_name import as_text
from irplatform.errors import InputError
from irplatform.text_files import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_XML = (".xml", ".nxml")
_ARCHIVES = (".tar", ".tar.gz", ".tgz")
_LARGEST = 200 << 20
"""Bytes of an article, unpacked; the longest in PubMed Central are a tenth of that."""
_TOO_LARGE = f"this unpacks to more than {_LARGEST >> 20} MB, which no article does."


@dataclass(frozen=True)
class Member:
    """An article's file: one to be opened, or one that an archive has handed out.

    Attributes:
        name: for errors and reports.
        path: where it lies, if it is a file of its own.
        content: its bytes, if it is in an archive.
        fault: why it cannot be read, where that is known: the end of a broken archive.
    """

    name: str
    path: Path | None = None
    content: bytes = b""
    fault: str = ""

    def read(self) -> bytes:
        """The XML.

        Raises:
            InputError: it cannot be read or unpacked, or is too large to be an article.
        """
        if self.fault:
            raise InputError(self.fault, path=self.name)
        if self.path is not None:
            with open_bytes(self.path) as file:
                return _limited(file, self.name)
        if not self.name.lower().endswith(".gz"):
            return self.content
        try:
            with gzip.open(io.BytesIO(self.content)) as file:
                return _limited(file, self.name)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"this is not a whole gzip file ({error}).", path=self.name) from error


def find_sources(paths: Sequence[Path]) -> list[Path]:
    """The files to read, those of a folder in the order of their names.

    Args:
        paths: files and folders; folders are searched to the bottom, but for hidden files.

    Raises:
        InputError: a path does not exist, or is no XML file and no archive, or a folder has none.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("[!.]*") if _is_source(p) and p.is_file())
            if not inside:
                raise InputError(
                    "there are no articles here: expected .xml, .nxml (also .gz), .tar or .tar.gz.",
                    path=path,
                )
            files += inside
        elif not path.exists():
            raise InputError("there is no such file or folder.", path=path)
        elif not _is_source(path):
            raise InputError(
                "articles come in files named .xml or .nxml (also .gz), .tar, .tar.gz or .tgz.",
                path=path,
            )
        else:
            files.append(path)
    return list(dict.fromkeys(files))


def members(sources: Sequence[Path]) -> Iterator[Member]:
    """The articles' files, in order; archives are streamed.

    Of an archive that is not whole, what can be read of it, and a member that cannot.
    """
    for source in sources:
        if is_archive(source):
            yield from _unpacked(source)
        else:
            yield Member(as_text(str(source)), source)


def is_archive(path: Path) -> bool:
    """Tell by its name whether a file is a tar archive."""
    return path.name.lower().endswith(_ARCHIVES)


def _is_source(path: Path) -> bool:
    return _is_article(path.name) or is_archive(path)


def _is_article(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(_XML)


def _is_member(name: str) -> bool:
    """Whether a file of an archive is an article; macOS puts a hidden `._name` beside each file."""
    return _is_article(name) and not name.rpartition("/")[2].startswith(".")


def _unpacked(source: Path) -> Iterator[Member]:
    try:
        for name, content in read_tar(source, _is_member, most=_LARGEST + 1):
            place = as_text(f"{source}/{name}")
            too_large = len(content) > _LARGEST
            yield Member(place, fault=_TOO_LARGE) if too_large else Member(place, content=content)
    except InputError as error:
        yield Member(as_text(str(source)), fault=error.message)


def _limited(file: IO[bytes] | io.BufferedIOBase, name: str) -> bytes:
    content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise InputError(_TOO_LARGE, path=name)
    return content
