"""Settings in messages, as who reads them writes them.

A message of a command names options, `--train-topics 5`, that of a program keywords,
`train_topics=5`. A command to call is a whole command line in both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONS = {
    "collections": "collection",
    "cors_origins": "cors-origin",
    "first_stages": "first-stage",
    "folders": "runs-dir",
    "measures": "measure",
    "names": "name",
    "rerankers": "reranker",
    "settings": "set",
    "source": "from",
}
"""Settings that have another name on the command line."""
_PLACEHOLDER = re.compile(r"[A-Z]{2,}[,…]*|[NW]|\[…\]")


class _Reader:
    called_command = False


def option(name: str, value: object = None, *, quoted: bool = False) -> str:
    """Return a setting, and its value if that is said.

    Args:
        name: the name of the setting, or keyword, such as "train_topics".
        value: its value, a text in capitals that stands for one, or True for a switch; a mapping
            for the options of systems.
        quoted: the value stands in quotes, on the command line, too.

    >>> option("train_topics", 5), option("train_on", "COLLECTION"), option("run_dir")
    ('train_topics=5', 'train_on=COLLECTION', 'run_dir=')
    >>> option("settings", {"delta.filters": 64})
    "settings={'delta.filters': 64}"
    """
    if for_command():
        return " ".join(option_words(name, f"'{value}'" if quoted else value))
    return f"{name}=" if value is None else f"{name}={_in_python(value)}"


def option_words(name: str, value: object = None) -> list[str]:
    """Return a setting as words of a command line.

    >>> option_words("rerankers", "delta"), option_words("resume", False)
    (['--reranker', 'delta'], ['--no-resume'])
    """
    if isinstance(value, Mapping):
        options = (f"{n}={str(v).lower() if isinstance(v, bool) else v}" for n, v in value.items())
        return [word for text in options for word in option_words(name, text)]
    word = f"--{'no-' if value is False else ''}{_OPTIONS.get(name, name).replace('_', '-')}"
    return [word] if value is None or isinstance(value, bool) else [word, str(value)]


def command(words: str, *more: str, **options: object) -> str:
    """Return a command to call, in backquotes; `more` words follow the options.

    >>> command("index", collection="demo")
    '`platform index --collection demo`'
    """
    arguments = [word for item in options.items() for word in option_words(*item)]
    return f"`{' '.join(['platform', words, *arguments, *more])}`"


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


def _in_python(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name!r}: {_in_python(v)}' for name, v in value.items())}}}"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    text = isinstance(value, str) and _PLACEHOLDER.fullmatch(value)
    return str(value) if text else repr(value)


def option_name(name: str, on: bool = True) -> str:
    """Return the option of a setting, "--first-stage", or that which switches it off."""
    return option_words(name, on or False)[0]
