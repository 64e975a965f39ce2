"""JSON and TOML: read with errors that name the line, and written.

The JSON of others may be gzipped, begin with a byte order mark, or have halves of surrogate pairs.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import InputError
from irplatform.files.reading import decoded, read_whole

if TYPE_CHECKING:
    from pathlib import Path


_MOST_JSON = 1 << 28
"""Bytes of a file, unless more are expected: 256 MB."""
_ESCAPE = re.compile(
    rb"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    rb"|\\u[dD](?P<half>[89a-fA-F])[0-9a-fA-F]{2}"
    rb"|\\."
)
_MOST_TOML = 1 << 26
"""Bytes of a file: 64 MB."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


class JSONError(InputError, ValueError):
    """A file or line is not JSON, or not JSON that can be read here."""


def read_json(path: Path, *, hint: str = "", most: int = _MOST_JSON) -> Any:
    """Return the content of a JSON file, plain or gzip, with or without a byte order mark."""
    return parse_json(read_whole(path, most).removeprefix(BOM_UTF8), path, hint=hint)


def parse_json(
    content: bytes, path: Path | None = None, line: int | None = None, *, hint: str = ""
) -> Any:
    r"""Return a value that another program wrote; JSONError if it is not JSON.

    Half of a surrogate pair becomes U+FFFD: `"\ud83d"` is JSON, but not text. Whole numbers beyond
    64 bits become floats.
    """
    try:
        return _loads(content)
    except orjson.JSONDecodeError as error:
        if path is not None:
            for number, text in enumerate(content.splitlines(), start=line or 1):
                decoded(text, path, number)  # names the line and the byte that is not UTF-8
        subject, place = ("this line", line) if line else ("this", error.lineno)
        message = f"{subject} is not JSON ({error.msg}). {hint}".rstrip()
        raise JSONError(message, path=path, line=place) from error


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


def read_own_json(path: Path) -> Any:
    """Return the content of a JSON file that the platform wrote with `writing.as_json`.

    OSError if it cannot be read. JSONError, which is a ValueError, too, if it is damaged.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise JSONError("this is damaged: it is not JSON.", path=path, line=line) from error


def too_large(number: int) -> bool:
    """Tell if a whole number needs more than the 64 bits that JSON and tensors have."""
    return not -(1 << 63) <= number < 1 << 64


class TOMLError(InputError):
    """A text is not TOML."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; a byte order mark is ignored."""
    content = read_whole(path, _MOST_TOML)
    try:
        return parse_toml(content.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise InputError(f"this is not UTF-8 text ({error.reason}).", path=path) from error


def parse_toml(text: str, path: Path | None = None) -> dict[str, Any]:
    """Return the content of a text in TOML; TOMLError if it is not TOML."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else None
        reason = _PLACE.sub("", str(error))
        raise TOMLError(f"this is not TOML: {reason}.", path=path, line=line) from error


def toml_key(name: str) -> str:
    """Return a dotted key, with quotes where a part needs them."""
    return ".".join(p if _BARE.fullmatch(p) else toml_value(p) for p in name.split("."))


def toml_value(value: object) -> str:
    """Return a value as TOML writes it; "none" for None."""
    if value is None:
        return '"none"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    # JSON has pairs of escapes for rare characters, which TOML has not, and DEL as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
