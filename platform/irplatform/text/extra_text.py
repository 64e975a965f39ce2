"""Reads running text from files, to train word vectors on more than a collection's documents.

- `.txt[.gz]`: a paragraph a line; lines that begin with "#" are comments.
- `.jsonl[.gz]`: an object a line with `title`, `abstract` or `text`.
- `.tsv[.gz]`: a header, and columns whose names end in `title`, `abstract`, `text` or `sentence`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.files.formats import parse_json
from irplatform.files.reading import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_JSON_KEYS = ("title", "abstract", "text")
_COLUMNS = ("title", "abstract", "text", "sentence")


def read_paragraphs(path: Path) -> Iterator[str]:
    """Stream the paragraphs of a file in one of the formats above."""
    readers = {".txt": _read_lines, ".jsonl": _read_objects, ".tsv": _read_table}
    reader = readers.get(ending(path))
    if reader is None:
        raise InputError(
            "text must be a .txt, .jsonl or .tsv file, or one of these with .gz.", path=path
        )
    yield from reader(path)


def ending(path: Path) -> str:
    """The ending of a file's name, which shows its format."""
    return Path(path.name.removesuffix(".gz")).suffix


def _read_lines(path: Path) -> Iterator[str]:
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number)
        if not line.startswith("#") and (paragraph := line.strip()):
            yield paragraph


def _read_objects(path: Path) -> Iterator[str]:
    for number, line in numbered_lines(path):
        value = parse_json(line, path, number)
        if not isinstance(value, dict) or not any(key in value for key in _JSON_KEYS):
            raise InputError(
                "this line needs an object with 'title', 'abstract' or 'text'.",
                path=path,
                line=number,
            )
        for key in _JSON_KEYS:
            text = value.get(key)
            if isinstance(text, str) and text.strip():
                yield text


def tab_separated(path: Path) -> Iterator[list[str]]:
    """The rows of a table without quotes; its cells may hold any character but tab and newline."""
    for number, line in numbered_lines(path):
        yield decoded(line, path, number).rstrip("\r\n").split("\t")


def _read_table(path: Path) -> Iterator[str]:
    rows = tab_separated(path)
    header = next(rows, [])
    columns = [place for place, name in enumerate(header) if name.lower().endswith(_COLUMNS)]
    if not columns:
        raise InputError(
            "this table needs a header with columns named title, abstract, text or sentence.",
            path=path,
            line=1,
        )
    for row in rows:
        for place in columns:
            if place < len(row) and row[place].strip():
                yield row[place]
