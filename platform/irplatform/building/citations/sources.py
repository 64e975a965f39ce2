"""The files that articles are read from: XML, gzipped or not, in folders and in tar archives.

Archives, as PubMed Central distributes them, are read as streams from beginning to end, and nothing
of them is written anywhere, so that the names in them can do no harm.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO, TYPE_CHECKING

import orjson

from irplatform.building.citations.articles import CitingArticle, read_article
from irplatform.building.citations.xml import read_articles
from irplatform.collections.archives import read_tar
from irplatform.collections.beir import as_text
from irplatform.errors import InputError
from irplatform.system.cache import artifact
from irplatform.system.console import notice, progress
from irplatform.system.digests import HashedFiles
from irplatform.system.reading import open_bytes
from irplatform.system.workers import batched, ordered_map
from irplatform.system.writing import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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


# The citing sentences of many articles, found with all cores and kept in the cache.
#
# Articles are read in chunks, each of which becomes a file when it is done: an interrupted build
# goes on from there, and other limits, another corpus or another split need no reading again.

_FORMAT = 8
"""Version of what is found in an article; raise it when sentences or references change."""
_CHUNK = 32
"""Articles that a worker takes at once; a few megabytes."""
_CHUNKS_A_PART = 32
"""Chunks between two files of the cache."""


def extract(
    sources: Sequence[Path], *, skip_unreadable: bool = False, workers: int | None = None
) -> Path:
    """Find the citing sentences, or where they were kept before.

    Args:
        sources: the files, see `sources.find_sources`.
        skip_unreadable: leave out what is no article in XML instead of stopping there.
        workers: processes; by default one per core.

    Returns:
        A folder for `read_back`.

    Raises:
        InputError: a file cannot be read (file and line are named).
    """
    files = HashedFiles(sources)
    described = _describe(sources, files.digests())

    def build(folder: Path) -> None:
        _build(folder, sources, skip_unreadable, workers)
        for source in sources:
            files.check(source)

    return artifact(
        "citing-sentences",
        sources[0].resolve().parent.name or "articles",
        {
            "format": _FORMAT,
            "files": described,
            "skip_unreadable": skip_unreadable,
        },
        build,
        resumable=True,
    ).path


def _describe(sources: Sequence[Path], digests: Sequence[str]) -> list[list[str]]:
    """Places beneath the folder that all lie in, however that was spelled, and digests."""
    top = os.path.commonpath([source.resolve() for source in sources])
    places = [os.path.relpath(source.resolve(), top) for source in sources]
    return [[place, digest] for place, digest in zip(places, digests, strict=True)]


def read_back(folder: Path) -> Iterator[CitingArticle | str]:
    """The articles that `extract` found, in the order of the files.

    Yields:
        Articles; for a file that was left out, what is wrong with it.
    """
    for part in sorted(folder.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            for line in lines:
                record = orjson.loads(line)
                yield record if isinstance(record, str) else CitingArticle.from_json(record)


def _build(folder: Path, sources: Sequence[Path], skip: bool, workers: int | None) -> None:
    total = None if any(is_archive(source) for source in sources) else len(sources)
    stream = members(sources)
    per_part = _CHUNK * _CHUNKS_A_PART
    part = done = 0
    while _part(folder, part).exists():  # of an interrupted build
        done += sum(1 for _ in islice(stream, per_part))
        part += 1
    if done:
        notice(f"going on after {done:,} files that were read before")
    with progress("reading articles", total, "files") as advance:
        advance(done)
        chunks = batched(stream, _CHUNK)
        results = ordered_map(partial(_read_chunk, skip=skip), chunks, workers=workers)
        for lines_of_chunks in batched(_counted(results, advance), _CHUNKS_A_PART):
            with atomic_write(_part(folder, part), "wb") as file:
                file.writelines(line for lines in lines_of_chunks for line in lines)
            part += 1


def _part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06}.jsonl"


def _counted(
    results: Iterator[tuple[int, list[bytes]]], advance: Callable[[int], None]
) -> Iterator[list[bytes]]:
    for files, lines in results:
        advance(files)
        yield lines


def _read_chunk(chunk: list[Member], *, skip: bool) -> tuple[int, list[bytes]]:
    """How many files these are, and their articles as lines of JSON."""
    lines = []
    for member in chunk:
        try:
            articles = read_articles(member.read(), member.name)
        except InputError as error:
            if not skip:
                raise
            lines.append(orjson.dumps(str(error), option=orjson.OPT_APPEND_NEWLINE))
            continue
        records = (read_article(article, member.name).as_json() for article in articles)
        lines += [orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records]
    return len(chunk), lines
