"""Click logs: tab-separated lines with a header, read in blocks and added up in bounded memory.

Polars parses a block; one that it rejects is read again line by line, which finds the line and the
reason. Rows that fit are grouped in memory. Others are divided into files by the first digits of
the queries' ids, and each file is grouped alone: a hash-partitioned aggregation (Graefe, ACM
Computing Surveys 1993, section 4.3). The result is always in the order of the ids.
"""

from __future__ import annotations

import io
import re
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import IO, TYPE_CHECKING

from irplatform.building.click_judgments import QueryRules, normalize, query_id, refusal
from irplatform.errors import InputError, counted
from irplatform.files.reading import BARE_RETURN, blocks_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

TEXTS = ("query", "doc_id")
NUMBERS = ("rank", "abstract_clicks", "fulltext_clicks", "has_fulltext")
COLUMNS = (*TEXTS, *NUMBERS)
"""The columns of a log, in any order; others are ignored."""
BLOCK_BYTES = 1 << 24
"""A block has about half a million lines; parsing takes several times its size in memory."""
_MOST = 2**31 - 1
"""Larger counts are mistakes, and their sums could overflow."""
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]{1,20})(\.0*)?")
"""Tables write a decimal point behind numbers if a column had gaps."""
_NO_SPACE = r"^[^\s\x1c-\x1f]+$"
"""For Polars: Python counts four more control characters as white space than Unicode."""
MOST_ROWS = 500_000
"""Rows of (query, document) that are grouped in memory: about 300 MB."""
_DIGITS = 2
_LEVELS = 16 // _DIGITS
_KEYS = ["id", "query", "refused", "doc_id"]
_COUNTS = ["lines", "abstract", "fulltext", "available"]


@dataclass(frozen=True)
class Header:
    """The first line's columns, and the places of `COLUMNS` among them."""

    names: tuple[str, ...]
    places: dict[str, int]


def read_log(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the lines of a log, in frames with `COLUMNS`: texts as they are, numbers as Int64.

    Raises:
        InputError: the file cannot be read or has no lines, a column is missing, or a line is not
            UTF-8, or has a wrong number of columns, document id or number.
    """
    header: Header | None = None
    line = 1
    empty = True
    for raw in blocks_of_lines(path, BLOCK_BYTES):
        block = raw.replace(b"\r\n", b"\n")
        try:
            block.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"the byte 0x{block[error.start]:02x} here is not UTF-8. Convert the file.",
                path=path,
                line=line + block.count(b"\n", 0, error.start),
            ) from error
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


def _header(line: str, path: Path) -> Header:
    if "\r" in line.rstrip():
        raise InputError(f"the first line has {BARE_RETURN}", path=path, line=1)
    names = tuple(name.strip().lower() for name in line.split("\t"))
    for name in COLUMNS:
        if (times := names.count(name)) != 1:
            problem = f"has no column '{name}'" if not times else f"names the column '{name}' twice"
            raise InputError(
                f"the header {problem}. Columns in any order, separated by tabs: "
                f"{', '.join(COLUMNS)}.",
                path=path,
                line=1,
            )
    return Header(names, {name: names.index(name) for name in COLUMNS})


def _fast(block: bytes, header: Header) -> pl.DataFrame | None:
    """The block as Polars reads it; None if something in it may be wrong."""
    import polars as pl

    names = {place: name for name, place in header.places.items()}
    schema = {
        names.get(place, f"ignored {place}"): pl.Int64 if names.get(place) in NUMBERS else pl.String
        for place in range(len(header.names))
    }
    try:
        frame = pl.read_csv(
            io.BytesIO(block), separator="\t", has_header=False, quote_char=None, schema=schema
        ).select(pl.col(TEXTS).fill_null(""), pl.col(NUMBERS))
    except pl.exceptions.PolarsError:
        return None
    # Polars fills short lines up: with nulls, or with empty texts in the ignored columns, which
    # only a count of the tabs shows.
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
    """The block read line by line; without blank lines."""
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
        wrong = f"{counted(len(cells), 'column')} where the header has {len(header.names)}."
        raise InputError(wrong, path=path, line=number)
    doc_id = cells[header.places["doc_id"]]
    if doc_id.split() != [doc_id]:
        wrong = f"the document id {doc_id!r} is empty or has white space in it."
        raise InputError(wrong, path=path, line=number)
    numbers = (_number(name, cells[header.places[name]].strip(), path, number) for name in NUMBERS)
    return (cells[header.places["query"]], doc_id, *numbers)


def _number(name: str, text: str, path: Path, line: int) -> int:
    least, most = {"rank": (1, _MOST), "has_fulltext": (0, 1)}.get(name, (0, _MOST))
    number = _WHOLE_NUMBER.fullmatch(text)
    if not number or not least <= int(number[1]) <= most:
        wrong = f"{name} is '{text}', not a whole number between {least} and {most}."
        raise InputError(wrong, path=path, line=line)
    return int(number[1])


def prepare(lines: pl.DataFrame, rules: QueryRules) -> pl.DataFrame:
    """Normalize the queries of a block of `read_log`, and reduce it to a row per pair.

    Returns:
        A frame with `id`, `query` (normalized), `refused` (the reason, or ""), `doc_id`, `lines`,
        `abstract` and `fulltext` clicks, and `available` (1 if any line has a full text). Queries
        that are left out keep their number of lines only.
    """
    import polars as pl

    typed = lines["query"].unique().to_list()
    names = [normalize(query) for query in typed]
    normalized = pl.DataFrame(
        {
            "typed": typed,
            "query": names,
            "id": [query_id(name) for name in names],
            "refused": [refusal(query, rules) or "" for query in typed],
        },
        schema=dict.fromkeys(["typed", "query", "id", "refused"], pl.String),
    )
    condition = pl.col("refused") == ""
    opened = (pl.col("fulltext_clicks") > 0).cast(pl.Int64)
    available = pl.max_horizontal("has_fulltext", opened)
    return combine(
        lines.rename({"query": "typed"})
        .join(normalized, on="typed")
        .select(
            "id",
            "query",
            "refused",
            pl.when(condition).then("doc_id").otherwise(pl.lit("")).alias("doc_id"),
            pl.lit(1, dtype=pl.Int64).alias("lines"),
            pl.when(condition).then("abstract_clicks").otherwise(0).alias("abstract"),
            pl.when(condition).then("fulltext_clicks").otherwise(0).alias("fulltext"),
            pl.when(condition).then(available).otherwise(0).alias("available"),
        )
    )


def combine(rows: pl.DataFrame) -> pl.DataFrame:
    """Add up the rows of the same query, reason and document."""
    import polars as pl

    return rows.group_by(_KEYS).agg(
        pl.col("lines", "abstract", "fulltext").sum(), pl.col("available").max()
    )


def grouped(
    frames: Iterator[pl.DataFrame], scratch: Path, *, most_rows: int = MOST_ROWS, level: int = 0
) -> Iterator[pl.DataFrame]:
    """Add up rows of `prepare` that may be too many for the memory.

    At most about `most_rows` rows are held; others wait in the folder `scratch`. `level` is the
    number of pairs of digits that the ids have in common.

    Yields:
        Frames with all the rows of some queries, ordered by id, query and document.
    """
    import polars as pl

    pending: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        pending.append(frame)
        rows += frame.height
        if rows <= most_rows:
            continue
        pending = [combine(pl.concat(pending))]
        rows = pending[0].height
        # Without more digits a single query is left, with many documents.
        if rows > most_rows // 2 and level < _LEVELS:
            first = iter([pending.pop()])  # freed when it has been written
            parts = _part(chain(first, frames), scratch / f"level-{level}", level)
            for part in parts:
                part_frames = _read(part)
                yield from grouped(part_frames, scratch, most_rows=most_rows, level=level + 1)
                part.unlink()
            return
    if pending:
        yield combine(pl.concat(pending)).sort(_KEYS)


def _part(frames: Iterator[pl.DataFrame], folder: Path, level: int) -> list[Path]:
    """Write rows to one file for each value of the digits at a level; return them in order."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, IO[bytes]] = {}
    digits = pl.col("id").str.slice(level * _DIGITS, _DIGITS).alias("digits")
    with ExitStack() as open_files:
        for frame in frames:
            parts = frame.with_columns(digits).partition_by(
                "digits", as_dict=True, include_key=False
            )
            for (name,), rows in parts.items():
                if name not in files:
                    file = (folder / f"{name}.tsv").open("wb")
                    files[name] = open_files.enter_context(file)
                rows.select(_KEYS + _COUNTS).write_csv(
                    files[name], separator="\t", include_header=False, quote_style="never"
                )
    return [folder / f"{name}.tsv" for name in sorted(files)]


def _read(part: Path) -> Iterator[pl.DataFrame]:
    import polars as pl

    schema = dict.fromkeys(_KEYS, pl.String) | dict.fromkeys(_COUNTS, pl.Int64)
    for block in blocks_of_lines(part, BLOCK_BYTES):
        yield pl.read_csv(
            io.BytesIO(block), separator="\t", has_header=False, quote_char=None, schema=schema
        ).with_columns(pl.col(_KEYS).fill_null(""))
