"""Reads a file of topics in one of the formats that are known here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collections.topics import bioasq, objects, trec, trec_pm, tsv
from irplatform.collections.topics.record import plain_name
from irplatform.collections.topics.template import QueryTemplate
from irplatform.errors import InputError, listing
from irplatform.plugin import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from irplatform.collections.topics.record import TopicRecord


@dataclass(frozen=True)
class Format:
    """A file format of topics.

    Attributes:
        read: yields the topics of a file, in its order.
        topic: what a topic looks like.
        queries: templates where the collection gives none: the first whose fields topics have.
    """

    read: Callable[..., Iterator[TopicRecord]]
    topic: str
    queries: tuple[str, ...]

    def default_query(self, fields: Collection[str]) -> str:
        """The template for topics with these fields, however their names are spelled."""
        spelled = {plain_name(name): name for name in reversed([*fields])}
        for query in self.queries:
            names = [spelled.get(plain_name(name), "") for name in QueryTemplate(query).names]
            if all(names):
                return " ".join(f"{{{name}}}" for name in names)
        if len(self.queries) > 1:
            raise InputError(
                f"which fields make the query cannot be told: {listing(sorted(fields)) or 'none'}. "
                "`query` under [topics] in a collection.toml names them, as in "
                f"{self.queries[0]!r}."
            )
        return self.queries[-1]


_JSON = Format(objects.read, '{"id": "1", "query": "…"}', objects.QUERIES)
FORMATS: Mapping[str, Format] = {
    "beir": Format(objects.read_beir, '{"_id": "1", "text": "…"}', ("{text}",)),
    "bioasq": Format(bioasq.read, '{"questions": [{"id": …, "body": …}]}', ("{body}",)),
    "biogen": _JSON,
    "json": _JSON,
    "jsonl": _JSON,
    "trec": Format(trec.read, "<top><num> 1 <title> …</top>", ("{title}",)),
    "trec-pm": Format(
        trec_pm.read,
        '<topic number="1">…</topic>',
        ("{disease} {gene} {treatment}", "{disease} {gene}"),
    ),
    "tsv": Format(tsv.read, "1, tab, query", ("{query}",)),
}


def read_topics(
    path: Path, format_name: str, query: str | None = None, id_key: str | None = None
) -> list[Topic]:
    """Read topics.

    Args:
        path: the file.
        format_name: one of `FORMATS`.
        query: template of the first-stage query, or None for the format's own.
        id_key: for JSON, the key of the id, or None to find it by its name.

    Raises:
        InputError: the file is missing, empty or not in that format, an id comes twice, a query is
            empty, or the template asks for a field that no topic has.
    """
    topic_format = FORMATS[format_name]
    records: dict[str, TopicRecord] = {}
    for record in topic_format.read(path, id_key) if id_key else topic_format.read(path):
        if first := records.get(record.id):
            raise InputError(
                f"topic '{record.id}' comes twice"
                f"{f' (first in line {first.line})' if first.line else ''}.",
                path=path,
                line=record.line,
            )
        records[record.id] = record
    if not records:
        raise InputError(
            f"there are no topics here (read as '{format_name}': {topic_format.topic}).", path=path
        )
    fields = {name for record in records.values() for name in record.fields}
    template = QueryTemplate(query or topic_format.default_query(fields))
    template.check(fields)
    return [_topic(record, template, path) for record in records.values()]


def _topic(record: TopicRecord, template: QueryTemplate, path: Path) -> Topic:
    query = template.fill(record.fields)
    if not query:
        raise InputError(
            f"the query of topic '{record.id}', made by {template.text!r}, is empty.",
            path=path,
            line=record.line,
        )
    return Topic(record.id, query, record.fields)
