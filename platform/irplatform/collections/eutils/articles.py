"""Fetches articles by their PMIDs in batches, and keeps each batch as it comes.

A batch is a file that appears when it is complete, named after the ids in it: whatever interrupts
the work, the next attempt goes on after the last complete batch and ends with the same files.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from irplatform import storage
from irplatform.collections.corpus import FieldNames, JsonLinesCorpus
from irplatform.collections.eutils.access import BATCH, Access
from irplatform.collections.eutils.answers import EXPLAINED, read_answer
from irplatform.collections.pubmed.record import FIELDS
from irplatform.collections.web import RateLimiter, request, with_retries
from irplatform.collections.write import json_line, pack
from irplatform.console import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.collections.pubmed import Article
    from irplatform.plugin import Document

_FORMAT = 2
"""Version of what a batch holds: a change fetches anew."""
_SERVER = "E-utilities"


def fetch_articles(pmids: Sequence[str], access: Access, folder: Path) -> list[str]:
    """Fetch articles into a folder, except for batches that lie there already.

    What the first round does not bring is asked for once more: now and then an answer leaves out an
    article that exists.

    Args:
        pmids: in ascending order, each once.
        access: how to call.
        folder: where batches are kept.

    Returns:
        The ids that PubMed does not have.

    Raises:
        PlatformError: the server cannot be asked, or keeps failing.
    """
    limiter = RateLimiter(access.rate)
    missing = list(pmids)
    for number, label in enumerate(("fetching articles", "asking again for missing articles")):
        wanted, missing = missing, []
        if not wanted:
            break
        with progress(label, len(wanted)) as advance:
            for batch in _batches(wanted):
                path = _path(folder, number, batch)
                if not path.exists():
                    _keep(_fetch(batch, access, limiter), path)
                fetched = {document.id for document in _documents([path])}
                missing += [pmid for pmid in batch if pmid not in fetched]
                advance(len(batch))
    return missing


def kept_batches(pmids: Sequence[str], folder: Path) -> int:
    """How many batches of the first round an earlier attempt has kept."""
    return sum(_path(folder, 0, batch).exists() for batch in _batches(pmids))


def fetched_documents(pmids: Sequence[str], folder: Path) -> Iterator[Document]:
    """The articles of a finished `fetch_articles`, which had the same arguments, by their ids."""
    first = [_path(folder, 0, batch) for batch in _batches(pmids)]
    left = set(pmids) - {document.id for document in _documents(first)}
    second = [_path(folder, 1, batch) for batch in _batches(sorted(left, key=int))]
    yield from heapq.merge(
        _documents(first), _documents(second), key=lambda document: int(document.id)
    )


def _batches(pmids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(pmids), BATCH):
        yield pmids[start : start + BATCH]


def _path(folder: Path, number: int, batch: Sequence[str]) -> Path:
    mark = storage.fingerprint({"format": _FORMAT, "round": number, "ids": list(batch)})
    return folder / f"{mark}.jsonl.gz"


def _documents(paths: Sequence[Path]) -> JsonLinesCorpus:
    return JsonLinesCorpus("batches", paths, FieldNames(fields=FIELDS))


def _fetch(batch: Sequence[str], access: Access, limiter: RateLimiter) -> list[Article]:
    """The articles of a batch, in its order; those that there are."""
    form = {**access.identity, "db": "pubmed", "retmode": "xml", "id": ",".join(batch)}
    pmids = set(batch)

    def call() -> dict[str, Article]:
        with limiter.call():
            status, body = request("POST", f"{access.url}/efetch.fcgi", form, explained=EXPLAINED)
        return read_answer(status, body, pmids)

    articles = with_retries(call, _SERVER)
    return [articles[pmid] for pmid in batch if pmid in articles]


def _keep(articles: Sequence[Article], path: Path) -> None:
    with storage.atomic_write(path, "wb") as raw, pack(raw) as packed:
        for article in articles:
            packed.write(json_line(article.document()))
