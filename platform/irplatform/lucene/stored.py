"""Existing indexes of Anserini: their stored documents, in whatever form they were indexed.

Anserini keeps the original record of a document as `raw` (`-storeRaw`) or its searched text as
`contents` (`-storeContents`). A record in JSON has its title and text under one of several names;
of any other record, such as TREC's SGML, the text without tags is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.data import Document, FieldValue
from irplatform.errors import InputError
from irplatform.files.digests import file_digest
from irplatform.lucene.java import java_class
from irplatform.lucene.transfer import TITLE_LENGTH, from_record
from irplatform.spelling import option
from irplatform.text.tokenizer import composed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_TEXTS = ("abstract", "text", "contents", "body", "content", "passage", "segment")
"""Keys that can have a document's text, best first."""
_NOT_FIELDS = frozenset({"id", "_id", "docid", "title", "vector", "raw"})
_TAGS = re.compile(r"<[^<>]*>")


def open_reader(path: Path) -> Any:
    """Return Lucene's reader of an existing index.

    Raises:
        InputError: there is no index, Lucene cannot read it, or it does not store its documents.
    """
    if not any(path.glob("segments_*")):
        raise InputError("there is no Lucene index in this folder.", path=path)
    utilities = java_class("io.anserini.index.IndexReaderUtils")  # starts Java
    from jnius import JavaException

    try:
        reader = utilities.getReader(str(path))
    except JavaException as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"Lucene cannot read this index: {reason}. Was it built by another version?", path=path
        ) from error
    first = next(iter(_numbers(reader)), None)
    document = None if first is None else reader.storedFields().document(first)
    if document is None or document.get("id") is None or not _record(document):
        raise InputError(
            "this index does not store its documents, which rerankers read. Build it with "
            f"Anserini's -storeRaw or -storeContents, or leave {option('index')} out.",
            path=path,
        )
    return reader


def check_feedback(reader: Any, path: Path) -> None:
    """Refuse feedback on an index without the words of its documents.

    Raises:
        InputError: it stores neither records nor document vectors.
    """
    number = next(iter(_numbers(reader)))
    raw = reader.storedFields().document(number).get("raw")
    if raw is None and reader.termVectors().get(number) is None:
        raise InputError(
            "rm3 reads the words of documents, and this index has none. Build it with Anserini's "
            "-storeRaw or -storeDocvectors, or take another retriever.",
            path=path,
        )


def index_mark(path: Path) -> str:
    """Return the identity of an index: the SHA-256 of its list of segments, each with an id."""
    files = sorted(path.glob("segments_*"), key=lambda file: int(file.name[9:], 36))
    return file_digest(files[-1])


def all_documents(reader: Any) -> Iterator[Document]:
    """Yield the stored documents of an index, in its order."""
    stored = reader.storedFields()
    for number in _numbers(reader):
        document = stored.document(number)
        yield from_stored(document.get("id"), _record(document))


def records_of(reader: Any, doc_ids: Iterable[str]) -> dict[str, str]:
    """Return the stored records of documents by id, without ids that are not in the index."""
    utilities = java_class("io.anserini.index.IndexReaderUtils")
    records = {}
    for doc_id in doc_ids:
        if (document := utilities.document(reader, doc_id)) is not None:
            records[doc_id] = _record(document)
    return records


def from_stored(doc_id: str, record: str) -> Document:
    """Return the document of a record, JSON or not."""
    try:
        parsed = orjson.loads(record)
    except orjson.JSONDecodeError:
        parsed = None
    if not isinstance(parsed, dict):
        text = _TAGS.sub(" ", record) if record.lstrip().startswith("<") else record
        return Document(doc_id, "", composed(" ".join(text.split())))
    if isinstance(parsed.get(TITLE_LENGTH), int):  # of an index that the platform built
        return from_record(record)
    title = _text(parsed.get("title"))
    name = next((name for name in _TEXTS if isinstance(parsed.get(name), str)), "")
    text = _text(parsed.get(name)).strip()
    if name == "contents":
        text = text.removeprefix(title).strip()
    fields = parsed.get("fields") if isinstance(parsed.get("fields"), dict) else parsed
    left_out = {name, *_NOT_FIELDS, *_TEXTS}
    values = {key: _value(value) for key, value in (fields or {}).items() if key not in left_out}
    entries = {key: value for key, value in values.items() if value is not None}
    return Document(doc_id, composed(title), composed(text), entries)


def _record(document: Any) -> str:
    """A document's record, or else its text; "" if neither is stored."""
    return str(document.get("raw") or document.get("contents") or "")


def _numbers(reader: Any) -> Iterator[int]:
    """Lucene's numbers of the documents that were not deleted."""
    live = java_class("org.apache.lucene.index.MultiBits").getLiveDocs(reader)
    return (n for n in range(reader.maxDoc()) if live is None or live.get(n))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _value(value: object) -> FieldValue | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    return None


def fields_of(documents: Iterable[Document]) -> tuple[str, ...]:
    """Return the names of the fields of documents."""
    names: Mapping[str, None] = {name: None for document in documents for name in document.fields}
    return tuple(names)
