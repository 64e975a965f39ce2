"""JSON: what others wrote, read with errors that name the line, and what the platform wrote itself.

Both refuse what no program expects and what breaks the next one: values nested very deep.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import InputError
from irplatform.text_files import decoded, read_whole

if TYPE_CHECKING:
    from pathlib import Path

DEEPEST = 100
"""How many lists and objects may lie in one another; orjson writes 254, JSON readers take 500."""
_LARGEST = 1 << 28
"""Bytes of a file, unless more are expected: 256 MB."""
_ESCAPE = re.compile(
    rb"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    rb"|\\u[dD](?P<half>[89a-fA-F])[0-9a-fA-F]{2}"
    rb"|\\."
)


class JSONError(InputError, ValueError):
    """What a file or a line holds is not JSON, or not JSON that is read here."""


def read_json(path: Path, *, hint: str = "", most: int = _LARGEST) -> Any:
    """What a file of others holds, plain or gzip, with or without a byte order mark.

    Args:
        path: the file.
        hint: what should be there, for the error.
        most: bytes that the file may have, unpacked.

    Raises:
        InputError: see `read_whole` and `parse_json`.
    """
    return parse_json(read_whole(path, most).removeprefix(BOM_UTF8), path, hint=hint)


def parse_json(
    content: bytes, path: Path | None = None, line: int | None = None, *, hint: str = ""
) -> Any:
    r"""A value that others wrote.

    Half of a surrogate pair, which programs write that cut texts between UTF-16's units, becomes
    U+FFFD: `"\ud83d"` is JSON, but no text. Whole numbers beyond 64 bits become floats.

    Args:
        content: all of a file, or one of its lines.
        path: the file.
        line: the line's number; None where the content is the file.
        hint: what should be there, for the error.

    Raises:
        JSONError: it is not JSON, or is nested more than `DEEPEST` deep.
    """
    try:
        value = _loads(content)
    except orjson.JSONDecodeError as error:
        if path is not None:
            _refuse_other_encodings(content, path, line or 1)
        this, place = ("this line", line) if line else ("this", error.lineno)
        message = f"{this} is not JSON ({error.msg}). {hint}".rstrip()
        raise JSONError(message, path=path, line=place) from error
    if _brackets(content) > DEEPEST and _is_deep(value):
        raise JSONError(f"its values are nested more than {DEEPEST} deep.", path=path, line=line)
    return value


def read_own_json(path: Path) -> Any:
    """What the platform wrote into a file, to the letter: `storage.as_json` writes what JSON lacks.

    Raises:
        OSError: it is missing, or cannot be read.
        JSONError: it is damaged; a ValueError, too, for callers who know better what to say.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_int=_whole_number)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise JSONError("this is damaged: it is not JSON.", path=path, line=line) from error
    if _is_deep(value):
        raise JSONError(f"its values are nested more than {DEEPEST} deep.", path=path)
    return value


def too_large(number: int) -> bool:
    """Whether a whole number has more than the 64 bits that JSON, TOML and tensors have for it."""
    return not -(1 << 63) <= number < 1 << 64


def _whole_number(digits: str) -> int:
    if len(digits) > 20 or too_large(number := int(digits)):
        raise ValueError("a whole number has more than 64 bits")
    return number


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


def _brackets(content: bytes) -> int:
    """How deep values can be nested at most, which is quicker to tell than how deep they are."""
    return content.count(b"[") + content.count(b"{")


def _is_deep(value: Any) -> bool:
    """Whether lists and objects lie more than `DEEPEST` deep in one another."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
