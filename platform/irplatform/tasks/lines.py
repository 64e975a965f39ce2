"""Lines of a damaged run file, as far as they can be read: encoding, line ends and columns."""

from __future__ import annotations

import codecs
import io
import math
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.system.reading import open_bytes

if TYPE_CHECKING:
    from pathlib import Path

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_WHITE_SPACE = re.compile(r"[ \t\v\f]+")
_COMMAS = re.compile(r"\s*[,;]\s*")
_SECOND = re.compile(r"[Qq]?[01]")
_WHOLE = re.compile(r"-?\d{1,18}")
_NOT_FINITE = {"nan", "inf", "-inf", "+inf", "infinity", "-infinity"}
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


@dataclass(slots=True)
class Row:
    """A line, as it was read.

    Attributes:
        line: its number.
        raw: the line, if lines are kept.
        topic, document, tag: its columns; a tag may be missing.
        fourth, fifth: the columns of rank and score, until these are read.
        rank: a whole number, if the line has one.
        score: a finite number, if the line has one.
        score_text: its digits.
        new_rank: the rank of the corrected line.
        reasons: what was repaired in it so far.
        left_out: why it is left out; "" if it is kept.
    """

    line: int
    raw: str = ""
    topic: str = ""
    document: str = ""
    fourth: str = ""
    fifth: str = ""
    rank: int | None = None
    score: float | None = None
    score_text: str = ""
    new_rank: int = 0
    tag: str | None = None
    reasons: tuple[str, ...] = ()
    left_out: str = ""

    def text(self, tag: str) -> str:
        """Return the corrected line."""
        return f"{self.topic} Q0 {self.document} {self.new_rank} {self.score_text} {tag}"


def read_rows(path: Path, *, keep_lines: bool = False) -> list[Row]:
    """Read the lines of a file, but blank ones.

    Raises:
        InputError: it cannot be opened.
    """
    with open_bytes(path) as file:
        content = file.read()
    reasons: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    if mark := next((mark for mark in _MARKS if content.startswith(mark)), b""):
        marks = ("byte order mark",)
        content = content.removeprefix(mark)
        if _MARKS[mark] != "utf-8":
            content = content.decode(_MARKS[mark], "replace").encode()
    if b"\r" in content:
        reasons = ("line ends",)
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    rows: list[Row] = []
    for number, line in enumerate(io.BytesIO(content), start=1):
        text, reencoded = _decoded(line.removesuffix(b"\n"))
        if text.strip():
            row = Row(number, text if keep_lines else "", reasons=(*reencoded, *reasons, *marks))
            marks = ()
            _read(row, text.strip())
            rows.append(row)
    if content and not content.endswith(b"\n"):
        _leave_out_a_cut_line(rows)
    _read_numbers(rows)
    return rows


def _leave_out_a_cut_line(rows: list[Row]) -> None:
    """Leave out a last line that lacks columns: a full disk may have cut its numbers, too."""
    if len(rows) > 1 and "columns" in rows[-1].reasons and "columns" not in rows[-2].reasons:
        rows[-1].left_out = "last line, which is cut off"


def _decoded(line: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return line.decode("utf-8"), ()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace"), ("encoding (Windows-1252 to UTF-8)",)


def _read(row: Row, text: str) -> None:
    """Find the columns of a line, or say why it is left out."""
    if "\0" in text:
        row.left_out = "NUL bytes"
    elif text.startswith("#"):
        row.left_out = "comment"
    else:
        cells = _WHITE_SPACE.split(text)
        if len(cells) < 3:
            cells = [cell.strip("\"'") for cell in _COMMAS.split(text)]
            row.reasons += ("columns",)
        _fill(row, cells)


def _fill(row: Row, cells: list[str]) -> None:
    """Assign cells to columns: all six, or with second, rank or tag missing."""
    has_second = len(cells) > 3 and _SECOND.fullmatch(cells[1]) is not None
    rest = [cells[0], *cells[2:]] if has_second else cells
    numbers = [_is_number(cell) for cell in rest[2:4]]
    if row.line == 1 and not any(map(_is_number, cells)):
        row.left_out = "header"
        return
    if len(rest) >= 5 or numbers == [True, True]:
        row.topic, row.document, row.fourth, row.fifth = rest[:4]
        row.tag = rest[4] if len(rest) > 4 else None
    elif numbers[:1] == [True]:
        row.topic, row.document, row.fifth = rest[:3]
        row.tag = rest[3] if len(rest) > 3 else None
    else:
        row.left_out = "columns that are too few"
        return
    row.topic = sys.intern(row.topic)
    row.tag = sys.intern(row.tag) if row.tag is not None else None
    if len(cells) != 6 or not has_second:
        row.reasons += ("columns",)
    elif cells[1] != "Q0":
        row.reasons += ("second column",)


def _read_numbers(rows: list[Row]) -> None:
    """Read ranks and scores, the other way round if the whole file has them so."""
    read = [row for row in rows if not row.left_out]
    swapped = bool(read) and all(
        _WHOLE.fullmatch(row.fifth) and _is_number(row.fourth) and not _WHOLE.fullmatch(row.fourth)
        for row in read
    )
    for row in read:
        rank, score = (row.fifth, row.fourth) if swapped else (row.fourth, row.fifth)
        if swapped:
            row.reasons += ("rank and score swapped",)
        if _WHOLE.fullmatch(rank):
            row.rank = int(rank)
        if _DECIMAL_COMMA.fullmatch(score):
            score = score.replace(",", ".")
            row.reasons += ("decimal comma",)
        row.score, row.score_text = _number(score), score
        row.fourth = row.fifth = ""


def _is_number(text: str) -> bool:
    return _number(text.replace(",", ".", 1)) is not None or text.lower() in _NOT_FINITE


def _number(text: str) -> float | None:
    """A finite number; None for anything else."""
    try:
        value = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
