"""Documents in the forms that clients of rerankers send, read in one place.

A document is a text, or an object with a text under the key of Cohere, Jina, LangChain, Haystack or
LlamaIndex, or under those that `rank_fields` names. An object without words that are read is
refused: it would have the score of an empty text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

from irplatform.errors import listing, quoted

TEXT_KEYS = ("text", "content", "page_content", "contents", "abstract")
"""Keys of a text; the first that has words is read."""
_ELSEWHERE = ("texts", "input", "passages", "docs")
"""Keys that other services have for `documents`."""


def read_documents(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request whose documents are objects with the fields of `requests.Text`.

    Raises:
        ValueError: a document has no words that are read; its place and keys are told.
    """
    documents, names = request.get("documents"), request.get("rank_fields") or []
    if isinstance(documents, str):
        with suppress(ValueError, RecursionError):  # models that call tools write lists so
            documents = json.loads(documents)
    other = next((key for key in _ELSEWHERE if key in request), None)
    if documents is None and other:
        raise ValueError(f"documents: missing. They are read here, not under '{other}'")
    has_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not (has_names and isinstance(documents, list)):
        return dict(request)  # which the fields of the request refuse
    read = []
    for number, document in enumerate(documents):
        try:
            read.append(_read(document, names))
        except ValueError as error:
            raise ValueError(f"documents.{number}: {error}") from None
    return {**request, "documents": read}


def _read(document: Any, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(document, str):
        return {"text": document, "sent": {"text": document}}
    if not isinstance(document, Mapping):
        raise ValueError(f"{quoted(document)} is neither a text nor an object with one")
    fields, doc_id = document.get("fields") or {}, document.get("id")
    values, spellings = {**document}, {str(key).lower(): key for key in document}
    keys = [spellings[name] for name in ("title", *TEXT_KEYS) if name in spellings]
    if names:  # a search engine's hit has them in its fields
        values = {**(fields if isinstance(fields, Mapping) else {}), **document}
        fields, keys = {}, [name for name in names if name in values]
    texts = {key: text for key in keys if (text := _text(key, values[key])) is not None}
    title = next((texts.pop(key) for key in keys if key.lower() == "title" and key in texts), "")
    if not names:
        first = next((key for key, text in texts.items() if text.strip()), next(iter(texts), ""))
        texts = {key: text for key, text in texts.items() if key == first}
    text = " ".join(texts.values())
    read = (*texts, "id", "fields", *(key for key in keys if key.lower() == "title"))
    worded = [
        k for k, v in document.items() if k not in read and isinstance(v, str | list | dict) and v
    ]
    unread = [] if names else worded
    if title.strip() or text.strip() or (texts and not names and not unread):
        origin = {"sent": dict(document), "unread": unread}
        return {"title": title, "text": text, "fields": fields, **origin}
    is_id = isinstance(doc_id, str | int) and not isinstance(doc_id, bool) and doc_id != ""
    if is_id and not (names or unread or fields):
        return {"id": str(doc_id), "sent": dict(document)}
    places, content = (
        listing(map(quoted, k), 12) for k in (names or ("title", *TEXT_KEYS), document)
    )
    advice = "" if names else ". Only text is read: name other keys that have some with rank_fields"
    raise ValueError(f"there are no words under {places} (keys: {content or 'none'}){advice}")


def _text(key: str, value: Any) -> str | None:
    """A value as text: of a string, a number, strings, or parts of a message; None for null."""
    parts = value if isinstance(value, list) else [value]
    texts = []
    for part in parts:
        text = (
            part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else part
        )
        number = isinstance(text, int | float) and not isinstance(text, bool) and isfinite(text)
        if not (number or text is None or isinstance(text, str)):
            raise ValueError(f"{quoted(key)} is {quoted(value)}, not a text")
        texts += [] if text is None else [str(text)]
    return None if value is None else " ".join(texts)
