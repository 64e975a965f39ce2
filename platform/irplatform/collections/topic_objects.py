"""Topics as JSON objects: BEIR's, and those of any other keys.

BEIR keeps one object a line. Others also write a list of objects (EPIC-QA), one object with such a
list in it (`{"topics": […]}`, TREC BioGen), or objects or queries by their ids (`{"1": …}`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.collections import jsonlines
from irplatform.collections.trec_topics import ID_NAMES, TEXTS, TopicRecord, plain_name
from irplatform.errors import InputError, listing
from irplatform.system.formats import JSONError, parse_json, read_json
from irplatform.system.reading import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.data import FieldValue

_LISTS = ("topics", "queries", "questions")
QUERIES = tuple(f"{{{name}}}" for name in TEXTS)
"""Templates of their queries, the likeliest first."""
OTHER_KEYS = "Format 'json' reads topics of other keys, and lists of them."


def read_beir(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the field `text` and one field for every entry of `metadata`."""
    for line, record in jsonlines.read(path, otherwise=OTHER_KEYS):
        topic_id = jsonlines.identifier(record, "_id", path, line, otherwise=OTHER_KEYS)
        fields = jsonlines.metadata(record, "metadata", path, line)
        yield TopicRecord(
            topic_id, {**fields, "text": jsonlines.text(record, "text", path, line)}, line
        )


def read(path: Path, id_key: str = "") -> Iterator[TopicRecord]:
    """Yield topics with a field for every key but that of the id.

    Args:
        path: JSON, or JSON lines.
        id_key: the key of the id; by default, the first of `ID_NAMES` that the first topic has.

    Raises:
        InputError: it is neither, or a topic has no id.
    """
    key = id_key
    for line, record in _records(path, id_key):
        key = key or _id_key(record) or ""
        if not key:
            keys = ", ".join(f"'{name}'" for name in record) or "none"
            raise InputError(
                f"no key of the topic is known to be that of its id (keys: {keys}). `id` under "
                "[topics] in the collection.toml names it.",
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
        whole = read_json(path)
    except JSONError as error:
        _, first = next(numbered_lines(path), (0, b""))
        try:
            parse_json(first)
        except JSONError:
            raise error from None
        yield from jsonlines.read(path)
        return
    for record in _objects(whole, id_key, path):
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
    if (id_key or _id_key(value)) in value or names & {*map(plain_name, TEXTS)}:
        return [value]
    lists = [name for name, inner in value.items() if _holds_objects(inner)]
    chosen = [name for name in lists if plain_name(name) in _LISTS] or lists
    if len(chosen) == 1:
        return _objects(value[chosen[0]], id_key, path)
    if not all(isinstance(inner, dict | str) for inner in value.values()):
        raise InputError(
            f"which of its parts are the topics cannot be told: {listing(map(repr, value))}. Keep "
            'a list of the topics alone, or an object such as {"topics": […]}.',
            path=path,
        )
    key = id_key or "id"
    return [
        {key: name, **(inner if isinstance(inner, dict) else {"query": inner})}
        for name, inner in value.items()
    ]


def _holds_objects(value: Any) -> bool:
    """Whether a value is a list of objects, or an object of objects."""
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and {*map(type, inner)} == {dict}


def _id_key(record: dict[str, Any]) -> str | None:
    plain = {plain_name(name): name for name in reversed(record)}
    return next((plain[name] for name in ID_NAMES if name in plain), None)
