"""Moving many search results from Java to Python in one call, and many document ids to Java.

Reading a Java object's attribute from Python costs microseconds, and a topic set has millions of
hits. Jackson, which is in Anserini's jar, writes a whole result list as one JSON string instead;
the document ids come with it, out of the index's doc values, without any stored document being
decompressed. It reads one, too: making a Java object from Python costs more than a look at it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from irplatform.lucene.java import java_class, java_list
from irplatform.runs import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def best_first() -> Any:
    """Lucene's form of the one order of runs: score descending, then id descending.

    Lucene applies it where it cuts at the depth, too, so that of equal documents always the same
    ones are found. It compares ids as UTF-8, which is Python's order of strings.
    """
    field = java_class("org.apache.lucene.search.SortField")
    by_value = java_class("org.apache.lucene.search.SortField$Type").STRING_VAL
    by_id = field("id", by_value, True)
    return java_class("org.apache.lucene.search.Sort")(field.FIELD_SCORE, by_id)


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


def ranking(hits: Any) -> Ranking:
    """What Lucene found (a `TopFieldDocs` in the order of `best_first`) as a ranking."""
    score_docs = orjson.loads(_mapper().writeValueAsString(hits))["scoreDocs"]
    scores = np.array([hit["fields"][0] for hit in score_docs], dtype=np.float32)
    scores.flags.writeable = False
    ids = tuple(_bytes(hit["fields"][1][1:-1]).decode() for hit in score_docs)
    return Ranking(ids, scores)  # already in order: Ranking.of would only find that out again


def _bytes(hexadecimal: str) -> bytes:
    """The bytes that Lucene writes as "70 6d 1": those below 16 have one digit."""
    try:
        return bytes.fromhex(hexadecimal)
    except ValueError:
        return bytes(int(digits, 16) for digits in hexadecimal.split())


@cache
def _references_reader() -> Any:
    """Reads [{"bytes": base 64, "length": number}, …] as a Java list of `BytesRef`."""
    reference = java_class("java.lang.Class").forName("org.apache.lucene.util.BytesRef")
    mapper = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
    return mapper.readerForListOf(reference)


def byte_references(doc_ids: Iterable[str]) -> Any:
    """Document ids as Lucene holds them: a Java list of `BytesRef`, of their UTF-8."""
    references = [
        {"bytes": b64encode(encoded).decode(), "length": len(encoded)}
        for encoded in map(str.encode, doc_ids)
    ]
    return _references_reader().readValue(orjson.dumps(references).decode())


def stored_records(searcher: Any, doc_ids: Iterable[str], threads: int) -> dict[str, str]:
    """The stored records of some documents; ids that are not in the index are left out."""
    fetched = searcher.batch_get_docs(java_list(doc_ids), threads)
    documents = orjson.loads(_mapper().writeValueAsString(fetched))
    # The stored fields of a document are the id and the record, in this order.
    return {
        doc_id: document["fields"][-1]["charSequenceValue"]
        for doc_id, document in documents.items()
    }
