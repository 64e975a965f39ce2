"""Builds a closed pool: the judged documents of a year and of the year that trains for it.

Rerankers are trained on topics over the same documents, so both years share one pool, and building
one of them builds the other. Whatever interrupts it, the same command goes on from there and ends
with the same bytes.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import cache
from irplatform.bioasq import PMID
from irplatform.collections.aliases import aliases
from irplatform.collections.eutils import (
    access,
    fetch_articles,
    fetched_documents,
    kept_batches,
    plan,
)
from irplatform.collections.missing import write_missing
from irplatform.collections.naming import add_alias
from irplatform.collections.pubmed_articles import GONE, WORK, work_folder
from irplatform.collections.toml import FILE_NAME, open_toml
from irplatform.collections.trec_pm_pool import sources
from irplatform.collections.trec_pm_pool.declaration import declarations, write_declarations
from irplatform.collections.trec_pm_pool.extra_abstracts import is_extra, read_extra_abstracts
from irplatform.collections.trec_pm_pool.report import PoolReport
from irplatform.collections.write import write_documents
from irplatform.console import notice
from irplatform.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from irplatform.collections import Qrels
    from irplatform.collections.eutils import Access
    from irplatform.collections.trec_pm_pool.settings import PoolSettings
    from irplatform.plugin import Document

_NO_ABSTRACT = "conference abstract, not among the extra abstracts"
_NEITHER = "neither an article of PubMed nor a conference abstract of the track"


@dataclass(frozen=True)
class _Judged:
    """Sorted ids of judged documents by their source."""

    articles: list[str]
    abstracts: list[str]
    others: list[str]


def build_pool(settings: PoolSettings) -> PoolReport:
    """Build a closed pool, or find it where it was built before; give it and its partner a name.

    Raises:
        InputError: a given file is not what it should be, or the folder is taken.
        PlatformError: something could not be downloaded.
    """
    server = access(settings.email, settings.rate)
    if existing := _existing(settings):
        _give_name(settings.name, existing)
        return PoolReport(settings.name, existing)
    folder = settings.folder
    with cache.resumable_folder(folder) as partial:
        work = work_folder(partial)
        years = [sources.gather(year, g, partial) for year, g in settings.years.items()]
        judged = _sort(year.judged for year in years)
        plan_lines = _plan(settings, judged, server, work)
        notice("\n  ".join([f"{settings.name} needs", *plan_lines]))
        extra = _extra_abstracts(settings, judged)
        unavailable = fetch_articles(judged.articles, server, work)
        missing = {
            **dict.fromkeys(unavailable, GONE),
            **dict.fromkeys((name for name in judged.abstracts if name not in extra), _NO_ABSTRACT),
            **dict.fromkeys(judged.others, _NEITHER),
        }
        abstracts = (extra[name] for name in judged.abstracts if name in extra)
        documents = chain(fetched_documents(judged.articles, work), abstracts)
        written = write_documents(documents, partial / "docs")
        write_missing(partial, {f"_{year.year}": year.judged for year in years}, missing)
        write_declarations(partial, years, written, missing)
        shutil.rmtree(work)
    for year, file in declarations(settings.years).items():
        _give_name(sources.pool_name(year), folder / file, gently=year != settings.year)
    return PoolReport(settings.name, folder / FILE_NAME, written.count, missing)


def preview(settings: PoolSettings) -> list[str]:
    """What building would fetch, in lines for people; nothing is downloaded and nothing written.

    Raises:
        InputError: a given file is not what it should be.
    """
    server = access(settings.email, settings.rate)
    if existing := _existing(settings):
        return [f"nothing: it is there, at {existing}"]
    files = [line for year, g in settings.years.items() for line in sources.needed(year, g)]
    qrels = [sources.local_qrels(year, given) for year, given in settings.years.items()]
    judged = _sort(grades for grades in qrels if grades)
    if None in qrels:
        if settings.download_extra and not settings.extra_abstracts:
            files += filter(None, [sources.archive_needed()])
        of = ", ".join(f"{sources.JUDGED[year]:,} in {year}" for year in settings.years)
        return [*files, f"then the judged documents ({of}) from {server}"]
    work = settings.folder.with_name(f"{settings.folder.name}.partial") / WORK
    return [*files, *_plan(settings, judged, server, work)]


def _existing(settings: PoolSettings) -> Path | None:
    """The file of a pool that was built: in the folder asked for, or wherever its name leads."""
    declared = settings.folder / FILE_NAME
    if declared.is_file() and open_toml(declared).id == settings.name:
        return declared
    by_alias = Path(aliases().get(settings.name, ""))
    return by_alias if settings.out is None and by_alias.is_file() else None


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
    kept = kept_batches(judged.articles, work)
    lines = plan(len(judged.articles), server, kept=kept)
    if judged.abstracts:
        where = f"from {source}" if source else "left out"
        lines.append(f"{counted(len(judged.abstracts), 'conference abstract')} {where}")
    if len(settings.years) == 1:
        lines.append(f"nothing of another year: no topics train rerankers for {settings.name}")
    return lines


def _extra_abstracts(settings: PoolSettings, judged: _Judged) -> Mapping[str, Document]:
    wanted = set(judged.abstracts)
    if settings.extra_abstracts is not None:
        return read_extra_abstracts(settings.extra_abstracts, wanted)
    if settings.download_extra and wanted:
        return read_extra_abstracts(sources.archive(), wanted)
    return {}


def _give_name(name: str, path: Path, *, gently: bool = False) -> None:
    """Let a name mean a collection; `gently` leaves it where it leads to another one."""
    before = aliases().get(name)
    if before == str(path) or (gently and before and Path(before).exists()):
        return
    if before:
        notice(f"{name} meant {before} so far")
    add_alias(name, str(path), replace=True)
