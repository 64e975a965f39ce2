"""Articles of PubMed that judgments name, fetched from NCBI's E-utilities by their PMIDs.

A batch of articles is a file named after its ids, so an interrupted build continues. NCBI
(https://www.ncbi.nlm.nih.gov/books/NBK25497/) allows three calls a second, ten with an API key.
efetch silently leaves out ids that PubMed does not have, and answers a list with no good id with an
error. Failures behind NCBI's front come as XML or JSON with status 400 or 200.
"""

from __future__ import annotations

import heapq
import io
import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.documents.jsonlines import (
    FieldNames,
    JsonLinesCorpus,
    json_line,
    pack,
    write_documents,
)
from irplatform.documents.pubmed import FIELDS, Article
from irplatform.documents.pubmed_files import read_articles
from irplatform.errors import InputError, PlatformError, counted
from irplatform.files.digests import fingerprint
from irplatform.files.journals import is_kept, keep
from irplatform.files.resumable import resumable_folder
from irplatform.files.writing import atomic_write, refuse_taken
from irplatform.runs.bioasq import PMID
from irplatform.spelling import option
from irplatform.system.console import notice, progress
from irplatform.system.web import RateLimiter, TransientError, check_url, request, with_retries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Document, Qrels

EXPLAINED = r"<ERROR>|\"error\""
_ERROR = re.compile(
    r"<ERROR>(?P<xml>.*?)(?:</ERROR>|$)|\"error\"\s*:\s*\"(?P<json>[^\"]*)", re.DOTALL
)
_TAG = re.compile(r"<[^>]*>?")
_LOOKED_AT = 2_000
"""Characters at the beginning of an answer in which an error shows."""
_END = re.compile(rb"(?:</Pubmed(?:Book)?ArticleSet>|<Pubmed(?:Book)?ArticleSet\s*/>)\s*$")
BATCH = 200
"""Articles a call. NCBI asks for POST beyond that many ids."""
NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
_RATE = 3.0
_RATE_WITH_KEY = 10.0
_FORMAT = 2
"""Version of the batches; when it changes, they are fetched anew."""
_BYTES_PER_ARTICLE = 15_000
_SECONDS_PER_CALL = 2.5
MISSING_FILE = "missing.tsv"
GONE = "PubMed does not have it"
WORK = "work"
"""The folder that an interrupted build leaves for the next one."""


@dataclass(frozen=True)
class Access:
    """The base URL of calls, their most per second, and the parameters of every call."""

    url: str
    rate: float
    identity: dict[str, str]

    def __str__(self) -> str:
        key = " with NCBI_API_KEY" if "api_key" in self.identity else ""
        return f"{self.url}, at most {self.rate:g} calls a second{key}"


def access(email: str | None = None, rate: float | None = None) -> Access:
    """The access by `NCBI_API_KEY`, and `IRPLATFORM_EUTILS_URL` for a mirror.

    `rate` are calls a second instead of NCBI's 3 or 10.

    Raises:
        InputError: the address or the URL is not valid, or NCBI does not allow the rate.
    """
    url = check_url(os.environ.get("IRPLATFORM_EUTILS_URL") or NCBI, "IRPLATFORM_EUTILS_URL")
    key = os.environ.get("NCBI_API_KEY", "").strip()
    allowed = _RATE_WITH_KEY if key else _RATE
    if rate is not None and not 0 < rate < float("inf"):
        raise InputError(f"{option('rate')} must be a number above 0.")
    if rate is not None and rate > allowed and url == NCBI:
        hint = "" if key else f" With an API key in NCBI_API_KEY it takes {_RATE_WITH_KEY:g}."
        raise InputError(f"NCBI takes {allowed:g} calls a second, not {rate:g}.{hint}")
    identity = {"tool": "irplatform"}
    if email:
        if not all(email.partition("@")) or email.split() != [email]:
            raise InputError(f"{option('email')}: {email!r} is not an e-mail address.")
        identity["email"] = email
    if key:
        identity["api_key"] = key
    return Access(url, rate or allowed, identity)


def plan(articles: int, host: Access, *, batches: int) -> list[str]:
    """The number of calls, the size and the time, in lines for people."""
    calls = -(-articles // BATCH)
    rest = calls - batches
    minutes = rest * max(_SECONDS_PER_CALL, 1 / host.rate) / 60
    size = rest * BATCH * _BYTES_PER_ARTICLE / 1e6
    before = f" ({batches:,} of {calls:,} were made before)" if batches else ""
    lines = [
        f"{counted(articles, 'article')} from {host}: {counted(rest, 'call')} for {BATCH} articles "
        f"each{before}, roughly {size:,.0f} MB and {max(1, minutes):.0f} min"
    ]
    if host.url == NCBI and "email" not in host.identity:
        lines.append(f"no {option('email')}: NCBI asks for an address that it can write to")
    return lines


def fetch_articles(pmids: Sequence[str], access: Access, folder: Path) -> list[str]:
    """Fetch articles into a folder; return the ids that PubMed does not have.

    Missing articles are asked for once more, since an answer may leave out one that exists.
    """
    limiter = RateLimiter(access.rate)
    missing = list(pmids)
    for number, label in enumerate(("fetching articles", "asking again for missing articles")):
        ids, missing = missing, []
        if not ids:
            break
        with progress(label, len(ids)) as advance:
            for batch in _batches(ids):
                path = _path(folder, number, batch)
                if not is_kept(path):
                    _keep(_fetch(batch, access, limiter), path)
                fetched = {document.id for document in _documents([path])}
                missing += [pmid for pmid in batch if pmid not in fetched]
                advance(len(batch))
    return missing


def kept_batches(pmids: Sequence[str], folder: Path) -> int:
    """The number of batches that the first round of an earlier attempt kept."""
    return sum(is_kept(_path(folder, 0, batch)) for batch in _batches(pmids))


def fetched_documents(pmids: Sequence[str], folder: Path) -> Iterator[Document]:
    """The articles of a finished `fetch_articles` with the same arguments, by id."""
    first = [_path(folder, 0, batch) for batch in _batches(pmids)]
    rest = set(pmids) - {document.id for document in _documents(first)}
    second = [_path(folder, 1, batch) for batch in _batches(sorted(rest, key=int))]
    yield from heapq.merge(
        _documents(first), _documents(second), key=lambda document: int(document.id)
    )


def _batches(pmids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(pmids), BATCH):
        yield pmids[start : start + BATCH]


def _path(folder: Path, number: int, batch: Sequence[str]) -> Path:
    mark = fingerprint({"format": _FORMAT, "round": number, "ids": list(batch)})
    return folder / f"{mark}.jsonl.gz"


def _documents(paths: Sequence[Path]) -> JsonLinesCorpus:
    return JsonLinesCorpus("batches", paths, FieldNames(fields=FIELDS))


def _fetch(batch: Sequence[str], access: Access, limiter: RateLimiter) -> list[Article]:
    """The articles of a batch that exist, in its order."""
    form = {**access.identity, "db": "pubmed", "retmode": "xml", "id": ",".join(batch)}
    pmids = set(batch)

    def call() -> dict[str, Article]:
        with limiter.call():
            status, body = request("POST", f"{access.url}/efetch.fcgi", form, explained=EXPLAINED)
        return read_answer(status, body, pmids)

    articles = with_retries(call, "E-utilities")
    return [articles[pmid] for pmid in batch if pmid in articles]


def _keep(articles: Sequence[Article], path: Path) -> None:
    buffer = io.BytesIO()
    with pack(buffer) as packed:
        packed.writelines(json_line(article.document()) for article in articles)
    keep(path, buffer.getvalue())


def read_answer(status: int, body: bytes, pmids: Collection[str]) -> dict[str, Article]:
    """The articles in an answer, by PMID: of those asked for, the latest version of each.

    Raises:
        TransientError: it is an error that may pass, is cut off, or is not PubMed's XML.
        PlatformError: NCBI does not know the API key.
    """
    if (error := _error(body)) is not None:
        if error.startswith("ID list is empty"):
            return {}
        if error.startswith("API key") and "invalid" in error:
            raise PlatformError(f"NCBI: {error}. Correct NCBI_API_KEY, or unset it.")
        raise TransientError(f"it answers with an error: {error}")
    if status != 200:
        raise TransientError(f"it answers with status {status}")
    if not _END.search(body[-_LOOKED_AT:]):
        raise TransientError("the answer is cut off, or not PubMed's XML")
    articles: dict[str, Article] = {}
    try:
        for article in read_articles(io.BytesIO(body), "answer of efetch"):
            if not isinstance(article, Article) or article.pmid not in pmids:
                continue
            previous = articles.get(article.pmid)
            if previous is None or article.version > previous.version:
                articles[article.pmid] = article
    except InputError as error:
        reason = str(error).partition(". ")[0]  # its advice is for files
        raise TransientError(f"the answer cannot be read: {reason}") from error
    return articles


def _error(body: bytes) -> str | None:
    """The error in an answer, without mark-up; None for another answer."""
    beginning = body[:_LOOKED_AT].decode(errors="replace")
    if "Article>" in beginning or (match := _ERROR.search(beginning)) is None:
        return None
    reason = match["xml"] if match["xml"] is not None else match["json"]
    return " ".join(_TAG.sub(" ", reason).split()).rstrip(".") or "no reason given"


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
        output = write_documents(fetched_documents(pmids, work), partial)
        topics = {
            f"{number} {topic}": grades
            for number, qrels in enumerate(judged)
            for topic, grades in qrels.items()
        }
        write_missing(partial, {"": topics}, missing)
        shutil.rmtree(work)
    return FetchedArticles(output.files, output.fields, output.count, chapters, missing)


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
    lines = plan(len(pmids), server, batches=kept_batches(pmids, work))
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
    """Return the folder of fetched batches, and remove other folders of interrupted attempts."""
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
    columns = [f"{kind}{ending}" for ending in judged for kind in ("judged", "relevant")]
    with atomic_write(folder / MISSING_FILE) as file:
        file.write("\t".join(["doc_id", "reason", *columns]) + "\n")
        for document_id, reason in missing.items():
            counts = []
            for qrels in judged.values():
                grades = [g[document_id] for g in qrels.values() if document_id in g]
                counts += [str(len(grades)), str(sum(grade > 0 for grade in grades))]
            file.write("\t".join([document_id, reason, *counts]) + "\n")
