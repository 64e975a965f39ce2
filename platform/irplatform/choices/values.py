"""A value of an option as a user writes it on the command line, after `--set` or `--over`."""

from __future__ import annotations

from irplatform.toml_io import TOMLError, parse_toml


def read_value(written: str, *, text: bool = False) -> object:
    """Read a value as TOML, so that numbers, switches and lists have their types.

    What is not TOML, or nothing that is read as such, is text.

    Args:
        written: the value.
        text: whether the option takes text: then what looks like a number, a switch or a date is
            text, too. What is in quotes loses them still.
    """
    try:
        value: object = parse_toml(f"value = {written}")["value"]
    except TOMLError:
        return written
    return value if not text or isinstance(value, str | list | dict) else written
