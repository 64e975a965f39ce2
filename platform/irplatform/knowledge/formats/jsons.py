"""JSON files that are read whole, with errors that name the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.json_io import read_json

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 1 << 32
"""Bytes of a file: 4 GB. The largest ontologies have one."""


def load(path: Path, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """Read a file that holds a list or an object.

    Raises:
        InputError: it is not JSON, or holds something else.
    """
    value = read_json(path, most=_LARGEST)
    if not isinstance(value, kind):
        what = "a list" if kind is list else "an object"
        raise InputError(f"this file should hold {what} at its top.", path=path, line=1)
    return value


def text(record: Any, key: str, path: Path, place: str) -> str:
    """The text under a key of an object; `place` is where the object is in the file.

    Raises:
        InputError: it is not an object, or there is no text under the key.
    """
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place} has no text under '{key}'.", path=path)
    return value.strip()


def texts(value: Any) -> list[str]:
    """A list of texts, or one text, or nothing, as a list; what is not text is left out."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else, such as null."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
