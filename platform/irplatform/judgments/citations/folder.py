"""Writes citing sentences as a folder in BEIR layout, as they come."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from irplatform.collections.beir_files import QRELS_HEADER, qrels_line, query_line
from irplatform.retrieval.dates import PUBLISHED_BEFORE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.judgments.citations.articles import CitingArticle, CitingSentence


class SentenceWriter:
    """Writes queries.jsonl and qrels/<split>.tsv.

    Args:
        folder: an empty folder.
        limited: whether sentences may only be answered with documents from before their year.
    """

    def __init__(self, folder: Path, *, limited: bool) -> None:
        self.folder = folder
        self.limited = limited
        self._open = ExitStack()
        self._qrels: dict[str, IO[bytes]] = {}

    def __enter__(self) -> SentenceWriter:
        (self.folder / "qrels").mkdir()
        self._queries = self._open.enter_context((self.folder / "queries.jsonl").open("wb"))
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def write(
        self, split: str, article: CitingArticle, sentence: CitingSentence, cited: Sequence[str]
    ) -> None:
        """Write a sentence and its judgments."""
        name = f"{article.id}#{sentence.number}"
        metadata = {
            "citing_id": article.id,
            "section": sentence.section,
            "year": article.year,
        }
        if self.limited and article.year:
            metadata[PUBLISHED_BEFORE] = article.year
        self._queries.write(query_line(name, sentence.text, metadata))
        if split not in self._qrels:
            path = self.folder / "qrels" / f"{split}.tsv"
            self._qrels[split] = self._open.enter_context(path.open("wb"))
            self._qrels[split].write(QRELS_HEADER)
        self._qrels[split].writelines(qrels_line(name, doc_id, 1) for doc_id in cited)
