"""TREC run files as columns: blocks of lines, joined to stretches of lines about one topic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.files.columns import changes, split
from irplatform.files.reading import COMMENT, blocks_of_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from irplatform.files.columns import Table

METADATA = re.compile(rb"\s*#[ \t]*ir_metadata\.start[ \t\r]*(?:\n|$)")
"""Begins a run file with ir_metadata in its head."""
_END_OF_LINE = b" \0 "
_LINES = 1 << 18
"""Lines of a part."""


@dataclass
class Passed:
    """Counts of ignored comments, and of lines with text after the run tag.

    Attributes:
        has_metadata: comments begin with ir_metadata, which readers expect.
        tag: the run tag of the first result.
    """

    comments: int = 0
    longer: int = 0
    has_metadata: bool = False
    tag: bytes = b""


@dataclass(frozen=True, slots=True)
class Part:
    """Some stretches of a file, each of lines about one topic.

    Attributes:
        topics: the topic of each.
        bounds: the line where each begins, from 0, and the number of lines.
        columns: further columns, each with an entry per line.
    """

    topics: list[bytes]
    bounds: npt.NDArray[np.intp]
    columns: list[npt.NDArray[Any]]


def parts(
    tables: Iterable[Table], columns: Callable[[Table], Sequence[npt.NDArray[Any]]]
) -> Iterator[Part]:
    """Join stretches across blocks, and yield whole ones, many lines at a time.

    Args:
        tables: blocks of a run.
        columns: takes the further columns from a block.
    """
    topics: list[bytes] = []
    starts: list[int] = []
    pieces: list[Sequence[npt.NDArray[Any]]] = []
    lines = 0
    for table in tables:
        cells = table.column(0)
        begins = changes(cells)
        names = cells[begins].tolist()
        new = slice(int(topics[-1:] == names[:1]), None)
        topics += names[new]
        starts += (begins[new] + lines).tolist()
        pieces.append(columns(table))
        lines += len(table)
        if lines >= _LINES and len(topics) > 1:
            cut = starts[-1]
            arrays = [np.concatenate(column) for column in zip(*pieces, strict=True)]
            yield Part(topics[:-1], np.array(starts), [column[:cut] for column in arrays])
            pieces = [[column[cut:].copy() for column in arrays]]
            topics, starts, lines = topics[-1:], [0], lines - cut
    if topics:
        arrays = [np.concatenate(column) for column in zip(*pieces, strict=True)]
        yield Part(topics, np.array([*starts, lines]), arrays)


def gathered(scattered: Iterable[Part]) -> Part:
    """Bring the lines about each topic together, topics in the order of their first lines."""
    numbers: dict[bytes, int] = {}
    pieces = list(scattered)
    of_lines = [
        np.repeat([numbers.setdefault(topic, len(numbers)) for topic in part.topics], lengths)
        for part in pieces
        for lengths in [np.diff(part.bounds)]
    ]
    topics = np.concatenate(of_lines)
    order = np.argsort(topics, kind="stable")
    column_pieces = zip(*(part.columns for part in pieces), strict=True)
    columns = [np.concatenate(column)[order] for column in column_pieces]
    return Part(list(numbers), np.append(0, np.cumsum(np.bincount(topics))), columns)


def tables(path: Path, passed: Passed) -> Iterator[Table]:
    """Yield the lines of a run as tables of six columns, as trec_eval 10 reads them.

    Raises:
        InputError: see `blocks_of_lines`.
        ValueError: a line has fewer columns.
    """
    for block in blocks_of_lines(path):
        table = strict_table(block)
        if table is None and (regular := _by_line(block, passed)):
            table = split(regular, 6)
            if table is None:
                raise ValueError("a line without six columns")
        if table is not None:
            passed.tag = passed.tag or table.cell(0, 5)
            yield table


def strict_table(block: bytes) -> Table | None:
    """Return a block of lines as a table; None unless all lines are results of six columns."""
    if b"#" in block and COMMENT.search(b"\n" + block):
        return None
    table = split(block, 6)
    if table is not None:
        return table
    if not block.endswith(b"\n"):
        block += b"\n"
    lines = block.count(b"\n")
    cells = block.replace(b"\n", _END_OF_LINE).split()
    if len(cells) != 7 * lines or cells[6::7].count(_END_OF_LINE.strip()) != lines:
        return None
    return split((b" ".join(cells) + b" ").replace(_END_OF_LINE, b"\n"), 6)


def _by_line(block: bytes, passed: Passed) -> bytes:
    """Bring lines into six columns if some are blank, comments or longer than a result."""
    rows = []
    passed.has_metadata |= METADATA.match(block) is not None
    for line in block.split(b"\n"):
        columns = line.split()
        if not columns:
            continue
        is_comment = columns[0].startswith(b"#")
        if not is_comment and len(columns) < 6:
            raise ValueError("a line without six columns")
        if (is_comment or len(columns) > 6) and b"\r" in line.rstrip():
            raise ValueError("lines that end in a carriage return alone")
        passed.comments += is_comment
        passed.longer += not is_comment and len(columns) > 6
        if not is_comment:
            rows.append(b" ".join(columns[:6]) + b"\n")
    return b"".join(rows)
