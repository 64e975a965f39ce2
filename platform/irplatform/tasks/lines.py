"""Lines of a run file of any program, as far as they can be read: encoding, cells, columns.

A header names the columns, in any order. Without one they are told by their place, as
`irplatform.tasks.columns` says; a line of TREC's that lacks some is read by itself.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError, listing
from irplatform.files.reading import NUL_BYTE, in_utf_8, open_bytes
from irplatform.runs.bioasq import holds_json
from irplatform.runs.fields import LISTS, place_of, places, plain
from irplatform.runs.json_runs import json_results
from irplatform.spelling import option
from irplatform.tasks.columns import (
    SECOND,
    choose_numbers,
    counts,
    is_number,
    number,
    placed,
    rises,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.runs.results import Order

_WHITE_SPACE = re.compile(r"[ \t\v\f]+")
_QUOTED = re.compile(r"""\s*("[^"]*"(?=\s|$)|'[^']*'(?=\s|$)|\S+)""")
_OBJECT = re.compile(r"\{[^}]*\}")
_BETWEEN = re.compile(r"[\s,;|]+")
_SEPARATORS = "\t;,|"
_CELL = re.compile(rb'(?<=[\t;,|])"(?:[^"]|"")*"(?=[\t;,|\n])')
"""A quoted cell, which may have ends of lines in it."""
_SAMPLE = 1000
"""Lines that tell what separates columns."""
_RANK = re.compile(r"(-?\d{1,18})(?:\.0*)?")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2},\d{3}")
_TEXTS = {"query", "text", "title", "body", "abstract", "docid", "second"}
"""Further columns that hold no scores."""


@dataclass(slots=True)
class Row:
    """A result, as it was read: its line, or its number in JSON, and its columns.

    `reasons` say what was repaired so far, `left_out` why it is left out; a score may be infinite.
    """

    line: int
    raw: str = ""
    topic: str = ""
    document: str = ""
    rank_text: str = ""
    score_text: str = ""
    rank: int | None = None
    score: float | None = None
    new_rank: int = 0
    tag: str | None = None
    reasons: tuple[str, ...] = ()
    left_out: str = ""

    def text(self, tag: str) -> str:
        """Return the corrected line."""
        return f"{self.topic} Q0 {self.document} {self.new_rank} {self.score_text} {tag}"


def read_rows(path: Path, *, order: Order | None = None, keep_lines: bool = False) -> list[Row]:
    """Read the results of a run, and lines that hold none, but blank ones.

    Args:
        path: the file.
        order: what decides where numbers may be ranks or scores.
        keep_lines: keep the lines themselves.

    Raises:
        InputError: it cannot be opened; or it cannot be told what its columns, or its numbers, are.
    """
    with open_bytes(path) as file:
        file_bytes = file.read()
    content = in_utf_8(file_bytes)
    if b"\0" in content.partition(b"\n")[0]:
        raise InputError(f"this file has a {NUL_BYTE}", path=path, line=1)
    marks = ("byte order mark",) if content != file_bytes else ()
    if holds_json(path):
        rows = [*_json_rows(content, path, order, keep_lines)]
    else:
        rows = _table_rows(content, marks, path, keep_lines)
    _read_numbers(rows, path, order)
    return rows


def _json_rows(content: bytes, path: Path, order: Order | None, keep_lines: bool) -> Iterator[Row]:
    for place, result in enumerate(json_results(content, path, order), start=1):
        values = ("" if value is None else str(value) for value in result[1:6])
        topic, document, rank, score, tag = values
        raw = " ".join((topic, document, rank, score)) if keep_lines else ""
        row = Row(result.line or place, raw, topic, document, rank, score, tag=tag or None)
        row.reasons = ("JSON",)
        yield row


def _table_rows(content: bytes, marks: tuple[str, ...], path: Path, keep_lines: bool) -> list[Row]:
    reasons: tuple[str, ...] = ()
    if b"\r" in content:
        reasons = ("line ends",)
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    rows: list[Row] = []
    texts: list[str] = []
    place = 1
    for line in _with_whole_cells(content).split(b"\n"):
        text, reencoded = _decoded(line)
        if stripped := text.strip():
            rows.append(Row(place, text if keep_lines else "", reasons=reencoded + reasons + marks))
            texts.append(text.strip(" ") if "\t" in text else stripped)
            marks = ()
            if "\0" in text:
                rows[-1].left_out = "NUL bytes"
            elif stripped.startswith("#") and (len(rows) > 1 or not _header(stripped[1:])):
                rows[-1].left_out = "comment"
            elif len(rows) == 1 and re.fullmatch("sep=.", stripped):
                rows[-1].left_out = "separator, as Excel reads it"
        place += 1 + line.count(b"\v")
    read = [at for at, row in enumerate(rows) if not row.left_out]
    sample = [texts[at] for at in read[:_SAMPLE]]
    if not sample:
        return rows
    separator = _separator(sample)
    names = _cells(sample[0].removeprefix("#"), separator)
    sound_rows = [rows[at] for at in read]
    lines = (texts[at] for at in read)
    at = places(names)
    is_header = "topic" in at and not any(map(is_number, names))
    if is_header and ("document" in at or place_of(LISTS, [*map(plain, names)]) >= 0):
        more = _read_by_names(sound_rows, [_cells(text, separator) for text in lines], names, path)
    elif separator == " " and _are_of_trec(sample):
        more = []
        for row, text in zip(sound_rows, lines, strict=True):
            _fill(row, text)
        _swap([row for row in sound_rows if not row.left_out])
    else:
        more = _placed(sound_rows, [_cells(text, separator) for text in lines], path)
    if content and not content.endswith(b"\n"):
        _leave_out_a_cut_line(sound_rows)
    return sorted(rows + more, key=lambda row: row.line)


def _with_whole_cells(content: bytes) -> bytes:
    """Put vertical tabs for the ends of lines inside the cells of a table with a header."""
    first, _ = _decoded(content.partition(b"\n")[0])
    if not _header(first.lstrip("#")):
        return content
    return _CELL.sub(lambda match: match[0].replace(b"\n", b"\v"), content)


def _leave_out_a_cut_line(rows: Sequence[Row]) -> None:
    """Leave out a last line that lacks columns: a full disk may have cut its numbers, too."""
    if len(rows) > 1:
        last, before = rows[-1], rows[-2]
        lacks = "columns" in last.reasons and "columns" not in before.reasons
        if lacks or (last.left_out.startswith("other columns") and not before.left_out):
            last.left_out = "last line, which is cut off"


def _decoded(line: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return line.decode("utf-8"), ()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace"), ("encoding (Windows-1252 to UTF-8)",)


def _header(text: str) -> bool:
    """Return whether a line such as "qid docno score" names columns."""
    at = places(_cells(text, _separator([text]))) if text[:1].strip() else {}
    return {"topic", "document"} <= at.keys()


def _are_of_trec(sample: Sequence[str]) -> bool:
    """Return whether most lines have TREC's six columns, and no number of the line before them."""
    lines = [_cells(text, " ") for text in sample]
    six = [cells for cells in lines if len(cells) > 5 and SECOND.fullmatch(cells[1])]
    if 2 * len(six) < len(lines) or any("q" in cells[1].lower() for cells in six):
        return 2 * len(six) >= len(lines)
    if all(cells[2].lower() == "q0" or (cells[6:] and SECOND.fullmatch(cells[2])) for cells in six):
        return False
    numbered = counts([""] * len(lines), [cells[0] for cells in lines])
    return not numbered or len({cells[3] for cells in six}) == 1


def _separator(sample: Sequence[str]) -> str:
    """What separates the columns of lines: what gives a header's names, or the most columns."""
    best, most = " ", 1
    headers = {mark: places(_cells(sample[0], mark)) for mark in _SEPARATORS + " "}
    has_header = any("topic" in at and len(at) > 1 for at in headers.values())
    for separator in "" if _are_of_trec(sample) and not has_header else headers:
        cells = [_cells(text, separator) for text in sample]
        ((width, times),) = Counter(map(len, cells)).most_common(1)
        name_count = len(headers[separator])
        others = (_SEPARATORS + " ").replace(separator, "")
        if separator == " " and most > 200:
            continue  # a name of two words
        if name_count < 2 and all(any(mark in row[0] for mark in others) for row in cells):
            continue  # no id of a topic has another separator in it
        value = 100 * name_count * (name_count > 1) + width * (10 * times >= 9 * len(cells))
        if width > 1 and value > most + 2 * (separator == " " and most > 2):
            best, most = separator, value
    return best


def _cells(text: str, separator: str) -> list[str]:
    if separator == " ":
        text = text.strip()
        if '"' not in text and "'" not in text:
            cells = _WHITE_SPACE.split(text)
            return cells if len(cells) > 5 or text.isascii() else text.split()
        return [cell.strip("\"'") for cell in _QUOTED.findall(text)]
    if text[0] in "([" and text.rstrip(",")[-1] in ")]":
        text = text.rstrip(",")[1:-1]
    try:
        (cells,) = csv.reader([text], delimiter=separator, skipinitialspace=True)
    except csv.Error:  # a cell of more than 128 KB
        return [text]
    return [cell.strip().strip("'\"") for cell in cells] or [""]


def _read_by_names(
    rows: Sequence[Row], lines: Sequence[list[str]], names: list[str], path: Path
) -> list[Row]:
    """Read columns by the names of the first line; return further rows, of lists of documents."""
    header, *others = lines
    widths = Counter(map(len, others))
    # R's tables name all columns but that of row names.
    if widths and widths.most_common(1)[0][0] == len(names) + 1:
        names = ["", *names]
    at = places(names)
    documents = at.get("document", -1)
    if is_list := documents < 0:
        documents = place_of(LISTS, [*map(plain, names)])
    if not is_list and not at.keys() & {"rank", "score"}:
        passed = {plain(name) for place, name in enumerate(names) if place not in at.values()}
        if passed - _TEXTS - {"", "unnamed0", "index", "level0"}:
            raise InputError(
                f"no column is named rank or score (columns: {listing(names, 9)}).", path=path
            )
    rows[0].left_out = "header"
    more: list[Row] = []
    for row, cells in zip(rows[1:], others, strict=True):
        if cells == header:
            row.left_out = "header"
        elif len(cells) != len(names):
            row.left_out = "other columns than the header has"
        else:
            more += _assign(row, cells, {**at, "document": documents}, is_list)
    return more


def _placed(rows: Sequence[Row], lines: Sequence[list[str]], path: Path) -> list[Row]:
    """Read columns by what they hold; return further rows, of lists of documents."""
    widths = Counter(map(len, lines))
    width = max(widths, key=lambda size: widths[size])
    usual = [cells for cells in lines if len(cells) == width]
    numbers = any(all(map(is_number, cells)) for cells in zip(*usual[1:], strict=True))
    if lines[0] in usual and numbers and not any(map(is_number, lines[0])):
        raise InputError(
            f"the first line seems to be a header, but names no topic and document: "
            f"{listing(lines[0], 9)}. Known names are qid, docno, rank, score, run.",
            path=path,
            line=rows[0].line,
        )
    is_list = width == 2 and any(" " in cells[1] for cells in usual)
    try:
        at = {"topic": 0, "document": 1} if is_list else placed(usual)
    except ValueError as error:
        message = f"{error}, and there is no header. Put a line as 'qid docno rank score' above."
        raise InputError(message, path=path) from error
    more: list[Row] = []
    for row, cells in zip(rows, lines, strict=True):
        if len(cells) == width:
            more += _assign(row, cells, at, is_list)
        else:
            row.left_out = "other columns than most lines"
    return more


def _assign(row: Row, cells: list[str], at: Mapping[str, int], is_list: bool) -> Iterator[Row]:
    """Fill a row; yield further ones if its document is a list."""
    read = {column: cells[place] for column, place in at.items()}
    row.topic, row.document = sys.intern(read["topic"]), read["document"]
    row.rank_text, row.score_text = read.get("rank", ""), read.get("score", "")
    row.tag = sys.intern(read["tag"]) if read.get("tag") else None
    row.reasons += ("columns",)
    if is_list:
        first, *others = _BETWEEN.split(row.document.strip("[](){} ")) or [""]
        row.document = first.strip("\"'")
        for document in others:
            yield Row(row.line, "", row.topic, document.strip("\"'"), reasons=row.reasons)


def _fill(row: Row, text: str) -> None:
    """Assign the cells of a line of TREC's: all six, or with second, rank or tag missing."""
    if "{" in text:
        text = _OBJECT.sub(lambda match: "".join(match[0].split()), text)
    cells = _WHITE_SPACE.split(text.strip())
    if not text.isascii():
        apart = text.split() if len(cells) < 6 else [cell.strip() for cell in cells]
        row.reasons += ("no-break spaces",) if apart != cells else ()
        cells = apart
    if len(cells) < 3:
        cells = [cell.strip("\"'") for cell in re.split(r"\s*[,;]\s*", text)]
    elif '"' in text or "'" in text:
        cells = _cells(text, " ")
    has_second = len(cells) > 3 and SECOND.fullmatch(cells[1]) is not None
    rest = [cells[0], *cells[2:]] if has_second else cells
    numbers = [is_number(cell) for cell in rest[2:4]] if len(rest) < 5 else []
    if len(rest) >= 5 or numbers == [True, True]:
        row.topic, row.document, row.rank_text, row.score_text = rest[:4]
        row.tag = rest[4] if len(rest) > 4 else None
    elif numbers[:1] == [True]:
        row.topic, row.document, row.score_text = rest[:3]
        row.tag = rest[3] if len(rest) > 3 else None
        if _RANK.fullmatch(row.score_text):
            row.left_out = "a number that may be its rank or its score"
    else:
        row.left_out = "columns that are too few"
        row.reasons += ("columns",)
        return
    row.topic = sys.intern(row.topic)
    row.tag = sys.intern(row.tag) if row.tag is not None else None
    if len(cells) != 6 or not has_second:
        row.reasons += ("columns",)
    elif cells[1] != "Q0":
        row.reasons += ("second column",)


def _swap(rows: Sequence[Row]) -> None:
    """Swap rank and score if all lines have them the other way round."""
    columns = zip(*((row.topic, row.rank_text, row.score_text) for row in rows), strict=True)
    if rows and choose_numbers(*columns) == (1, 0):
        for row in rows:
            row.rank_text, row.score_text = row.score_text, row.rank_text
            row.reasons += ("rank and score swapped",)


def _read_numbers(rows: Sequence[Row], path: Path, order: Order | None) -> None:
    """Read ranks and scores; refuse scores that may be ranks, or distances."""
    read = [row for row in rows if not row.left_out]
    topics = [row.topic for row in read]
    ranks, scores = [row.rank_text for row in read], [row.score_text for row in read]
    commas = [score for score in scores if _DECIMAL_COMMA.fullmatch(score)]
    thousands = bool(commas) and all(map(_THOUSANDS.fullmatch, commas))
    places: Counter[str] = Counter()
    ranks_differ = len({*zip(topics, ranks, strict=True)}) > len({*topics})
    rising = "" if ranks_differ else rises(topics, scores)
    if rising and order is None:
        raise InputError(
            f"{rising}: they may be ranks, or distances, of which the smallest is best. Say what "
            f"holds: {option('order', 'scores')}, or {option('order', 'ranks')} for the order of "
            "the lines.",
            path=path,
        )
    if order == "ranks" and not rising and not any(ranks) and any(scores):
        raise InputError(
            f"{option('order', 'ranks')}: there are scores alone in this file.", path=path
        )
    by_line = (bool(rising) and order == "ranks") or (not any(ranks) and not any(scores))
    for row, rank, text in zip(read, ranks, scores, strict=True):
        if by_line:
            places[row.topic] += 1
            row.rank, row.score_text = places[row.topic], ""
            row.reasons += ("rank, from the order of the lines",)
            continue
        if match := _RANK.fullmatch(rank):
            row.rank = int(match[1])
            row.reasons += ("rank",) if match[1] != rank else ()
        row.score_text = text
        if _DECIMAL_COMMA.fullmatch(text) and not thousands:
            row.score_text = text.replace(",", ".")
            row.reasons += ("decimal comma",)
        row.score = number(row.score_text)
        if row.score is not None and math.isnan(row.score):
            row.score = None
