"""What efetch answers with: articles, or one of several kinds of error, some of them as successes.

An id that PubMed does not have is passed over in silence; a list with no good id at all is an
error. Failures behind NCBI's front are relayed as XML or JSON with status 400 or 200.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from irplatform.collections.pubmed import Article, read_articles
from irplatform.collections.web import TransientError
from irplatform.errors import InputError, PlatformError

if TYPE_CHECKING:
    from collections.abc import Collection

EXPLAINED = r"<ERROR>|\"error\""
"""Pattern of answers that say what is wrong."""
_ERROR = re.compile(
    r"<ERROR>(?P<xml>.*?)(?:</ERROR>|$)|\"error\"\s*:\s*\"(?P<json>[^\"]*)", re.DOTALL
)
_TAG = re.compile(r"<[^>]*>?")
_NO_IDS = "ID list is empty"
_BAD_KEY = "API key"
_LOOKED_AT = 2_000
"""Characters at the beginning of an answer in which an error shows."""
_END = re.compile(rb"(?:</Pubmed(?:Book)?ArticleSet>|<Pubmed(?:Book)?ArticleSet\s*/>)\s*$")


def read_answer(status: int, body: bytes, pmids: Collection[str]) -> dict[str, Article]:
    """The articles in an answer, by PMID: of those asked for, the latest version of each.

    Raises:
        TransientError: it is an error that may pass, is cut off, or is not PubMed's XML.
        PlatformError: NCBI does not know the API key.
    """
    if (error := _error(body)) is not None:
        if error.startswith(_NO_IDS):
            return {}
        if error.startswith(_BAD_KEY) and "invalid" in error:
            raise PlatformError(f"NCBI: {error}. Mend NCBI_API_KEY or leave it out.")
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
        what = str(error).partition(". ")[0]  # its advice is for files
        raise TransientError(f"the answer cannot be read: {what}") from error
    return articles


def _error(body: bytes) -> str | None:
    """What an answer says is wrong, without mark-up; None if it is not an error."""
    beginning = body[:_LOOKED_AT].decode(errors="replace")
    if "Article>" in beginning or (match := _ERROR.search(beginning)) is None:
        return None
    reason = match["xml"] if match["xml"] is not None else match["json"]
    return " ".join(_TAG.sub(" ", reason).split()).rstrip(".") or "no reason given"
