"""Settings in messages, as who reads them writes them.

A message of a command names options, `--train-topics 5`, that of a program keywords,
`train_topics=5`. A command to call is a whole command line in both.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONS = {
    "collections": "collection",
    "first_stages": "first-stage",
    "measures": "measure",
    "names": "name",
    "rerankers": "reranker",
    "settings": "set",
}
"""Settings that have another name on the command line."""
_PLACEHOLDER = re.compile(r"[A-Z]{2,}[,…]*|[NW]")


class _Reader:
    called_command = False


def option(name: str, value: object = None) -> str:
    """Return a setting, and its value if that is said.

    Args:
        name: the name of the setting, or keyword, such as "train_topics".
        value: its value, a text in capitals that stands for one, or True for a switch.

    >>> option("train_topics", 5), option("train_on", "COLLECTION"), option("run_dir")
    ('train_topics=5', 'train_on=COLLECTION', 'run_dir=')
    """
    if for_command():
        return _option(name, value)
    if value is None:
        return f"{name}="
    text = isinstance(value, str) and _PLACEHOLDER.fullmatch(value)
    return f"{name}={value if text else repr(value)}"


def command(words: str, **options: object) -> str:
    """Return a command to call, in backquotes.

    >>> command("index", collection="demo")
    '`platform index --collection demo`'
    """
    return f"`{' '.join(['platform', words, *(_option(n, v) for n, v in options.items())])}`"


def for_command() -> bool:
    """Tell if messages are for somebody who called a command, not for a program."""
    return _Reader.called_command


def write_for_command(called: bool) -> None:
    """Write messages for somebody who called a command, or for a program."""
    _Reader.called_command = called


@contextmanager
def written_for_command() -> Iterator[None]:
    """Write for somebody who called a command in the block."""
    before = for_command()
    write_for_command(True)
    try:
        yield
    finally:
        write_for_command(before)


def _option(name: str, value: object) -> str:
    option = f"--{'no-' if value is False else ''}{_OPTIONS.get(name, name).replace('_', '-')}"
    return option if value is None or isinstance(value, bool) else f"{option} {value}"
