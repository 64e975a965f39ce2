"""Documents in the forms that clients of rerankers send, read in one place.

A document is a text, or an object with a text under the key of Cohere, Jina, LangChain, Haystack or
LlamaIndex, or under those that `rank_fields` names. An object without words that are read is
refused: it would have the score of an empty text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from irplatform.errors import listing, quoted

TEXT_KEYS = ("text", "content", "page_content", "contents", "abstract")
"""Keys of a text; the first that has words is read."""
_ELSEWHERE = ("texts", "input", "passages", "docs")
"""Keys that other services have for `documents`."""


def read_documents(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request whose documents are texts, or objects with the keys of `requests.Text`.

    Raises:
        ValueError: a document has no words that are read; its place and keys are told.
    """
    documents, names = request.get("documents"), request.get("rank_fields")
    if documents is None:
        if other := next((key for key in _ELSEWHERE if key in request), None):
            raise ValueError(f"documents: missing. They are read here, not under '{other}'")
        return dict(request)
    if not isinstance(documents, list | tuple) or not isinstance(names or [], list):
        return dict(request)  # which the fields of the request refuse
    read = []
    for number, document in enumerate(documents):
        if not isinstance(document, Mapping):
            read.append(document)
            continue
        try:
            read.append(_ranked(document, names) if names else _usual(document))
        except ValueError as error:
            raise ValueError(f"documents.{number}: {error}") from None
    return {**request, "documents": read}


def _usual(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with a text, a title, or an id alone."""
    keys = {str(key).lower(): str(key) for key in reversed([*document])}
    texts = {n: _words(n, document[keys[n]]) for n in ("title", *TEXT_KEYS) if n in keys}
    title = texts.pop("title", None) or ""
    given = [name for name, text in texts.items() if text is not None]
    name = next((n for n in given if (texts[n] or "").strip()), given[0] if given else None)
    text = texts[name] if name else None
    used = {keys.get(n) for n in ("title", "id", "fields", name or "")}
    unread = [key for key, value in document.items() if key not in used and _has_words(value)]
    if title.strip() or (text or "").strip() or (text is not None and not unread):
        return {"title": title, "text": text or "", **_further(document, unread)}
    doc_id = document.get("id")
    if isinstance(doc_id, int) and not isinstance(doc_id, bool):
        doc_id = str(doc_id)
    if isinstance(doc_id, str) and doc_id and not unread and not document.get("fields"):
        return {"id": doc_id, "sent": dict(document)}
    raise ValueError(
        f"there are no words under {_listed(('title', *TEXT_KEYS))} (keys: {_listed(document)}). "
        "Only text is read: name other keys that have some with rank_fields"
    )


def _ranked(document: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A document whose words are those of some fields, in their order."""
    inner = document.get("fields")
    values = {**(inner if isinstance(inner, Mapping) else {}), **document}
    texts = {n: _words(n, values[n], numbers=True) for n in names if n in values}
    if not any((text or "").strip() for text in texts.values()):
        raise ValueError(
            f"there are no words under the rank_fields {_listed(names)} (keys: {_listed(document)})"
        )
    title = next((name for name in texts if name.lower() == "title"), "")
    rest = " ".join(text for name, text in texts.items() if name != title and text)
    return {"title": texts.get(title) or "", "text": rest, **_further(document, ())}


def _further(document: Mapping[str, Any], unread: Sequence[str]) -> dict[str, Any]:
    """What is sent back, what readers of fields see, and the keys that nobody reads."""
    fields = document.get("fields") or {}
    if isinstance(fields, Mapping):
        fields = {k: str(v) if isinstance(v, int | float) else v for k, v in fields.items()}
    return {"fields": fields, "sent": dict(document), "unread": [str(key) for key in unread]}


def _has_words(value: Any) -> bool:
    """Whether a value could have words: numbers, null and what is empty have none."""
    return bool(
        value.strip() if isinstance(value, str) else isinstance(value, list | dict) and value
    )


def _listed(keys: Iterable[object]) -> str:
    return listing([quoted(str(key)) for key in keys], 12)


def _words(key: str, value: Any, *, numbers: bool = False) -> str | None:
    """A value as text: a string, strings, or parts of a message; None for null."""
    if value is None or isinstance(value, str):
        return value
    if numbers and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return " ".join(_words(key, part, numbers=numbers) or "" for part in value)
    if isinstance(value, Mapping) and value.get("type") == "text":
        return _words(key, value.get("text"))
    raise ValueError(f"{quoted(key)} is {quoted(value)}, not a text")
