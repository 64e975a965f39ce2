"""Topics from files: JSON in several shapes, BioASQ's questions, tables, and TREC's formats.

JSON is one object a line (BEIR), a list of objects (EPIC-QA), one object with such a list in it
(`{"topics": […]}`, TREC BioGen), or objects or queries by their ids (`{"1": …}`). A template makes
a query from a topic's fields, as in `"{disease} {gene}"`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.collections.trec_topics import (
    ID_NAMES,
    TEXTS,
    TopicRecord,
    plain_name,
    read_trec,
    read_trec_pm,
)
from irplatform.data import Topic
from irplatform.documents import jsonlines
from irplatform.documents.jsonlines import check_id
from irplatform.errors import InputError, counted, did_you_mean, listing
from irplatform.files.formats import JSONError, parse_json, read_json
from irplatform.files.reading import decoded, numbered_lines
from irplatform.runs.bioasq import read_questions
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from irplatform.data import FieldValue

_LISTS = ("topics", "queries", "questions")
QUERIES = ("{title} {background} {problem_statement}", *(f"{{{name}}}" for name in TEXTS))
"""Templates of queries for JSON topics, the likeliest first."""
OTHER_KEYS = "Format 'json' reads topics of other keys, and lists of them."
_PLACEHOLDER = re.compile(r"\{\s*([^\s{}](?:[^{}]*[^\s{}])?)\s*\}")


def read_topics(
    path: Path, format_name: str, query: str | None = None, id_key: str | None = None
) -> list[Topic]:
    """Read topics in one of `FORMATS`.

    `query` is a template, by default the format's; `id_key` is the key of JSON's ids, by default
    found by its name.

    Raises:
        InputError: the file is missing, empty or not in that format, an id comes twice, a query is
            empty, or the template asks for a field that no topic has.
    """
    topic_format = FORMATS[format_name]
    records: dict[str, TopicRecord] = {}
    for record in topic_format.read(path, id_key) if id_key else topic_format.read(path):
        if first := records.get(record.id):
            place = f" (first in line {first.line})" if first.line else ""
            wrong = f"topic '{record.id}' comes twice{place}."
            raise InputError(wrong, path=path, line=record.line)
        records[record.id] = record
    if not records:
        raise InputError(
            f"there are no topics here (read as '{format_name}': {topic_format.topic}).", path=path
        )
    fields = {name for record in records.values() for name in record.fields}
    template = QueryTemplate(query or topic_format.default_query(fields))
    template.check(fields)
    topics = []
    for record in records.values():
        if not (query := template.fill(record.fields)):
            wrong = f"the query of topic '{record.id}', made by {template.text!r}, is empty."
            raise InputError(wrong, path=path, line=record.line)
        topics.append(Topic(record.id, query, record.fields))
    return topics


@dataclass(frozen=True)
class QueryTemplate:
    """A query with placeholders for fields.

    `str.format` would also follow attributes and indexes, which a data file must not be able to do.
    """

    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that it needs."""
        return tuple(_PLACEHOLDER.findall(self.text))

    def check_syntax(self) -> None:
        """Refuse a template without placeholders, or with a brace out of place."""
        rest = _PLACEHOLDER.sub("", self.text)
        if not self.names or "{" in rest or "}" in rest:
            raise InputError(
                f"the query template {self.text!r} is not right: put names of fields in braces, as "
                'in "{disease} {gene}".'
            )

    def check(self, names: Iterable[str]) -> None:
        """Refuse a template that is malformed or needs a field that no topic has."""
        self.check_syntax()
        fields = sorted(names)
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

        def text(match: re.Match[str]) -> str:
            value = fields.get(match[1], "")
            return value if isinstance(value, str) else " ".join(value)

        return " ".join(_PLACEHOLDER.sub(text, self.text).split())


def read_beir(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the field `text` and one field for every entry of `metadata`."""
    for line, record in jsonlines.read(path, otherwise=OTHER_KEYS):
        topic_id = jsonlines.identifier(record, "_id", path, line, otherwise=OTHER_KEYS)
        fields = jsonlines.metadata(record, "metadata", path, line)
        yield TopicRecord(
            topic_id, {**fields, "text": jsonlines.text(record, "text", path, line)}, line
        )


def read_objects(path: Path, id_key: str = "") -> Iterator[TopicRecord]:
    """Yield topics of JSON or JSON lines, with a field for every key but that of the id.

    By default that is the first of `ID_NAMES` that the first topic has, itself or under `metadata`.
    """
    key = id_key
    for line, topic in _records(path, id_key):
        record, inner = topic, _about(topic)
        if (key or _id_key(topic)) not in topic and inner:  # as in BioGen's questions with answers
            record = {k: v for k, v in topic.items() if isinstance(v, str)} | inner
        key = key or _id_key(record) or ""
        if not key:
            keys = ", ".join(f"'{name}'" for name in record) or "none"
            raise InputError(
                f"no key of the topic looks like that of its id (keys: {keys}). Name it with `id` "
                "under [topics] in the collection.toml.",
                path=path,
                line=line,
            )
        topic_id = jsonlines.identifier(record, key, path, line)
        values = ((name, jsonlines.field_value(v)) for name, v in record.items() if name != key)
        fields: dict[str, FieldValue] = {
            name: " ".join(value.split()) if isinstance(value, str) else value
            for name, value in values
            if value
        }
        yield TopicRecord(topic_id, fields, line)


def _records(path: Path, id_key: str) -> Iterator[tuple[int | None, dict[str, Any]]]:
    try:
        content = read_json(path)
    except JSONError as error:
        _, first = next(numbered_lines(path), (0, b""))
        try:
            parse_json(first)
        except JSONError:
            raise error from None
        yield from jsonlines.read(path)
        return
    for record in _objects(content, id_key, path):
        if not isinstance(record, dict):
            raise InputError(
                f"a topic has to be a JSON object, but one is {jsonlines.kind(record)}.", path=path
            )
        yield None, record


def _objects(value: Any, id_key: str, path: Path) -> list[Any]:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise InputError(
            f"topics are JSON objects, but this is {jsonlines.kind(value)}.", path=path
        )
    names = {plain_name(name) for name in value}
    if len(value) == 1 and names <= {*_LISTS}:
        (inner,) = value.values()
        if isinstance(inner, dict):
            return _objects(inner, id_key, path)
    inner = _about(value)
    if any((id_key or _id_key(entry)) in entry for entry in (value, inner)):
        return [value]
    if names & {*map(plain_name, TEXTS)}:
        return [value]
    lists = [name for name, inner in value.items() if _holds_objects(inner)]
    candidates = [name for name in lists if plain_name(name) in _LISTS] or lists
    if len(candidates) == 1:
        return _objects(value[candidates[0]], id_key, path)
    if not all(isinstance(inner, dict | str) for inner in value.values()):
        raise InputError(
            f"it is not clear which part holds the topics: {listing(map(repr, value))}. Keep only "
            'a list of the topics, or an object such as {"topics": […]}.',
            path=path,
        )
    key = id_key or "id"
    return [
        {key: name, **(inner if isinstance(inner, dict) else {"query": inner})}
        for name, inner in value.items()
    ]


def _about(topic: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a topic; {} if it has none."""
    inner = topic.get("metadata", topic.get("meta_data"))
    return inner if isinstance(inner, dict) else {}


def _holds_objects(value: Any) -> bool:
    """Return whether a value is a list of objects, or an object of objects."""
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and {*map(type, inner)} == {dict}


def _id_key(record: dict[str, Any]) -> str | None:
    plain = {plain_name(name): name for name in reversed(record)}
    return next((plain[name] for name in ID_NAMES if name in plain), None)


def read_bioasq(path: Path) -> Iterator[TopicRecord]:
    """Yield the questions of BioASQ's task b with the fields `body` and, if known, `type`."""
    for question in read_questions(path):
        fields = {"body": question.body, "type": question.type}
        yield TopicRecord(question.id, {name: text for name, text in fields.items() if text})


def read_tsv(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the field `query` from id and query, or from the columns of a header."""
    names = ["id", "query"]
    for number, line in numbered_lines(path):
        columns = decoded(line, path, number).rstrip("\r\n").split("\t")
        if number == 1 and (header := _header(columns)):
            notice_once(f"{path}: the first line is taken for a header: {', '.join(columns)}")
            names = header
            continue
        if len(columns) != len(names):
            wrong = (
                f"{counted(len(columns), 'column')}; a line is {', tab, '.join(names)}. More "
                "columns need a first line with their names, such as id and query."
            )
            raise InputError(wrong, path=path, line=number)
        fields = {n: " ".join(text.split()) for n, text in zip(names, columns, strict=True)}
        del fields["id"]
        topic = columns[names.index("id")]
        check_id(topic, path, number)
        texts = {name: text for name, text in fields.items() if text or name == "query"}
        yield TopicRecord(topic, texts, number)


def _header(columns: list[str]) -> list[str]:
    """The names of columns, with `id` and `query` for the usual names of these; none without."""
    plain = [*map(plain_name, columns)]
    ids = [name for name in ID_NAMES if name in plain]
    texts = [name for name in map(plain_name, (*TEXTS, "queries")) if name in plain]
    if not ids or not texts or len({*plain}) < len(plain):
        return []
    usual = {plain.index(ids[0]): "id", plain.index(texts[0]): "query"}
    return [usual.get(place, name.strip()) for place, name in enumerate(columns)]


@dataclass(frozen=True)
class Format:
    """A file format of topics, with an example of one.

    The first template of `queries` whose fields topics have is the default query.
    """

    read: Callable[..., Iterator[TopicRecord]]
    topic: str
    queries: tuple[str, ...]

    def default_query(self, fields: Collection[str]) -> str:
        """The template for topics with these fields, in any spelling of their names."""
        spelled = {plain_name(name): name for name in reversed([*fields])}
        for query in self.queries:
            names = [spelled.get(plain_name(name), "") for name in QueryTemplate(query).names]
            if all(names):
                return " ".join(f"{{{name}}}" for name in names)
        if len(self.queries) > 1:
            raise InputError(
                "it is not clear which fields make the query: "
                f"{listing(sorted(fields)) or 'none'}. Name them with `query` under [topics] in a "
                f"collection.toml, as in {self.queries[0]!r}."
            )
        return self.queries[-1]


_JSON = Format(read_objects, '{"id": "1", "query": "…"}', QUERIES)


FORMATS: Mapping[str, Format] = {
    "beir": Format(read_beir, '{"_id": "1", "text": "…"}', ("{text}",)),
    "bioasq": Format(read_bioasq, '{"questions": [{"id": …, "body": …}]}', ("{body}",)),
    "biogen": _JSON,
    "json": _JSON,
    "jsonl": _JSON,
    "trec": Format(read_trec, "<top><num> 1 <title> …</top>", ("{title}",)),
    "trec-pm": Format(
        read_trec_pm,
        '<topic number="1">…</topic>',
        ("{disease} {gene} {treatment}", "{disease} {gene}"),
    ),
    "tsv": Format(read_tsv, "1, tab, query", ("{query}",)),
}
