"""JSON of others, read with errors that name the line, and what the platform wrote itself."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import InputError
from irplatform.system.reading import decoded, read_whole

if TYPE_CHECKING:
    from pathlib import Path

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
