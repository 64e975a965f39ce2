"""The citing sentences of many articles, found with all cores and kept in the cache.

Articles are read in chunks, each of which becomes a file when it is done: an interrupted build goes
on from there, and other limits, another corpus or another split need no reading again.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from irplatform import cache, storage
from irplatform.batched import batched
from irplatform.console import notice, progress
from irplatform.digests import HashedFiles
from irplatform.errors import InputError
from irplatform.judgments.citations.articles import CitingArticle, read_article
from irplatform.judgments.citations.sources import Member, is_archive, members
from irplatform.judgments.citations.xml import read_articles
from irplatform.parallel import ordered_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

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

    return cache.artifact(
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
            with storage.atomic_write(_part(folder, part), "wb") as file:
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
