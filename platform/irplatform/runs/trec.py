"""TREC run files: `topic Q0 docid rank score tag`, one result a line, gzipped if named `.gz`.

Files are read as columns (`irplatform.runs.parts`), and ids stay packed until they are used; only
if something is wrong, the file is read again line by line (`scan`) to say where and why. Like
trec_eval 10, it ignores lines that begin with `#` and text after the run tag. Scores are written as
the shortest decimals that read back as the same floats, so that order and bytes survive a round
trip.
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
from irplatform.files.reading import (
    BARE_RETURN,
    NUL_BYTE,
    notice_comments,
    numbered_lines,
)
from irplatform.files.writing import atomic_write
from irplatform.runs.bioasq import holds_json
from irplatform.runs.json_runs import read_json_run
from irplatform.runs.packed import doc_ids_of, ranked
from irplatform.runs.parts import Passed, gathered, parts, tables
from irplatform.runs.run import Ranking, Run, Scores
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO

    from irplatform.files.columns import Cells, Table

COLUMNS = "Every line needs: topic Q0 docid rank score tag."
COMMENT = (
    "this line begins with '#': trec_eval 10 passes over it as a comment, but TREC's check scripts "
    "refuse it. Remove it."
)
_LARGEST = float(np.finfo(np.float32).max)
_COMPRESSION = 4
"""Of gzip: level 6 takes twice the time for files that are 2 to 4 % smaller."""
_WHITE_SPACE = b" \t\n\r\v\f"
_RANKS: list[str] = []
"""Ranks as texts, as many as were needed."""


@dataclass(frozen=True)
class Problem:
    """Something wrong with a run file.

    Attributes:
        level: an "error" makes the file unreadable or TREC refuse it; a "warning" does not, and a
            "note" is no fault.
        message: what is wrong and what to do.
        line: the first line at fault, from 1; None for the whole file.
        lines: all lines with the same problem.
    """

    level: Literal["error", "warning", "note"]
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
    r"""Read a run in TREC's form, or in JSON as `irplatform.runs.json_runs` has it.

    As in trec_eval, the ranking follows from scores and document ids alone: the order of lines and
    the rank column do not matter.

    Returns:
        The run, its topics in the order in which they first appear, named by the first line's tag.

    Raises:
        InputError: the file is missing or empty, or a line is at fault: a wrong number of columns,
            a score that is not a finite number, a document that comes twice, text that is not
            UTF-8.

    Examples:
        >>> import irplatform as ir, pathlib
        >>> _ = pathlib.Path("my.run").write_text("41 Q0 d7 1 2.5 mine\n41 Q0 d3 2 1.5 mine\n")
        >>> ir.read_run("my.run").rankings["41"].doc_ids
        ('d7', 'd3')
    """
    path = Path(path)
    passed = Passed()
    try:
        rankings = _rankings(path, passed)
        if rankings is None:
            passed = Passed()
            rankings = _scattered_rankings(path, passed)
    except (InputError, ValueError) as error:  # UnicodeDecodeError is one
        if holds_json(path):
            return read_json_run(path)
        if isinstance(error, InputError):  # a line of 64 MB, say, which JSON may have
            raise
        _raise_first_error(path, error)
    if not rankings:
        raise InputError(f"there are no results in this file. {COLUMNS}", path=path)
    if not passed.has_metadata:
        notice_comments(path, passed.comments)
    if passed.longer:
        notice_once(f"{path}: ignored after the run tag: text in {counted(passed.longer, 'line')}")
    return Run(passed.tag.decode(errors="replace"), rankings, path)


def _rankings(path: Path, passed: Passed) -> dict[str, Ranking] | None:
    """The rankings of a file that has the results of a topic together; None for another file."""
    rankings: dict[str, Ranking] = {}
    for part in parts(tables(path, passed), _results):
        topics = [topic.decode() for topic in part.topics]
        if len(set(topics)) < len(topics) or not rankings.keys().isdisjoint(topics):
            return None
        rankings.update(zip(topics, ranked(part.bounds, *part.columns), strict=True))
    return rankings


def _scattered_rankings(path: Path, passed: Passed) -> dict[str, Ranking]:
    """The rankings of a file in any order, from all of its lines at once."""
    part = gathered(parts(tables(path, passed), _results))
    topics = [topic.decode() for topic in part.topics]
    return dict(zip(topics, ranked(part.bounds, *part.columns), strict=True))


def _results(table: Table) -> tuple[Cells, npt.NDArray[np.float64]]:
    """Documents and scores; UnicodeDecodeError if a topic or document is not UTF-8."""
    documents = table.column(2)
    if not table.is_plain:
        for cells in (table.column(0), documents):
            b"\n".join(cells.tolist()).decode()
    return documents, table.numbers(4)


def write_run(
    run: Run,
    path: Path | str,
    *,
    complete: Callable[[str], object] = lambda _: None,
    digests: dict[str, str] | None = None,
) -> None:
    """Write a run; the file appears whole or not at all, and equal runs give equal bytes.

    Topics without results leave no trace in the file.

    Args:
        run: the run; its name becomes the tag.
        path: the file; gzipped if it ends in `.gz`.
        complete: called with the SHA-256 of the lines when they are on disk, before the file
            appears.
        digests: filled with a digest of each topic's ranking before that; see `ranking_digest`.

    Raises:
        InputError: the name or an id is empty or has white space in it, a topic id begins with `#`,
            or the folder cannot be written to.

    Examples:
        >>> import irplatform as ir
        >>> ir.write_run(ir.Run("mine", {"41": ir.Ranking.of(["d3", "d7"], [1.5, 2.5])}), "my.run")
        >>> print(open("my.run").read(), end="")
        41 Q0 d7 1 2.5 mine
        41 Q0 d3 2 1.5 mine
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
            rows = run_rows(ranking)
            if digests is not None and rows:
                digests[topic_id] = ranking_digest(rows)
            lines = run_lines(topic_id, rows, run.name)
            blanks = len(lines) - len(lines.translate(None, _WHITE_SPACE))
            if blanks != 6 * len(rows) or b"  " in lines:
                _refuse_white_space(ranking.doc_ids, f"a document id (topic '{topic_id}')", path)
            content.update(lines)
            out.write(lines)
        packing.close()
        file.flush()
        complete(content.hexdigest())


def run_rows(ranking: Ranking) -> list[str]:
    """Return the document, rank and score of each line of a ranking, best document first."""
    while len(_RANKS) < len(ranking):
        _RANKS.append(str(len(_RANKS) + 1))
    columns = (doc_ids_of(ranking), _RANKS[: len(ranking)], _shortest(ranking.scores))
    return list(map(" ".join, zip(*columns, strict=True)))


def run_lines(topic_id: str, rows: Sequence[str], tag: str) -> bytes:
    """Return a topic's lines of a run file."""
    between = f" {tag}\n{topic_id} Q0 "
    return f"{topic_id} Q0 {between.join(rows)} {tag}\n".encode() if rows else b""


def ranking_digest(rows: Sequence[str]) -> str:
    """Return 8 hexadecimal digits for a ranking's documents and scores."""
    return hashlib.sha256(run_lines("", rows, "")).hexdigest()[:8]


def scan(path: Path, *, strict: bool = True) -> Iterator[Result | Problem]:
    """Yield the result of every line that is not blank, or why it has none.

    Args:
        path: the file.
        strict: read runs as TREC's check scripts do; otherwise as trec_eval 10 does.

    Raises:
        InputError: the file cannot be opened, or its lines end in a carriage return alone.
    """
    topics: dict[str, dict[str, int]] = {}
    for number, raw in numbered_lines(path):
        entry = checked_line(raw, number, strict=strict)
        if isinstance(entry, Result):
            documents = topics.setdefault(entry.topic, {})
            if (first := documents.setdefault(entry.document, number)) != number:
                entry = Problem(
                    "error",
                    f"topic '{entry.topic}' has document '{entry.document}' a second time; the "
                    f"first is in line {first}. Keep one of the two.",
                    number,
                )
        if entry is not None:
            yield entry


def checked_line(raw: bytes, number: int, *, strict: bool) -> Result | Problem | None:
    """Return the result of a line that is not blank, or why it has none; None for a comment."""
    columns = raw.split()
    if fault := _line_fault(raw, columns, strict):
        return Problem("error", fault, number)
    if columns[0].startswith(b"#"):
        return None
    try:
        topic, second, document, rank, score_text, tag = (c.decode() for c in columns[:6])
    except UnicodeDecodeError:
        return Problem("error", "this line is not UTF-8. Convert the file.", number)
    if fault := _score_fault(score_text, strict):
        return Problem("error", f"the score '{score_text}' {fault}. {COLUMNS}", number)
    return Result(number, topic, second, document, rank, float(score_text), tag)


def _line_fault(raw: bytes, columns: Sequence[bytes], strict: bool) -> str:
    if b"\0" in raw:
        return f"this line has a {NUL_BYTE}"
    if b"\r" in raw.rstrip() and len(columns) != 6:
        return f"this line has {BARE_RETURN}"
    if columns[0].startswith(b"#"):
        return COMMENT if strict else ""
    if len(columns) == 6 or (len(columns) > 6 and not strict):
        return ""
    blank = " One of its blanks is a no-break space." if b"\xc2\xa0" in raw else ""
    return f"{counted(len(columns), 'column')}.{blank} {COLUMNS}"


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


def _raise_first_error(path: Path, cause: ValueError) -> NoReturn:
    for problem in run_errors(path):
        columns = problem.message.endswith(COLUMNS) and " column" in problem.message
        hint = f" `platform submit fix {path} -o NEW` reads tables of other programs."
        raise InputError(problem.message + hint * columns, path=path, line=problem.line)
    raise InputError(f"this file cannot be read as a run: {cause}. {COLUMNS}", path=path) from cause


def _shortest(scores: Scores) -> list[str]:
    if not len(scores):
        return []
    text = orjson.dumps(np.ascontiguousarray(scores), option=orjson.OPT_SERIALIZE_NUMPY)
    texts = text[1:-1].decode().split(",")
    read_back = np.array(orjson.loads(text), dtype=np.float64).astype(scores.dtype)
    for position in np.flatnonzero(read_back != scores).tolist():
        # A decimal that rounds to the wrong neighbour by way of 64 bits, which is how readers do it
        texts[position] = repr(float(scores[position]))
    return texts


def _refuse_white_space(names: Iterable[str], subject: str, path: Path) -> None:
    for name in names:
        if not name or not set(name).isdisjoint(_WHITE_SPACE.decode()):
            raise InputError(
                f"cannot be written: {subject} is '{name}', and a TREC run's columns are separated "
                "by white space. Rename it.",
                path=path,
            )
