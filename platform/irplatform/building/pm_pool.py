"""Closed pools of TREC Precision Medicine: the judged documents of a year and of its partner.

Rerankers are trained on topics over the same documents, so both years share one pool. An
interrupted build continues and ends with the same bytes.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.building import pm_sources as sources
from irplatform.building.pm_sources import (
    QUERY,
    YEARS,
    TrackFiles,
    is_extra,
    pool_name,
    read_extra_abstracts,
)
from irplatform.building.pubmed_articles import (
    GONE,
    WORK,
    access,
    fetch_articles,
    fetched_documents,
    kept_batches,
    plan,
    work_folder,
    write_missing,
)
from irplatform.building.pubmed_articles import MISSING_FILE as MISSING
from irplatform.collections.names import add_alias, aliases, open_path
from irplatform.collections.toml import COLLECTION_FILE
from irplatform.documents.jsonlines import write_documents
from irplatform.errors import counted
from irplatform.files.formats import toml_value
from irplatform.files.resumable import resumable_folder
from irplatform.files.writing import atomic_write, home
from irplatform.runs.bioasq import PMID
from irplatform.spelling import command
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.building.pm_sources import Year
    from irplatform.building.pubmed_articles import Access
    from irplatform.data import Document, Qrels
    from irplatform.documents.jsonlines import DocumentFiles

MEASURES = ("P@10", "Rprec", "nDCG@20", "AP", "Judged@20")


@dataclass(frozen=True)
class PoolSettings:
    """The settings of a pool, of 2017 or 2018.

    `files` and `partner` are files of this year and of the one that trains for it, instead of
    downloads. `alone` leaves the other year out. `extra_abstracts` is the archive of conference
    abstracts, or its unpacked folder.
    """

    year: int
    out: Path | None = None
    email: str | None = None
    rate: float | None = None
    files: TrackFiles = field(default_factory=TrackFiles)
    partner: TrackFiles = field(default_factory=TrackFiles)
    alone: bool = False
    extra_abstracts: Path | None = None
    download_extra: bool = True

    @property
    def name(self) -> str:
        """The collection's name."""
        return pool_name(self.year)

    @property
    def folder(self) -> Path:
        """The folder of the collection."""
        return (self.out or home() / "collections" / self.name).absolute()

    @property
    def years(self) -> dict[int, TrackFiles]:
        """The years whose judged documents are fetched, this one first."""
        if self.alone or (self.files and not self.partner):
            return {self.year: self.files}
        (other,) = (year for year in YEARS if year != self.year)
        return {self.year: self.files, other: self.partner}


@dataclass(frozen=True)
class PoolReport:
    """A pool that was built, or was there before: then `documents` and `missing` are None.

    `missing` maps judged documents that could not be fetched to the reason.
    """

    name: str
    path: Path
    documents: int | None = None
    missing: Mapping[str, str] | None = None

    def facts(self) -> dict[str, object]:
        """For programs."""
        return {
            "collection": self.name,
            "path": str(self.path),
            "built now": self.documents is not None,
            "documents": self.documents,
            "missing": None if self.missing is None else dict(self.missing),
        }

    def lines(self) -> list[str]:
        """For people."""
        if self.missing is None:
            return [
                f"{self.name} is there: {self.path}",
                "To build it anew, remove that folder first.",
            ]
        lines = [f"{self.name}: {self.documents:,} documents in {self.path.parent}"]
        for reason, count in sorted(Counter(self.missing.values()).items()):
            lines.append(f"not there: {counted(count, 'judged document')} ({reason})")
        if self.missing:
            lines.append(f"They are listed in {self.path.with_name(MISSING)}")
        return [*lines, f"Use it: {command('run', collection=self.name).strip('`')}"]


def build_pool(settings: PoolSettings) -> PoolReport:
    """Build a closed pool, or find an existing one; give it and its partner a name.

    Raises:
        InputError: a given file is wrong, or the folder exists.
        PlatformError: something could not be downloaded.
    """
    server = access(settings.email, settings.rate)
    if existing := _existing(settings):
        _give_name(settings.name, existing)
        return PoolReport(settings.name, existing)
    folder = settings.folder
    with resumable_folder(folder) as partial:
        work = work_folder(partial)
        years = [sources.gather(year, g, partial) for year, g in settings.years.items()]
        judged = _sort(year.judged for year in years)
        plan_lines = _plan(settings, judged, server, work)
        notice("\n  ".join([f"{settings.name} needs", *plan_lines]))
        extra = _extra_abstracts(settings, judged)
        unavailable = fetch_articles(judged.articles, server, work)
        missing = {
            **dict.fromkeys(unavailable, GONE),
            **dict.fromkeys(
                (name for name in judged.abstracts if name not in extra),
                "conference abstract, not among the extra abstracts",
            ),
            **dict.fromkeys(
                judged.others, "neither an article of PubMed nor a conference abstract of the track"
            ),
        }
        abstracts = (extra[name] for name in judged.abstracts if name in extra)
        documents = chain(fetched_documents(judged.articles, work), abstracts)
        output = write_documents(documents, partial / "docs")
        write_missing(partial, {f"_{year.year}": year.judged for year in years}, missing)
        write_declarations(partial, years, output, missing)
        shutil.rmtree(work)
    for year, file in declarations(settings.years).items():
        _give_name(sources.pool_name(year), folder / file, gently=year != settings.year)
    return PoolReport(settings.name, folder / COLLECTION_FILE, output.count, missing)


def preview(settings: PoolSettings) -> list[str]:
    """Lines for people on what building would fetch; nothing is downloaded or written."""
    server = access(settings.email, settings.rate)
    if existing := _existing(settings):
        return [f"nothing: it is there, at {existing}"]
    files = [line for year, g in settings.years.items() for line in sources.needed(year, g)]
    qrels = [sources.local_qrels(year, paths) for year, paths in settings.years.items()]
    judged = _sort(grades for grades in qrels if grades)
    if None in qrels:
        if settings.download_extra and not settings.extra_abstracts:
            files += filter(None, [sources.archive_needed()])
        of = ", ".join(f"{sources.JUDGED[year]:,} in {year}" for year in settings.years)
        return [*files, f"then the judged documents ({of}) from {server}"]
    work = settings.folder.with_name(f"{settings.folder.name}.partial") / WORK
    return [*files, *_plan(settings, judged, server, work)]


def _existing(settings: PoolSettings) -> Path | None:
    """The file of a pool that was built before, in the chosen folder or under its name."""
    declared = settings.folder / COLLECTION_FILE
    if declared.is_file() and open_path(declared).id == settings.name:
        return declared
    by_alias = Path(aliases().get(settings.name, ""))
    return by_alias if settings.out is None and by_alias.is_file() else None


@dataclass(frozen=True)
class _Judged:
    """Sorted ids of judged documents by their source."""

    articles: list[str]
    abstracts: list[str]
    others: list[str]


def _sort(qrels: Iterable[Qrels]) -> _Judged:
    ids = {name for judged in qrels for grades in judged.values() for name in grades}
    articles = {name for name in ids if PMID.fullmatch(name)}
    abstracts = {name for name in ids if is_extra(name)}
    others = ids - articles - abstracts
    return _Judged(sorted(articles, key=int), sorted(abstracts), sorted(others))


def _plan(settings: PoolSettings, judged: _Judged, server: Access, work: Path) -> list[str]:
    source = str(settings.extra_abstracts or "")
    if settings.download_extra and not source:
        source = sources.archive_needed() or "ir_datasets' copy of the track's archive"
    batches = kept_batches(judged.articles, work)
    lines = plan(len(judged.articles), server, batches=batches)
    if judged.abstracts:
        origin = f"from {source}" if source else "left out"
        lines.append(f"{counted(len(judged.abstracts), 'conference abstract')} {origin}")
    if len(settings.years) == 1:
        lines.append(f"nothing of another year: no topics train rerankers for {settings.name}")
    return lines


def _extra_abstracts(settings: PoolSettings, judged: _Judged) -> Mapping[str, Document]:
    ids = set(judged.abstracts)
    path = settings.extra_abstracts
    if path is None and settings.download_extra and ids:
        path = sources.archive()
    return {} if path is None else read_extra_abstracts(path, ids)


def _give_name(name: str, path: Path, *, gently: bool = False) -> None:
    """Give a collection a name; `gently` keeps the name if it leads to another one."""
    before = aliases().get(name)
    if before == str(path) or (gently and before and Path(before).exists()):
        return
    if before:
        notice(f"{name} was the name of {before}")
    add_alias(name, str(path), replace=True)


def declarations(years: Iterable[int]) -> dict[int, str]:
    """Names of the years' TOML files; the first makes the folder a collection."""
    first, *others = years
    return {first: COLLECTION_FILE, **{year: f"{pool_name(year)}.toml" for year in others}}


def write_declarations(
    folder: Path, years: Sequence[Year], output: DocumentFiles, missing: Mapping[str, str]
) -> None:
    """Write a TOML file for each year; two years train rerankers for each other."""
    of = " and ".join(sorted(str(year.year) for year in years))
    lost = f" {len(missing):,} more could not be had, see {MISSING}." if missing else ""
    note = (
        f"closed pool: only the {output.count:,} documents that were judged in {of}. Scores are "
        f"not comparable with those over all of MEDLINE.{lost}"
    )
    files = declarations(year.year for year in years)
    for year in years:
        partner = next((name for other, name in files.items() if other != year.year), None)
        parts = [
            f"id = {toml_value(pool_name(year.year))}",
            f"title = {toml_value(f'TREC Precision Medicine {year.year}, closed pool')}",
            f"note = {toml_value(note)}",
            f"measures = {toml_value(MEASURES)}",
            "\n[documents]",
            f"files = {toml_value([f'docs/{name}' for name in output.files])}",
            f"fields = {toml_value(output.fields)}",
            "\n[topics]",
            f"file = {toml_value(year.topics)}",
            'format = "trec-pm"',
            f"query = {toml_value(QUERY)}",
            "\n[qrels]",
            f"file = {toml_value(year.qrels)}",
            *([f"sampled = {toml_value(year.sampled)}"] if year.sampled else []),
            *(["\n[train]", f"collection = {toml_value(partner)}"] if partner else []),
        ]
        with atomic_write(folder / files[year.year]) as file:
            file.write("\n".join(parts) + "\n")
