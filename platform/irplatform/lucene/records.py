"""Documents as Anserini's JSON records, which are both indexed and stored, and back.

A record has the text that is searched (`contents`, the title and abstract; and every field by its
own name) and, under `fields`, the document's further fields as they were, so that what is read
from the index equals what went in, but for title and abstract, which are composed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from irplatform.data import Document
from irplatform.errors import InputError
from irplatform.text.tokenizer import composed, is_folded

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTENTS = "contents"
"""The field with title and abstract, which topics search."""
TITLE = "title"
_OWN_NAMES = frozenset({"id", TITLE, "abstract", CONTENTS, "fields", "raw", "entity"})
"""Names that a record or Anserini uses: document fields called so are stored but not searchable."""

_SEPARATOR = " such that "
"""Joins the values of a field. Both are stop words: they are not indexed but leave a gap in the
positions, so that no phrase matches across two values."""

_NO_TEXT = "\u00a0"
"""Anserini refuses a document whose contents are blank in Java's eyes (up to U+0020); this is not
blank to it and has no words. An article without text can still be fetched by its id."""
_BLANK = "".join(map(chr, range(33)))


def searchable(fields: Iterable[str]) -> list[str]:
    """Those of a corpus's further fields that can be searched by name."""
    return [name for name in fields if name not in _OWN_NAMES]


def to_record(document: Document) -> str:
    """A document as JSON.

    Raises:
        InputError: it holds text that is not Unicode.
    """
    text = composed(document.text)
    record: dict[str, object] = {
        "id": document.id,
        TITLE: composed(document.title),
        "abstract": composed(document.abstract),
        CONTENTS: text if text.strip(_BLANK) else _NO_TEXT,
    }
    if document.fields:
        for name, value in document.fields.items():
            if name not in _OWN_NAMES:
                joined = value if isinstance(value, str) else _SEPARATOR.join(value)
                record[name] = composed(joined)
        record["fields"] = dict(document.fields)
    try:
        return orjson.dumps(record).decode()
    except TypeError as error:
        raise InputError(f"document '{document.id}' cannot be indexed: {error}.") from error


def is_changed(document: Document) -> bool:
    """Whether the words of a document are searched as others than it has (not "é" for "é")."""
    texts = [text for name in document.fields for text in document.values(name)]
    return any(map(is_folded, (document.text, *texts)))


def from_record(record: str) -> Document:
    """The document that `to_record` was given."""
    parsed = orjson.loads(record)
    return Document(
        id=parsed["id"],
        title=parsed[TITLE],
        abstract=parsed["abstract"],
        fields={
            name: value if isinstance(value, str) else tuple(value)
            for name, value in parsed.get("fields", {}).items()
        },
    )
