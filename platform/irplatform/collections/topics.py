"""Reads a file of topics in one of the formats that are known here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collections import (
    topic_objects as objects,
)
from irplatform.collections import (
    trec_topics as trec,
)
from irplatform.collections import (
    trec_topics as trec_pm,
)
from irplatform.collections.jsonlines import check_id
from irplatform.collections.trec_topics import ID_NAMES, TEXTS, TopicRecord, plain_name
from irplatform.data import Topic
from irplatform.errors import InputError, counted, did_you_mean, listing
from irplatform.runs.bioasq import read_questions
from irplatform.system.console import notice_once
from irplatform.system.reading import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from irplatform.data import FieldValue


# Questions of BioASQ's task b, as topics.


def read_bioasq(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the fields `body` and, where it is known, `type`."""
    for question in read_questions(path):
        fields = {"body": question.body, "type": question.type}
        yield TopicRecord(question.id, {name: text for name, text in fields.items() if text})


# The template that makes a query from a topic's fields, as in `"{disease} {gene}"`.
#
# It knows placeholders and nothing else. `str.format` would also follow attributes and indexes of
# whatever it is given, which a file of data must not be able to ask for.

_PLACEHOLDER = re.compile(r"\{\s*([^\s{}](?:[^{}]*[^\s{}])?)\s*\}")


@dataclass(frozen=True)
class QueryTemplate:
    """A query with placeholders for fields."""

    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that it asks for."""
        return tuple(_PLACEHOLDER.findall(self.text))

    def check_syntax(self) -> None:
        """Refuse a template without placeholders, or with a brace out of place."""
        rest = _PLACEHOLDER.sub("", self.text)
        if not self.names or "{" in rest or "}" in rest:
            raise InputError(
                f"the query template {self.text!r} is not right: put names of fields in braces, as "
                'in "{disease} {gene}".'
            )

    def check(self, known: Iterable[str]) -> None:
        """Refuse a template that is malformed or asks for a field which no topic has."""
        self.check_syntax()
        fields = sorted(known)
        for name in self.names:
            if name not in fields:
                guess = did_you_mean(name, fields)
                raise InputError(
                    f"the query template {self.text!r} asks for the field '{name}', which no topic "
                    f"has. {guess}{' ' if guess else ''}Fields: {', '.join(fields) or 'none'}. "
                    "`query` under [topics] in a collection.toml names those to search."
                )

    def fill(self, fields: Mapping[str, FieldValue]) -> str:
        """The query of a topic; a field that it lacks adds nothing."""
        filled = _PLACEHOLDER.sub(lambda match: _flat(fields.get(match[1], "")), self.text)
        return " ".join(filled.split())


def _flat(value: FieldValue) -> str:
    return value if isinstance(value, str) else " ".join(value)


# Topics as two columns parted by a tab: id and query. A header (`qid query`) is passed over.


def read_tsv(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the field `query`."""
    for number, line in numbered_lines(path):
        columns = decoded(line, path, number).rstrip("\r\n").split("\t")
        if len(columns) != 2:
            raise InputError(
                f"{counted(len(columns), 'column')}. Every line needs two, parted by a tab: "
                "id query.",
                path=path,
                line=number,
            )
        if number == 1 and _is_header(*columns):
            notice_once(f"{path}: the first line is taken for a header: {', '.join(columns)}")
            continue
        check_id(columns[0], path, number)
        yield TopicRecord(columns[0], {"query": " ".join(columns[1].split())}, number)


def _is_header(first: str, second: str) -> bool:
    """Whether cells are the usual names of an id and a query."""
    texts = map(plain_name, (*TEXTS, "queries"))
    return plain_name(first) in ID_NAMES and plain_name(second) in texts


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
    "bioasq": Format(read_bioasq, '{"questions": [{"id": …, "body": …}]}', ("{body}",)),
    "biogen": _JSON,
    "json": _JSON,
    "jsonl": _JSON,
    "trec": Format(trec.read_trec, "<top><num> 1 <title> …</top>", ("{title}",)),
    "trec-pm": Format(
        trec_pm.read_trec_pm,
        '<topic number="1">…</topic>',
        ("{disease} {gene} {treatment}", "{disease} {gene}"),
    ),
    "tsv": Format(read_tsv, "1, tab, query", ("{query}",)),
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
