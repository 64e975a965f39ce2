"""Articles in JATS: from files, folders and tar archives to citing sentences, kept in the cache.

Sentences come from the paragraphs of the body. Archives are read as streams; nothing is unpacked to
disk. Articles are read in chunks with all cores. Each part of the chunks becomes a file, so an
interrupted build continues, and other limits, another corpus or another split need no new reading.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.building.citation_references import (
    ReferenceList,
    normalized,
    plain_text,
    read_articles,
)
from irplatform.building.citation_sentences import marked_text, sentences_of
from irplatform.collections.beir import as_text
from irplatform.errors import InputError
from irplatform.files.cache import artifact
from irplatform.files.digests import HashedFiles, number_of
from irplatform.files.journals import is_kept, keep
from irplatform.files.reading import open_bytes, read_tar
from irplatform.system.console import notice, progress
from irplatform.text import content_words
from irplatform.workers.distribution import batched, ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_NOT_BODY = frozenset(
    """
    caption fig fig-group table-wrap table-wrap-group table-wrap-foot fn
    supplementary-material ref-list ack sub-article response
    """.split()  # noqa: SIM905 - a list would take a page
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_XML = (".xml", ".nxml")
_ARCHIVES = (".tar", ".tar.gz", ".tgz")
_FORMAT = 9
"""Version of the citing sentences; raised when sentences or references change."""
_CHUNK = 32
_CHUNKS_A_PART = 32
"""Chunks between two files of the cache."""


@dataclass(frozen=True)
class CitingSentence:
    """A sentence that cites, without reference marks.

    `number` is its place in the article, from 1; `words` does not count stop words; `cites` are
    keys of `CitingArticle.references`.
    """

    number: int
    section: str
    text: str
    words: int
    cites: tuple[int, ...]


@dataclass(frozen=True)
class CitingArticle:
    """An article with its citing sentences.

    Its id is its DOI, PMC id, PMID or file name. `sentences`, `listed` and `unknown_marks` count
    sentences of the body, references, and marks that point to no reference. `references` maps
    positions in the list to identifiers of each cited work.
    """

    id: str
    year: str
    file: str
    sentences: int
    listed: int
    unknown_marks: int
    citing: tuple[CitingSentence, ...]
    references: dict[str, tuple[tuple[str, ...], ...]]

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> CitingArticle:
        """The article of its JSON."""
        citing = tuple(CitingSentence(**s | {"cites": tuple(s["cites"])}) for s in record["citing"])
        references = {
            position: tuple(tuple(work) for work in works)
            for position, works in record["references"].items()
        }
        return cls(**record | {"citing": citing, "references": references})


def find_sources(paths: Sequence[Path]) -> list[Path]:
    """The files to read: files, and those in folders and subfolders, by name, unless hidden.

    Raises:
        InputError: a path does not exist, or has no XML file and no archive.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise InputError("there is no such file or folder.", path=path)
        inside = sorted(path.rglob("[!.]*")) if path.is_dir() else [path]
        sources = [p for p in inside if p.is_file() and (_is_article(p.name) or is_archive(p))]
        if not sources:
            raise InputError(
                "there are no articles here: expected .xml, .nxml (also .gz), .tar, .tar.gz or "
                ".tgz.",
                path=path,
            )
        files.update(dict.fromkeys(sources))
    return list(files)


def extract(
    sources: Sequence[Path], *, skip_unreadable: bool = False, workers: int | None = None
) -> Path:
    """Find the citing sentences, unless they are in the cache; return a folder for `read_back`.

    Raises:
        InputError: a file is not an article in XML, unless such files are skipped.
    """
    files = HashedFiles(sources)
    top = os.path.commonpath([source.resolve() for source in sources])
    places = [os.path.relpath(source.resolve(), top) for source in sources]
    described = [list(pair) for pair in zip(places, files.digests(), strict=True)]

    def build(folder: Path) -> None:
        _build(folder, sources, skip_unreadable, workers)
        for source in sources:
            files.check(source)

    return artifact(
        "citing-sentences",
        sources[0].resolve().parent.name or "articles",
        {"format": _FORMAT, "files": described, "skip_unreadable": skip_unreadable},
        build,
        resumable=True,
    ).path


def read_back(folder: Path) -> Iterator[CitingArticle | str]:
    """The articles that `extract` found, in the order of the files; the fault of a skipped file."""
    for part in sorted(folder.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            for line in lines:
                record = orjson.loads(line)
                yield record if isinstance(record, str) else CitingArticle.from_json(record)


@dataclass(frozen=True)
class Member:
    """An article's file: a path, bytes from an archive, or the fault of an archive."""

    name: str
    path: Path | None = None
    content: bytes = b""
    fault: str = ""

    def read(self) -> bytes:
        """The XML."""
        if self.fault:
            raise InputError(self.fault, path=self.name)
        if self.path is not None:
            with open_bytes(self.path) as file:
                return file.read()
        if not self.name.lower().endswith(".gz"):
            return self.content
        try:
            return gzip.decompress(self.content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"this is not a whole gzip file ({error}).", path=self.name) from error


def members(sources: Sequence[Path]) -> Iterator[Member]:
    """The articles' files, in order; a damaged archive ends with a member that has a fault."""
    for source in sources:
        if is_archive(source):
            yield from _unpacked(source)
        else:
            yield Member(as_text(str(source)), source)


def is_archive(path: Path) -> bool:
    """Return whether a file's name is that of a tar archive."""
    return path.name.lower().endswith(_ARCHIVES)


def read_article(article: Any, file: str) -> CitingArticle:
    """Find an article's citing sentences."""
    references = ReferenceList(article)
    citing = []
    number = unknown = 0
    for section, paragraph in _paragraphs(article):
        marked = marked_text(paragraph, references)
        unknown += marked.unknown
        for sentence in sentences_of(marked):
            number += 1
            if sentence.citing:
                words = len(content_words(sentence.text))
                citing.append(CitingSentence(number, section, sentence.text, words, sentence.cites))
    cited = sorted({position for sentence in citing for position in sentence.cites})
    return CitingArticle(
        id=_identifier(article, file),
        year=_year(article),
        file=file,
        sentences=number,
        listed=references.count,
        unknown_marks=unknown,
        citing=tuple(citing),
        references={str(p): references.references[p].works for p in cited},
    )


def _paragraphs(article: Any) -> Iterator[tuple[str, Any]]:
    """The section title and the element of every paragraph of the body."""
    body = article.find("body")
    if body is None:
        return
    for part in body:
        title = part.find("title") if part.tag == "sec" else None
        section = "" if title is None else plain_text(title)
        for paragraph in part.iter("p"):
            within = takewhile(lambda above: above is not body, paragraph.iterancestors())
            if not any(above.tag in _NOT_BODY for above in within):
                yield section, paragraph


def _identifier(article: Any, file: str) -> str:
    identifiers = {
        str(e.get("pub-id-type")): plain_text(e)
        for e in article.iterfind("front//article-meta/article-id")
    }
    if doi := normalized("doi", identifiers.get("doi", "")):
        return "".join(doi.removeprefix("doi:").split())
    for kind, key in (("pmcid", "pmcid"), ("pmcid", "pmc"), ("pmid", "pmid")):
        if identifier := normalized(kind, identifiers.get(key, "")):
            return identifier.partition(":")[2]
    # Files of several folders, and articles of one file, may share its name.
    content = " ".join(str(text) for text in article.itertext())
    return f"{''.join(file.rsplit('/', 1)[-1].split())}-{number_of(content) % 16**8:08x}"


def _year(article: Any) -> str:
    dates = article.iterfind("front//article-meta/pub-date/year")
    years = [match[0] for date in dates if (match := _YEAR.search(plain_text(date)))]
    return min(years, default="")


def _is_article(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(_XML)


def _is_member(name: str) -> bool:
    """Return whether a file of an archive is an article; macOS adds a hidden `._name` to each."""
    return _is_article(name) and not name.rpartition("/")[2].startswith(".")


def _unpacked(source: Path) -> Iterator[Member]:
    try:
        for name, content in read_tar(source, _is_member):
            yield Member(as_text(f"{source}/{name}"), content=content)
    except InputError as error:
        yield Member(as_text(str(source)), fault=error.message)


def _build(folder: Path, sources: Sequence[Path], skip: bool, workers: int | None) -> None:
    total = None if any(is_archive(source) for source in sources) else len(sources)
    stream = members(sources)
    per_part = _CHUNK * _CHUNKS_A_PART
    part = count = 0
    while is_kept(_part(folder, part)):  # of an interrupted build
        count += sum(1 for _ in islice(stream, per_part))
        part += 1
    if count:
        notice(f"going on after {count:,} files that were read before")
    with progress("reading articles", total, "files") as advance:
        advance(count)
        chunks = batched(stream, _CHUNK)
        results = ordered_map(partial(_read_chunk, skip=skip), chunks, workers=workers)
        for first in results:
            records: list[bytes] = []
            for files, lines in chain([first], islice(results, _CHUNKS_A_PART - 1)):
                records += lines
                advance(files)
            keep(_part(folder, part), b"".join(records))
            part += 1


def _part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06}.jsonl"


def _read_chunk(chunk: list[Member], *, skip: bool) -> tuple[int, list[bytes]]:
    """The number of files, and their articles as lines of JSON."""
    lines = []
    for member in chunk:
        try:
            articles = read_articles(member.read(), member.name)
        except InputError as error:
            if not skip:
                raise
            lines.append(orjson.dumps(str(error), option=orjson.OPT_APPEND_NEWLINE))
            continue
        records = (asdict(read_article(article, member.name)) for article in articles)
        lines += [orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records]
    return len(chunk), lines
