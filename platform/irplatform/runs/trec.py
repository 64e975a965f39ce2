"""TREC run files: `topic Q0 docid rank score tag`, one result a line, gzipped if named `.gz`.

Files are read in blocks, which are split, checked and converted as columns; only if a check fails,
the file is read again line by line (`scan`) to say where and why. Like trec_eval 10, it ignores
lines that begin with `#` and text after the run tag. Scores are written as the shortest decimals
that read back as the same floats, so that order and bytes survive a round trip.
"""

from __future__ import annotations

import gzip
import hashlib
import math
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import numpy as np
import numpy.typing as npt
import orjson

from irplatform.errors import InputError, counted
from irplatform.runs.packed import ranked
from irplatform.runs.run import Ranking, Run, Scores
from irplatform.system.columns import changes, split
from irplatform.system.console import notice_once
from irplatform.system.reading import (
    BARE_RETURN,
    COMMENT,
    NUL_BYTE,
    blocks_of_lines,
    notice_comments,
    numbered_lines,
)
from irplatform.system.writing import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO

    from irplatform.system.columns import Cells, Table

COLUMNS = "Every line needs: topic Q0 docid rank score tag."
METADATA = b"# ir_metadata.start"
"""Begins a run file with ir_metadata in its head."""
_JSON = f"this is JSON, not a run. {COLUMNS} For answers to BioASQ, name the run behind them."
_JSON_BEGINS = (b"{", b"[")
_LARGEST = float(np.finfo(np.float32).max)
_END_OF_LINE = b" \0 "
_COMPRESSION = 6
_PART = 1 << 18
"""Lines ordered at a time."""
_WHITE_SPACE = frozenset(" \t\n\r\v\f")


@dataclass(frozen=True)
class Problem:
    """Something wrong with a run file.

    Attributes:
        level: an "error" makes the file unreadable or TREC refuse it; a "warning" does not.
        message: what is wrong and what to do.
        line: the first line at fault, from 1; None for the whole file.
        lines: all lines with the same problem.
    """

    level: Literal["error", "warning"]
    message: str
    line: int | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A sound line of a run."""

    line: int
    topic: str
    second: str
    document: str
    rank: str
    score: float
    tag: str


def read_run(path: Path | str) -> Run:
    """Read a run.

    As in trec_eval, the ranking follows from scores and document ids alone: the order of lines and
    the rank column do not matter.

    Returns:
        The run, its topics in the order in which they first appear, named by the first line's tag.

    Raises:
        InputError: the file is missing or empty, or a line is at fault: a wrong number of columns,
            a score that is not a finite number, a document that comes twice, text that is not
            UTF-8.
    """
    path = Path(path)
    passed = _Passed()
    try:
        rankings = _rankings(path, passed)
        if rankings is None:
            passed = _Passed()
            rankings = _scattered_rankings(path, passed)
    except ValueError as error:  # UnicodeDecodeError is one
        _raise_first_error(path, error)
    if not rankings:
        raise InputError(f"there are no results in this file. {COLUMNS}", path=path)
    if not passed.has_metadata:
        notice_comments(path, passed.comments)
    if passed.longer:
        notice_once(f"{path}: ignored after the run tag: text in {counted(passed.longer, 'line')}")
    return Run(passed.tag.decode(errors="replace"), rankings)


def _rankings(path: Path, passed: _Passed) -> dict[str, Ranking] | None:
    """The rankings of a file that has the results of a topic together; None for another file."""
    rankings: dict[str, Ranking] = {}
    for part in _parts(_tables(path, passed)):
        topics = [topic.decode() for topic in part.topics]
        if len(set(topics)) < len(topics) or not rankings.keys().isdisjoint(topics):
            return None
        rankings.update(zip(topics, ranked(part.bounds, part.documents, part.scores), strict=True))
    return rankings


def _scattered_rankings(path: Path, passed: _Passed) -> dict[str, Ranking]:
    """The rankings of a file in any order, from all of its lines at once."""
    numbers: dict[bytes, int] = {}
    parts = list(_parts(_tables(path, passed)))
    topics = np.concatenate(
        [
            np.repeat(
                [numbers.setdefault(topic, len(numbers)) for topic in part.topics],
                np.diff(part.bounds),
            )
            for part in parts
        ]
    )
    order = np.argsort(topics, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(topics)))
    documents = np.concatenate([part.documents for part in parts])[order]
    scores = np.concatenate([part.scores for part in parts])[order]
    names = [topic.decode() for topic in numbers]
    return dict(zip(names, ranked(bounds, documents, scores), strict=True))


@dataclass(frozen=True, slots=True)
class _Part:
    """Some stretches of a file, each of lines of one topic.

    Attributes:
        topics: the topic of each.
        bounds: the line where each begins, from 0, and the number of lines.
        documents: the document of each line.
        scores: its score.
    """

    topics: list[bytes]
    bounds: npt.NDArray[np.intp]
    documents: Cells
    scores: npt.NDArray[np.float64]


def _parts(tables: Iterable[Table]) -> Iterator[_Part]:
    """Join stretches across blocks, and yield whole ones, in parts of many lines."""
    topics: list[bytes] = []
    starts: list[int] = []
    documents: list[Cells] = []
    scores: list[npt.NDArray[np.float64]] = []
    lines = 0
    for table in tables:
        cells = table.column(0)
        begins = changes(cells)
        names = cells[begins].tolist()
        documents.append(table.column(2))
        scores.append(table.numbers(4))
        if not table.is_ascii:
            for texts in (names, documents[-1].tolist()):
                b"\n".join(texts).decode()
        new = slice(int(topics[-1:] == names[:1]), None)
        topics += names[new]
        starts += (begins[new] + lines).tolist()
        lines += len(table)
        if lines >= _PART and len(topics) > 1:
            documents, scores = [np.concatenate(documents)], [np.concatenate(scores)]
            cut = starts[-1]
            yield _Part(topics[:-1], np.array(starts), documents[0][:cut], scores[0][:cut])
            topics, starts, lines = topics[-1:], [0], lines - cut
            documents, scores = [documents[0][cut:].copy()], [scores[0][cut:].copy()]
    if topics:
        bounds = np.array([*starts, lines])
        yield _Part(topics, bounds, np.concatenate(documents), np.concatenate(scores))


def _tables(path: Path, passed: _Passed) -> Iterator[Table]:
    """The lines of a run as tables of six columns."""
    for block in blocks_of_lines(path):
        table = split(block, 6)
        if table is None or (table.firsts(0) == ord("#")).any():
            regular = _regular(block, passed)
            if not regular:
                continue
            table = split(regular, 6)
            if table is None:
                raise ValueError("a line without six columns")
        passed.tag = passed.tag or table.cell(0, 5)
        yield table


def write_run(
    run: Run, path: Path | str, *, complete: Callable[[str], object] = lambda _: None
) -> None:
    """Write a run; the file appears whole or not at all, and equal runs give equal bytes.

    Topics without results leave no trace in the file.

    Args:
        run: the run; its name becomes the tag.
        path: the file; gzipped if it ends in `.gz`.
        complete: called with the SHA-256 of the lines when they are on disk, before the file
            appears.

    Raises:
        InputError: the name or an id is empty or has white space in it, a topic id begins with `#`,
            or the folder cannot be written to.
    """
    path = Path(path)
    _refuse_white_space([run.name], "the run's name", path)
    _refuse_white_space(run.rankings, "a topic id", path)
    if hidden := next((topic for topic in run.rankings if topic.startswith("#")), None):
        raise InputError(
            f"cannot be written: a topic id is '{hidden}', and a line of a TREC run that begins "
            "with '#' is a comment. Rename it.",
            path=path,
        )
    content = hashlib.sha256()
    with atomic_write(path, "wb") as file, ExitStack() as packing:
        out: IO[bytes] | gzip.GzipFile = file
        if path.suffix == ".gz":
            out = gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0)
            packing.enter_context(closing(out))
        for topic_id, ranking in run.rankings.items():
            _refuse_white_space(ranking.doc_ids, f"a document id (topic '{topic_id}')", path)
            lines = "".join(run_lines(topic_id, ranking, run.name)).encode()
            content.update(lines)
            out.write(lines)
        packing.close()
        file.flush()
        complete(content.hexdigest())


def run_lines(topic_id: str, ranking: Ranking, tag: str) -> Iterator[str]:
    """Yield a topic's lines of a run file, best document first."""
    scores = _shortest(ranking.scores)
    for rank, (doc_id, score) in enumerate(zip(ranking.doc_ids, scores, strict=True), start=1):
        yield f"{topic_id} Q0 {doc_id} {rank} {score} {tag}\n"


def scan(path: Path, *, strict: bool = True) -> Iterator[Result | Problem]:
    """Yield the result of every line that is not blank, or why it has none.

    For a file of JSON, only the first line is yielded.

    Args:
        path: the file.
        strict: read runs as TREC's check scripts do; otherwise as trec_eval 10 does.

    Raises:
        InputError: the file cannot be opened, or its lines end in a carriage return alone.
    """
    seen: dict[str, dict[str, int]] = {}
    for number, raw in numbered_lines(path):
        if b"\0" in raw:
            yield Problem("error", f"this line has a {NUL_BYTE}", number)
            continue
        columns = raw.split()
        if b"\r" in raw.rstrip() and len(columns) != 6:
            yield Problem("error", f"this line has {BARE_RETURN}", number)
            continue
        if columns[0].startswith(b"#"):
            if strict:
                yield Problem(
                    "error",
                    "this line begins with '#': trec_eval 10 passes over it as a comment, but "
                    "TREC's check scripts refuse it. Remove it.",
                    number,
                )
            continue
        if not strict:
            columns = columns[:6]
        if len(columns) != 6 and not seen and raw.lstrip().startswith(_JSON_BEGINS):
            yield Problem("error", _JSON, number)
            return
        if len(columns) != 6:
            yield Problem("error", f"{counted(len(columns), 'column')}. {COLUMNS}", number)
            continue
        try:
            topic, second, document, rank, score_text, tag = (c.decode() for c in columns)
        except UnicodeDecodeError:
            yield Problem("error", "this line is not UTF-8. Convert the file.", number)
            continue
        if fault := _score_fault(score_text, strict):
            yield Problem("error", f"the score '{score_text}' {fault}. {COLUMNS}", number)
            continue
        if (first := seen.setdefault(topic, {}).setdefault(document, number)) != number:
            yield Problem(
                "error",
                f"topic '{topic}' has document '{document}' a second time; the first is in line "
                f"{first}. Keep one of the two.",
                number,
            )
            continue
        yield Result(number, topic, second, document, rank, float(score_text), tag)


def run_errors(path: Path) -> Iterator[Problem]:
    """Yield the problems that keep a run file from being read, in the order of the file.

    Raises:
        InputError: see `scan`.
    """
    return (entry for entry in scan(path, strict=False) if isinstance(entry, Problem))


def _score_fault(text: str, strict: bool) -> str:
    try:
        score = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        return "is not a number"
    if not math.isfinite(score):
        return "is not a finite number"
    with np.errstate(over="ignore"):
        if strict and not np.isfinite(np.float32(score)):
            return f"is beyond what a 32-bit float holds ({_LARGEST:.3g})"
    return ""


@dataclass
class _Passed:
    """Counts of ignored comments, and of lines with text after the run tag.

    Attributes:
        has_metadata: comments begin with ir_metadata, which readers expect.
        tag: the run tag of the first result.
    """

    comments: int = 0
    longer: int = 0
    has_metadata: bool = False
    tag: bytes = b""


def _regular(block: bytes, passed: _Passed) -> bytes:
    """Bring lines into six columns with a blank between them.

    Raises:
        ValueError: a line has fewer.
    """
    if not block.endswith(b"\n"):
        block += b"\n"
    lines = block.count(b"\n")
    cells = block.replace(b"\n", _END_OF_LINE).split()
    if (
        len(cells) != 7 * lines
        or cells[6::7].count(_END_OF_LINE.strip()) != lines
        or (b"#" in block and COMMENT.search(b"\n" + block))
    ):
        return _regular_by_line(block, passed)
    return (b" ".join(cells) + b" ").replace(_END_OF_LINE, b"\n")


def _regular_by_line(block: bytes, passed: _Passed) -> bytes:
    """The same if some lines are blank, comments or longer than a result."""
    rows = []
    passed.has_metadata |= block.startswith(METADATA)
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


def _raise_first_error(path: Path, cause: ValueError) -> NoReturn:
    for problem in run_errors(path):
        raise InputError(problem.message, path=path, line=problem.line)
    raise InputError(f"this file cannot be read as a run: {cause}. {COLUMNS}", path=path) from cause


def _shortest(scores: Scores) -> list[str]:
    packed = orjson.dumps(np.ascontiguousarray(scores), option=orjson.OPT_SERIALIZE_NUMPY)
    texts = packed[1:-1].decode().split(",") if len(scores) else []
    read_back = np.array(list(map(float, texts)), dtype=np.float64).astype(scores.dtype)
    for position in np.flatnonzero(read_back != scores).tolist():
        # A decimal that rounds to the wrong neighbour by way of 64 bits, which is how readers do it
        texts[position] = repr(float(scores[position]))
    return texts


def _refuse_white_space(names: Iterable[str], what: str, path: Path) -> None:
    for name in names:
        if not name or not _WHITE_SPACE.isdisjoint(name):
            raise InputError(
                f"cannot be written: {what} is '{name}', and a TREC run's columns are separated "
                "by white space. Rename it.",
                path=path,
            )
