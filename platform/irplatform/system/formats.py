"""TOML that users write, read with errors that name the line; and values as TOML writes them.

The standard library reads TOML only.
"""

from __future__ import annotations

import json
import os
import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from irplatform.errors import InputError
from irplatform.system.reading import decoded, read_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path


_LARGEST = 1 << 26
"""Bytes of a file."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


class TOMLError(InputError):
    """A text is not TOML."""


def read_toml(path: Path) -> dict[str, Any]:
    """What a file holds; a byte order mark, as Windows' Notepad writes one, is passed over.

    Raises:
        InputError: it is missing, cannot be read, or is not TOML, see `parse_toml`.
    """
    content = read_whole(path, _LARGEST)
    try:
        return parse_toml(content.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text ({error.reason}).", path=path) from error


def parse_toml(text: str, path: Path | None = None) -> dict[str, Any]:
    """What a text holds.

    Raises:
        TOMLError: it is not TOML.
    """
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else None
        reason = _PLACE.sub("", str(error))
        raise TOMLError(f"this is not TOML: {reason}.", path=path, line=line) from error


def toml_key(name: str) -> str:
    """A key, whose parts have dots between them, with quotes where a part needs them."""
    return ".".join(p if _BARE.fullmatch(p) else toml_value(p) for p in name.split("."))


def toml_value(value: object) -> str:
    """A value, which TOML writes as JSON does but for tables; "none" for what is not set."""
    if value is None:
        return '"none"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    # JSON has pairs of escapes for rare characters, which TOML has not, and DEL as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# Journals: what long work has finished, a JSON object a line, for going on after a kill.
#
# A kill, or a full disk, may leave half a line. Whatever follows the last sound line is cut off
# when the journal is read: a line that is appended to half a line would be lost with it.

T = TypeVar("T")


def read_journal(path: Path | None, parse: Callable[[Any], T]) -> list[T]:
    """What a journal holds, oldest first; its file ends there afterwards.

    A line for which `parse` raises KeyError, TypeError or ValueError is not sound.
    """
    entries: list[T] = []
    if path is None or not path.exists():
        return entries
    content = path.read_bytes()
    sound = 0
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            entries.append(parse(orjson.loads(line)))
        except (ValueError, KeyError, TypeError):
            break
        sound += len(line)
    if sound < len(content):
        os.truncate(path, sound)
    return entries


def append_journal(path: Path | None, entries: Iterable[Mapping[str, Any]]) -> None:
    """Add entries to a journal, in a folder that is there; None keeps none."""
    if path is None:
        return
    with path.open("ab") as file:
        for entry in entries:
            file.write(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))


# JSON of others, read with errors that name the line, and what the platform wrote itself.

_LARGEST_json_files = 1 << 28
"""Bytes of a file, unless more are expected: 256 MB."""
_ESCAPE = re.compile(
    rb"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    rb"|\\u[dD](?P<half>[89a-fA-F])[0-9a-fA-F]{2}"
    rb"|\\."
)


class JSONError(InputError, ValueError):
    """What a file or a line holds is not JSON, or not JSON that is read here."""


def read_json(path: Path, *, hint: str = "", most: int = _LARGEST_json_files) -> Any:
    """What a file of others holds, plain or gzip, with or without a byte order mark."""
    return parse_json(read_whole(path, most).removeprefix(BOM_UTF8), path, hint=hint)


def parse_json(
    content: bytes, path: Path | None = None, line: int | None = None, *, hint: str = ""
) -> Any:
    r"""A value that others wrote.

    Half of a surrogate pair, which programs write that cut texts between UTF-16's units, becomes
    U+FFFD: `"\ud83d"` is JSON, but no text. Whole numbers beyond 64 bits become floats.

    Raises:
        JSONError: it is not JSON.
    """
    try:
        return _loads(content)
    except orjson.JSONDecodeError as error:
        if path is not None:
            _refuse_other_encodings(content, path, line or 1)
        this, place = ("this line", line) if line else ("this", error.lineno)
        message = f"{this} is not JSON ({error.msg}). {hint}".rstrip()
        raise JSONError(message, path=path, line=place) from error


def read_own_json(path: Path) -> Any:
    """What the platform wrote into a file, to the letter: `storage.as_json` writes what JSON lacks.

    Raises:
        OSError: it is missing, or cannot be read.
        JSONError: it is damaged; a ValueError, too, for callers who know better what to say.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise JSONError("this is damaged: it is not JSON.", path=path, line=line) from error


def too_large(number: int) -> bool:
    """Whether a whole number has more than the 64 bits that JSON and tensors have for it."""
    return not -(1 << 63) <= number < 1 << 64


def _loads(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        if b"\\u" not in content:
            raise
        mended = _ESCAPE.sub(lambda match: rb"\ufffd" if match["half"] else match[0], content)
        if mended == content:
            raise
        return orjson.loads(mended)


def _refuse_other_encodings(content: bytes, path: Path, line: int) -> None:
    """Name the line and the byte that is not UTF-8, which is no JSON either."""
    for number, each in enumerate(content.splitlines(), start=line):
        decoded(each, path, number)
