"""A citing sentence as a query of a folder in BEIR layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.retrieval.dates import PUBLISHED_BEFORE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections.beir_files import BeirWriter
    from irplatform.judgments.citations.articles import CitingArticle, CitingSentence


def write_sentence(
    files: BeirWriter,
    split: str,
    article: CitingArticle,
    sentence: CitingSentence,
    cited: Sequence[str],
    *,
    limited: bool,
) -> None:
    """Write a sentence and its judgments.

    Args:
        files: writes the folder.
        split: of the citing article.
        article: the citing article.
        sentence: one of its sentences.
        cited: ids of the documents that it cites, each once: the relevant ones.
        limited: whether it may only be answered with documents from before the article's year.
    """
    name = f"{article.id}#{sentence.number}"
    metadata = {
        "citing_id": article.id,
        "section": sentence.section,
        "year": article.year,
    }
    if limited and article.year:
        metadata[PUBLISHED_BEFORE] = article.year
    files.query(name, sentence.text, metadata)
    files.judge(split, name, dict.fromkeys(cited, 1))
