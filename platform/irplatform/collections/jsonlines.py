"""JSON lines, and what is taken from them: ids, texts, fields. Errors name file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import InputError, quoted
from irplatform.ids import fault
from irplatform.json_io import parse_json
from irplatform.text_files import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.plugin import FieldValue


_HINT = "Every line needs one JSON object."
_WHOLE = "This file seems to hold one value over several lines."
_BY_LINE = "`jq -c '.[]'` writes each object of a list in a line."


def read(path: Path, *, otherwise: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of every line that is not blank, with the line's number.

    Raises:
        InputError: the file cannot be read, or a line is not a JSON object.
    """
    for number, line in numbered_lines(path):
        goes_on = line.rstrip()[-1:] in b"[{,:"
        hint = f"{_HINT} {otherwise}".rstrip()
        if goes_on:
            hint = f"{_HINT} {_WHOLE} {otherwise or _BY_LINE}"
        record = parse_json(line, path, number, hint=hint)
        if not isinstance(record, dict):
            raise InputError(f"this line holds {kind(record)}. {hint}", path=path, line=number)
        yield number, record


def identifier(
    record: dict[str, Any], key: str, path: Path, line: int | None, *, otherwise: str = ""
) -> str:
    """The id under a key: text that can be an id, see `irplatform.ids`.

    A whole number, as tools for BEIR write PMIDs, is the text of its decimal digits.
    """
    value = record.get(key)
    if type(value) is int:  # True is an instance of int
        return str(value)
    if value is None and key in record:
        raise InputError(f"no id: '{key}' is null.", path=path, line=line)
    if value is None:
        keys = ", ".join(f"'{name}'" for name in record) or "none"
        message = f"no id: the key '{key}' is missing (keys: {keys}). {otherwise}".rstrip()
        raise InputError(message, path=path, line=line)
    if not isinstance(value, str):
        raise InputError(
            f"the id under '{key}' is {kind(value)}. Write it as a string.", path=path, line=line
        )
    check_id(value, path, line)
    return value


def check_id(value: str, path: Path, line: int | None = None) -> None:
    """Refuse an id that could not be a column of a TREC file.

    Raises:
        InputError: the id is empty or too long, or has white space or a control character in it.
    """
    if wrong := fault(value):
        raise InputError(f"the id {quoted(value)} {wrong}.", path=path, line=line)


def text(record: dict[str, Any], key: str, path: Path, line: int) -> str:
    """The text under a key; "" where it is missing or null."""
    value = record.get(key)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise InputError(f"'{key}' is {kind(value)}, not text.", path=path, line=line)


def metadata(record: dict[str, Any], key: str, path: Path, line: int) -> dict[str, FieldValue]:
    """The entries of an object under a key, as fields; empty where it is missing or null."""
    value = record.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"'{key}' is {kind(value)}, not an object.", path=path, line=line)
    fields = ((name, field_value(entry)) for name, entry in value.items())
    return {name: entry for name, entry in fields if entry is not None}


def field_value(value: Any) -> FieldValue | None:
    """A JSON value as a field: text, or several texts; None for null.

    Numbers are written as JSON writes them, and so is anything nested.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return tuple(_as_text(item) for item in value if item is not None)
    return _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"
