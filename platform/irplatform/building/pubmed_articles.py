"""Articles of PubMed that judgments name, as documents of a collection.

An interrupted build continues and ends with the same bytes.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.building.eutils import access, fetch_articles, fetched_documents, kept_batches, plan
from irplatform.collections.jsonlines import write_documents
from irplatform.errors import InputError, counted
from irplatform.runs.bioasq import PMID
from irplatform.system.cache import resumable_folder
from irplatform.system.console import notice
from irplatform.system.writing import atomic_write, refuse_taken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.building.eutils import Access
    from irplatform.data import Qrels

MISSING_FILE = "missing.tsv"
GONE = "PubMed does not have it"
WORK = "work"
"""The folder that an interrupted build leaves for the next one."""


@dataclass(frozen=True)
class FetchedArticles:
    """Fetched articles: their files, and counts of documents and of books and chapters among them.

    `missing` maps judged documents that could not be fetched to the reason.
    """

    files: tuple[str, ...]
    fields: tuple[str, ...]
    documents: int
    chapters: int
    missing: Mapping[str, str]


def build_articles(
    qrels: Sequence[Path], folder: Path, *, email: str | None = None, rate: float | None = None
) -> FetchedArticles:
    """Fetch the articles that files of judgments name.

    Raises:
        InputError: a file is wrong, no judged document is a PMID, or the folder exists.
        PlatformError: something could not be downloaded.
    """
    from irplatform.evaluation.qrels import read_qrels

    server = access(email, rate)
    judged = [read_qrels(path) for path in qrels]
    pmids, others = _sorted_ids(judged)
    with resumable_folder(folder) as partial:
        work = work_folder(partial)
        for line in _plan(pmids, others, server, work):
            notice(line)
        unavailable = fetch_articles(pmids, server, work)
        missing = {**dict.fromkeys(unavailable, GONE), **dict.fromkeys(others, "no PMID")}
        chapters = sum("book" in document.fields for document in fetched_documents(pmids, work))
        written = write_documents(fetched_documents(pmids, work), partial)
        topics = {
            f"{number} {topic}": grades
            for number, qrels in enumerate(judged)
            for topic, grades in qrels.items()
        }
        write_missing(partial, {"": topics}, missing)
        shutil.rmtree(work)
    return FetchedArticles(written.files, written.fields, written.count, chapters, missing)


def preview(
    qrels: Sequence[Path], folder: Path, *, email: str | None = None, rate: float | None = None
) -> list[str]:
    """Lines for people on what `build_articles` would fetch; nothing is downloaded or written."""
    from irplatform.evaluation.qrels import read_qrels

    server = access(email, rate)
    pmids, others = _sorted_ids([read_qrels(path) for path in qrels])
    refuse_taken(folder)
    return _plan(pmids, others, server, folder.with_name(f"{folder.name}.partial") / WORK)


def _plan(pmids: Sequence[str], others: Sequence[str], server: Access, work: Path) -> list[str]:
    lines = plan(len(pmids), server, kept=kept_batches(pmids, work))
    without = f"{counted(len(others), 'judged document')} without a PMID, left out"
    return [*lines, *([without] if others else [])]


def _sorted_ids(judged: Sequence[Qrels]) -> tuple[list[str], list[str]]:
    """PMIDs in ascending order, and the other ids."""
    ids = {name for qrels in judged for grades in qrels.values() for name in grades}
    pmids = {name for name in ids if PMID.fullmatch(name)}
    if not pmids:
        raise InputError(
            f"no judged document is a PMID, but '{min(ids)}' and the like. Only articles of PubMed "
            "can be fetched."
        )
    return sorted(pmids, key=int), sorted(ids - pmids)


def work_folder(partial: Path) -> Path:
    """The folder of fetched batches; remove all else that an interrupted attempt wrote."""
    work = partial / WORK
    work.mkdir(exist_ok=True)
    for path in partial.iterdir():
        if path.is_dir() and path != work:
            shutil.rmtree(path)
        elif path != work:
            path.unlink()
    return work


def write_missing(folder: Path, judged: Mapping[str, Qrels], missing: Mapping[str, str]) -> None:
    """Write missing documents to `missing.tsv`, with the numbers of topics that judge them.

    `judged` has judgments by the ending of their columns' names, as in judged_2017.
    """
    if not missing:
        return
    columns = [f"{what}{ending}" for ending in judged for what in ("judged", "relevant")]
    with atomic_write(folder / MISSING_FILE) as file:
        file.write("\t".join(["doc_id", "reason", *columns]) + "\n")
        for document_id, reason in missing.items():
            counts = []
            for qrels in judged.values():
                grades = [g[document_id] for g in qrels.values() if document_id in g]
                counts += [str(len(grades)), str(sum(grade > 0 for grade in grades))]
            file.write("\t".join([document_id, reason, *counts]) + "\n")
