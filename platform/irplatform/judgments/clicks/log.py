"""The click log: tab-separated lines with a header, read block by block and checked line by line.

Polars parses a block in one go. A block that it does not like is read again by plain Python, which
knows the line and the reason; so what is accepted is decided in one place (`_plain`), and a sound
log is read fast.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.text_files import BARE_RETURN, blocks_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

TEXTS = ("query", "doc_id")
NUMBERS = ("rank", "abstract_clicks", "fulltext_clicks", "has_fulltext")
COLUMNS = (*TEXTS, *NUMBERS)
"""What a log must have, in any order; other columns are ignored."""

BLOCK_BYTES = 1 << 24
"""A block has about half a million lines; parsing takes several times its size in memory."""
_MOST = 2**31 - 1
"""Larger counts are mistakes, and their sums could overflow."""
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]{1,20})(\.0*)?")
"""Tables have a decimal point behind numbers where a column had gaps."""


@dataclass(frozen=True)
class Header:
    """The first line: its columns, and where in a line ours are."""

    names: tuple[str, ...]
    places: dict[str, int]


def read_log(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the lines of a log in blocks.

    Args:
        path: the file, gzipped where its name ends in `.gz`.

    Yields:
        Frames with `COLUMNS`: texts as they are, whole numbers as Int64.

    Raises:
        InputError: the file cannot be read or has no lines, a column is missing, or a line is not
            UTF-8, has too many or too few columns, an empty or spaced document id, or something
            other than a whole number that makes sense in a column of numbers.
    """
    header: Header | None = None
    line = 1
    empty = True
    for raw in blocks_of_lines(path, BLOCK_BYTES):
        block = raw
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
        _check_unicode(block, path, line)
        if header is None:
            first, _, block = block.partition(b"\n")
            header, line = _header(first.decode(), path), line + 1
        if block.strip():
            frame = _fast(block, header)
            if frame is None:
                frame = _plain(block, header, path, line)
            empty = False
            yield frame
        line += block.count(b"\n")
    if header is None or empty:
        raise InputError("there are no lines after the header in this log.", path=path)


def _check_unicode(block: bytes, path: Path, line: int) -> None:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"the byte 0x{block[error.start]:02x} here is not UTF-8. Convert the file.",
            path=path,
            line=line + block.count(b"\n", 0, error.start),
        ) from error


def _header(line: str, path: Path) -> Header:
    if "\r" in line.rstrip():
        raise InputError(f"the first line has {BARE_RETURN}", path=path, line=1)
    names = tuple(name.strip().lower() for name in line.split("\t"))
    if missing := [name for name in COLUMNS if name not in names]:
        raise InputError(
            f"the header has no column '{missing[0]}'. Columns, parted by tabs, in any order: "
            f"{', '.join(COLUMNS)}.",
            path=path,
            line=1,
        )
    if twice := next((name for name in COLUMNS if names.count(name) > 1), None):
        raise InputError(f"the header names the column '{twice}' twice.", path=path, line=1)
    return Header(names, {name: names.index(name) for name in COLUMNS})


_NO_SPACE = r"^[^\s\x1c-\x1f]+$"
"""For Polars: Python's white space has four control characters that Unicode's has not."""


def _fast(block: bytes, header: Header) -> pl.DataFrame | None:
    """The block as Polars reads it, or None where something in it may be wrong."""
    import polars as pl

    ours = {place: name for name, place in header.places.items()}
    schema = {
        ours.get(place, f"ignored {place}"): pl.Int64 if ours.get(place) in NUMBERS else pl.String
        for place in range(len(header.names))
    }
    try:
        frame = pl.read_csv(
            io.BytesIO(block),
            separator="\t",
            has_header=False,
            quote_char=None,
            schema=schema,
        ).select(pl.col(TEXTS).fill_null(""), pl.col(NUMBERS))
    except pl.exceptions.PolarsError:
        return None
    # Polars fills short lines up: with nulls, or with empty texts in the ignored columns, which
    # only a count of the tabs can tell.
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    tabs = (len(header.names) - 1) * lines
    sound = frame.select(
        pl.all_horizontal(pl.col(NUMBERS).is_not_null().all())
        & pl.col("rank").is_between(1, _MOST).all()
        & pl.col("abstract_clicks").is_between(0, _MOST).all()
        & pl.col("fulltext_clicks").is_between(0, _MOST).all()
        & pl.col("has_fulltext").is_between(0, 1).all()
        & pl.col("doc_id").str.contains(_NO_SPACE).all()
    ).item()
    return frame if sound and frame.height == lines and block.count(b"\t") == tabs else None


def _plain(block: bytes, header: Header, path: Path, first: int) -> pl.DataFrame:
    """The block read line by line; blank lines are passed over."""
    import polars as pl

    rows = [
        _row(line, header, path, number)
        for number, line in enumerate(block.decode().split("\n"), start=first)
        if line.strip()
    ]
    schema = {name: pl.String if name in TEXTS else pl.Int64 for name in COLUMNS}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(line: str, header: Header, path: Path, number: int) -> Sequence[str | int]:
    cells = line.split("\t")
    if len(cells) != len(header.names):
        raise InputError(
            f"{counted(len(cells), 'column')} where the header has {len(header.names)}.",
            path=path,
            line=number,
        )
    doc_id = cells[header.places["doc_id"]]
    if doc_id.split() != [doc_id]:
        raise InputError(
            f"the document id {doc_id!r} is empty or has white space in it.",
            path=path,
            line=number,
        )
    numbers = (_number(name, cells[header.places[name]].strip(), path, number) for name in NUMBERS)
    return (cells[header.places["query"]], doc_id, *numbers)


def _number(name: str, text: str, path: Path, line: int) -> int:
    least, most = {"rank": (1, _MOST), "has_fulltext": (0, 1)}.get(name, (0, _MOST))
    if not (number := _WHOLE_NUMBER.fullmatch(text)):
        raise InputError(f"{name} is '{text}', not a whole number.", path=path, line=line)
    if not least <= int(number[1]) <= most:
        expected = "0 or 1" if most == 1 else f"between {least} and {most}"
        raise InputError(f"{name} is {text}; it must be {expected}.", path=path, line=line)
    return int(number[1])
