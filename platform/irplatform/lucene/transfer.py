"""Documents and results on their way between Python and Java.

Documents become Anserini's JSON records, indexed and stored: searchable text (`contents`: title and
abstract), the length of the title in it, and the further fields. Jackson, from
Anserini's jar, writes a whole result list as one JSON string, since every access to a Java object
costs microseconds. Ids come from doc values; no stored document is decompressed.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from irplatform.data import Document, FieldValue
from irplatform.errors import InputError
from irplatform.lucene.dates import YEAR
from irplatform.lucene.java import java_cast, java_class, java_list
from irplatform.runs import Ranking
from irplatform.text.tokenizer import composed, is_folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


CONTENTS = "contents"
"""The field with title and abstract, which topics search."""
TITLE, ABSTRACT = "title", "abstract"
TITLE_LENGTH = "title_length"
"""The key of the number of characters of the title, with which `CONTENTS` begins."""
_OWN_NAMES = frozenset({"id", TITLE, ABSTRACT, CONTENTS, "fields", "raw", "entity"})
"""Names that a record or Anserini uses. Document fields with these names are not searchable."""
_SEPARATOR = " such that "
"""Joins the values of a field. These stop words leave a gap, so that no phrase spans two values."""
_NO_TEXT = "\u00a0"
"""Stands for missing text: Anserini refuses documents with blank contents (up to U+0020)."""
_BLANK = "".join(map(chr, range(33)))


def to_record(document: Document) -> str:
    """A document as JSON; InputError if its text is not valid Unicode."""
    title, abstract = composed(document.title), composed(document.abstract)
    text = f"{title} {abstract}"
    record: dict[str, object] = {"id": document.id}
    if text.strip(_BLANK):
        record |= {TITLE_LENGTH: len(title), CONTENTS: text}
    else:
        record |= {TITLE: title, ABSTRACT: abstract, CONTENTS: _NO_TEXT}
    if YEAR in document.fields:
        record[YEAR] = _joined(document.fields[YEAR])
    if document.fields:
        record["fields"] = dict(document.fields)
    try:
        return orjson.dumps(record).decode()
    except TypeError as error:
        raise InputError(f"document '{document.id}' cannot be indexed: {error}.") from error


def from_record(record: str) -> Document:
    """The document of a record; title and abstract are composed."""
    parsed = orjson.loads(record)
    if (length := parsed.get(TITLE_LENGTH)) is None:
        title, abstract = parsed[TITLE], parsed[ABSTRACT]
    else:
        title, abstract = parsed[CONTENTS][:length], parsed[CONTENTS][length + 1 :]
    return Document(
        id=parsed["id"],
        title=title,
        abstract=abstract,
        fields={
            name: value if isinstance(value, str) else tuple(value)
            for name, value in parsed.get("fields", {}).items()
        },
    )


def fields_record(record: str, names: Sequence[str]) -> str:
    """A record with some fields of a document to be indexed by name, from its stored record."""
    document = from_record(record)
    texts = {TITLE: document.title, ABSTRACT: document.abstract}
    fields = {name: _joined(document.fields[name]) for name in names if name in document.fields}
    entries = {name: text for name, text in (fields | texts).items() if name in names}
    return orjson.dumps({"id": document.id, CONTENTS: _NO_TEXT, **entries}).decode()


def _joined(value: FieldValue) -> str:
    return composed(value if isinstance(value, str) else _SEPARATOR.join(value))


def searchable(fields: Iterable[str]) -> list[str]:
    """The further fields of a corpus that can be searched by name."""
    return [name for name in fields if name not in _OWN_NAMES]


def is_changed(document: Document) -> bool:
    """Tell if composing changes a document more than NFC does."""
    texts = [text for name in document.fields for text in document.values(name)]
    return any(map(is_folded, (document.text, *texts)))


@cache
def best_first() -> Any:
    """The order of runs for Lucene: score descending, then id descending.

    Lucene also cuts in this order, so ties are always cut alike. It compares ids as UTF-8, which is
    Python's order of strings.
    """
    field = java_class("org.apache.lucene.search.SortField")
    by_value = java_class("org.apache.lucene.search.SortField$Type").STRING_VAL
    by_id = field("id", by_value, True)
    return java_class("org.apache.lucene.search.Sort")(field.FIELD_SCORE, by_id)


def ranking(hits: Any) -> Ranking:
    """A `TopFieldDocs` in the order of `best_first` as a ranking."""
    score_docs = orjson.loads(_mapper().writeValueAsString(hits))["scoreDocs"]
    scores = np.array([hit["fields"][0] for hit in score_docs], dtype=np.float32)
    scores.flags.writeable = False
    ids = tuple(_bytes(hit["fields"][1][1:-1]).decode() for hit in score_docs)
    return Ranking.in_order(ids, scores)


@cache
def _mapper() -> Any:
    """Writes a `TopFieldDocs` as {"scoreDocs": [{"fields": [score, "[id in hexadecimal]"]}, …]}."""
    class_of = java_class("java.lang.Class").forName
    ignoring = java_class("com.fasterxml.jackson.annotation.JsonIgnoreProperties$Value")
    mapper = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
    for name, ignored in (
        ("TopFieldDocs", ("fields", "totalHits")),
        ("FieldDoc", ("doc", "score", "shardIndex")),
    ):
        override = mapper.configOverride(class_of(f"org.apache.lucene.search.{name}"))
        override.setIgnorals(ignoring.forIgnoredProperties(*ignored))
    in_hexadecimal = java_class("com.fasterxml.jackson.databind.ser.std.ToStringSerializer")()
    module = java_class("com.fasterxml.jackson.databind.module.SimpleModule")()
    module.addSerializer(class_of("org.apache.lucene.util.BytesRef"), in_hexadecimal)
    mapper.registerModule(module)
    return mapper


def _bytes(hexadecimal: str) -> bytes:
    """The bytes that Lucene writes as "70 6d 1": those below 16 have one digit."""
    try:
        return bytes.fromhex(hexadecimal)
    except ValueError:
        return bytes(int(digits, 16) for digits in hexadecimal.split())


def stored_records(searcher: Any, doc_ids: Iterable[str], threads: int) -> dict[str, str]:
    """The stored records of documents, without ids that are not in the index."""
    fetched = searcher.batch_get_docs(java_list(doc_ids), threads)
    documents = orjson.loads(_mapper().writeValueAsString(fetched))
    # The stored fields of a document are the id and the record, in this order.
    return {
        doc_id: document["fields"][-1]["charSequenceValue"]
        for doc_id, document in documents.items()
    }


def byte_references(doc_ids: Iterable[str]) -> Any:
    """Document ids as Lucene holds them: a Java list of `BytesRef` with their UTF-8."""
    references = [
        {"bytes": b64encode(encoded).decode(), "length": len(encoded)}
        for encoded in (doc_id.encode(errors="surrogatepass") for doc_id in doc_ids)
    ]
    return _references_reader().readValue(orjson.dumps(references).decode())


@cache
def _references_reader() -> Any:
    """A reader of [{"bytes": base 64, "length": number}, …] as a Java list of `BytesRef`."""
    reference = java_class("java.lang.Class").forName("org.apache.lucene.util.BytesRef")
    mapper = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
    return mapper.readerForListOf(reference)


def texts_to_java(texts: Sequence[str]) -> Any:
    """Texts as a Java `ArrayList`, in one call."""
    lists = "java.util.ArrayList"
    list_class = java_class("java.lang.Class").forName(lists)
    return java_cast(lists, _mapper().readValue(orjson.dumps(texts).decode(), list_class))


def texts_to_python(lists: Any) -> list[list[str]]:
    """A Java list of lists of texts, in one call."""
    texts: list[list[str]] = orjson.loads(_mapper().writeValueAsString(lists))
    return texts
