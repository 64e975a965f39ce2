"""From ir_datasets' records to documents and topics.

Every dataset has record classes of its own (named tuples). What they share are the names of their
entries, so one mapping by name serves all; a record without a text of its own gives the text that
its class calls the default one. The body of a full text goes on where its abstract ends, and so do
a clinical trial's description and criteria: what is searched is all of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from irplatform.data import Document, FieldValue, Topic

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXTS = ("abstract", "text", "summary", "body", "contents", "content", "main_content")
"""Entries that can be a document's abstract, best first."""
_FURTHER = ("detailed_description", "eligibility", "body")
"""Entries that an abstract of another name goes on with; a body may be in sections."""
_QUERIES = ("text", "title", "query", "description")
"""Entries that can be a query, best first, where a class has no default text."""
_NEEDS = ("disease", "gene", "treatment")
"""Parts of a precision medicine topic that make its query, as in TREC PM's baselines."""


_WORD = re.compile(r"\w+")
_PLAIN_TYPES = {
    "class", "typing", "str", "int", "float", "bool", "list", "tuple",
    "List", "Tuple", "Optional", "Union", "NoneType",
}  # fmt: skip
"""Words of the types whose values can be a field: texts, numbers and lists of them."""


@dataclass(frozen=True)
class Layout:
    """Which entries of a record class become which part of a document."""

    title: str
    abstract: str
    further: tuple[str, ...]
    fields: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Names of all that is the title or the abstract."""
        return (self.title, self.abstract, *self.further)


@cache
def layout(record_class: type) -> Layout:
    """The layout of a record class (a named tuple's)."""
    types: Mapping[str, object] = record_class.__annotations__
    title = "title" if types.get("title") is str else ""
    abstract = next((name for name in _TEXTS if types.get(name) is str), "")
    further = [n for n in _FURTHER if n in types and n != abstract and types[n] is not bytes]
    texts = (title, abstract, *further) if abstract else (title,)
    rest = (name for name in types if name not in ("doc_id", "query_id", *texts))
    fields = (name for name in rest if set(_WORD.findall(str(types[name]))) <= _PLAIN_TYPES)
    return Layout(title, abstract, tuple(further) if abstract else (), tuple(fields))


def document(record: Any) -> Document:
    """A record as a document."""
    names = layout(record.__class__)
    title = (getattr(record, names.title) or "") if names.title else ""
    if names.further:
        texts = (_running(getattr(record, name)) for name in (names.abstract, *names.further))
        abstract = "\n".join(filter(None, texts))
    elif names.abstract:
        abstract = getattr(record, names.abstract) or ""
    else:  # a record without any text is an empty document, which is told where they are counted
        abstract = getattr(record, "default_text", str)().removeprefix(title).strip()
    return Document(record.doc_id, title, abstract, _fields(record, names.texts))


def topic(record: Any) -> Topic:
    """A record as a topic; its entries are the fields, without those that are empty.

    Line breaks and indentation of the file that it was in are not part of them.
    """
    raw = _fields(record, ())
    flat = {n: " ".join(v.split()) if isinstance(v, str) else v for n, v in raw.items()}
    fields = {name: value for name, value in flat.items() if value}
    return Topic(record.query_id, _query(record, fields), fields)


def _running(text: Any) -> str:
    """A text, or the headings and texts of its sections, one after the other."""
    if isinstance(text, str):
        return text
    return "\n".join(part for section in text or () for part in section if part)


def _query(record: Any, fields: Mapping[str, FieldValue]) -> str:
    if "disease" in fields and "gene" in fields:
        query = " ".join(str(fields[name]) for name in _NEEDS if name in fields)
    elif hasattr(record, "default_text"):
        query = record.default_text()
    else:
        query = next((str(fields[name]) for name in _QUERIES if name in fields), "")
    return " ".join(query.split())


def _fields(record: Any, without: tuple[str, ...]) -> dict[str, FieldValue]:
    fields: dict[str, FieldValue] = {}
    for name, value in zip(record._fields, record, strict=True):
        if name in ("doc_id", "query_id", *without):
            continue
        entries = value.items() if isinstance(value, dict) else [(name, value)]
        for key, entry in entries:
            if (text := _as_text(entry)) is not None:
                fields[key] = text
    return fields


def _as_text(value: object) -> FieldValue | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(v, str | int | float) for v in value):
        return tuple(str(item) for item in value)
    return None
