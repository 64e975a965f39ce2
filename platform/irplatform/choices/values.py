"""A value of an option as a user writes it on the command line, after `--set` or `--over`."""

from __future__ import annotations

import tomllib


def read_value(written: str, *, text: bool = False) -> object:
    """Read a value as TOML, so that numbers, switches and lists have their types.

    What is not TOML is text.

    Args:
        written: the value.
        text: whether the option takes text: then what looks like a number, a switch or a date is
            text, too. What is in quotes loses them still.
    """
    try:
        value: object = tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        return written
    return value if not text or isinstance(value, str | list | dict) else written
