"""Lines of the files of a folder in BEIR layout, as `beir` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.plugin import Document

QRELS_HEADER = b"query-id\tcorpus-id\tscore\n"


def query_line(query_id: str, text: str, metadata: Mapping[str, object] | None = None) -> bytes:
    """A line of queries.jsonl; metadata become fields of the topic."""
    named = {"_id": query_id, "text": text}
    held = named if metadata is None else {**named, "metadata": dict(metadata)}
    return orjson.dumps(held, option=orjson.OPT_APPEND_NEWLINE)


def document_line(document: Document, *, fields: bool = True) -> bytes:
    """A line of corpus.jsonl, with the document's fields or without."""
    named = {"_id": document.id, "title": document.title, "text": document.abstract}
    held = {**named, "metadata": dict(document.fields)} if fields else named
    return orjson.dumps(held, option=orjson.OPT_APPEND_NEWLINE)


def qrels_line(query_id: str, document_id: str, grade: int) -> bytes:
    """A line of qrels/<split>.tsv."""
    return f"{query_id}\t{document_id}\t{grade}\n".encode()
