"""TREC run files: `topic Q0 docid rank score tag`, one result a line, gzipped if named `.gz`.

Reading is one pass in blocks: a block is split, checked and converted as columns; only when a check
fails is the file read again, line by line, to say where and why. Lines that begin with `#` and text
after the run tag are ignored, as trec_eval 10 ignores them. Scores are written as the shortest
decimals that read back as the same floats, so that order and bytes survive a round trip.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import numpy.typing as npt
import orjson

from irplatform.console import notice_once
from irplatform.errors import InputError, counted
from irplatform.runs.run import Ranking, Run, Scores
from irplatform.runs.scan import COLUMNS, run_errors
from irplatform.storage import atomic_write
from irplatform.text_files import COMMENT, blocks_of_lines, stretches, tell_of_comments

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import IO

_END_OF_LINE = b" \0 "
_COMPRESSION = 6
_WHITE_SPACE = frozenset(" \t\n\r\v\f")


@dataclass
class _Passed:
    """How many lines are passed over as comments, and how many have text after the run tag."""

    comments: int = 0
    longer: int = 0


def read_run(path: Path | str) -> Run:
    """Read a run.

    The order of lines and the rank column do not matter, nor does it matter whether the lines of a
    topic are together: the ranking follows from scores and document ids alone, as in trec_eval.

    Args:
        path: the file.

    Returns:
        The run, its topics in the order in which they first appear, named by the tag of the first
        line.

    Raises:
        InputError: the file is missing or empty, or a line of it is at fault (it is named): wrong
            number of columns, a score that is not a finite number, a document that its topic has
            already, text that is not UTF-8.
    """
    path = Path(path)
    documents: dict[str, list[str]] = {}
    scores: dict[str, list[npt.NDArray[np.float64]]] = {}
    ids = _Decoded()
    passed = _Passed()
    tag = b""
    try:
        for block in blocks_of_lines(path):
            topics, _, block_ids, _, block_scores, tags = _columns(block, passed)
            if not topics:
                continue
            tag = tag or tags[0]
            doc_ids = list(map(ids.__getitem__, block_ids))
            values = _floats(block_scores)
            for topic, start, end in stretches(topics):
                topic_id = topic.decode()
                documents.setdefault(topic_id, []).extend(doc_ids[start:end])
                scores.setdefault(topic_id, []).append(values[start:end])
        rankings = {
            topic_id: Ranking.of(doc_ids, np.concatenate(scores.pop(topic_id)), rounded=False)
            for topic_id, doc_ids in documents.items()
        }
    except ValueError as error:  # UnicodeDecodeError is one
        _raise_first_error(path, error)
    if not rankings:
        raise InputError(f"there are no results in this file. {COLUMNS}", path=path)
    tell_of_comments(path, passed.comments)
    if passed.longer:
        notice_once(f"{path}: ignored after the run tag: text in {counted(passed.longer, 'line')}")
    return Run(tag.decode(errors="replace"), rankings)


def write_run(run: Run, path: Path | str, *, outdated: Path | None = None) -> None:
    """Write a run; the file appears whole or not at all, and equal runs give equal bytes.

    Topics without results leave no trace in the file: the format cannot say that they were asked.

    Args:
        run: what to write; its name becomes the tag.
        path: where; gzipped if it ends in `.gz`.
        outdated: a file about what is there until now; it goes at the moment when the run comes.

    Raises:
        InputError: the name or an id is empty or has white space in it, or a topic id begins with
            `#`, none of which the format can hold; or the folder cannot be written to.
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
    with atomic_write(path, "wb") as file:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as packed:
                _write_lines(run, packed, path)
        else:
            _write_lines(run, file, path)
        if outdated is not None:
            file.flush()
            outdated.unlink(missing_ok=True)


class _Decoded(dict[bytes, str]):
    """Ids as text, each decoded and held once however many topics retrieve it."""

    def __missing__(self, name: bytes) -> str:
        text = self[name] = name.decode()
        return text


def _columns(block: bytes, passed: _Passed) -> list[list[bytes]]:
    """Split lines into six columns in one go, by making the end of a line a seventh."""
    if not block.endswith(b"\n"):
        block += b"\n"
    lines = block.count(b"\n")
    cells = block.replace(b"\n", _END_OF_LINE).split()
    if (
        len(cells) != 7 * lines
        or cells[6::7].count(_END_OF_LINE.strip()) != lines
        or (b"#" in block and COMMENT.search(b"\n" + block))
    ):
        return _columns_by_line(block, passed)
    return [cells[column::7] for column in range(6)]


def _columns_by_line(block: bytes, passed: _Passed) -> list[list[bytes]]:
    """Split lines where some are blank, comments or longer than a result."""
    rows = []
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
            rows.append(columns[:6])
    return [list(column) for column in zip(*rows, strict=True)] or [[]] * 6


def _floats(texts: Sequence[bytes]) -> npt.NDArray[np.float64]:
    if any(b"_" in text for text in texts):  # Python reads 1_000 as a number, nobody else does
        raise ValueError("a score with an underscore")
    return np.fromiter(map(float, texts), np.float64, len(texts))


def _raise_first_error(path: Path, cause: ValueError) -> NoReturn:
    for problem in run_errors(path):
        raise InputError(problem.message, path=path, line=problem.line)
    raise InputError(f"this file cannot be read as a run: {cause}. {COLUMNS}", path=path) from cause


def _write_lines(run: Run, file: IO[bytes] | gzip.GzipFile, path: Path) -> None:
    tag = f" {run.name}\n"
    for topic_id, ranking in run.rankings.items():
        _refuse_white_space(ranking.doc_ids, f"a document id (topic '{topic_id}')", path)
        lines = (
            f"{topic_id} Q0 {doc_id} {rank} {score}{tag}"
            for rank, (doc_id, score) in enumerate(
                zip(ranking.doc_ids, _shortest(ranking.scores), strict=True), start=1
            )
        )
        file.write("".join(lines).encode())


def _shortest(scores: Scores) -> list[str]:
    """The shortest decimals that read back as the same floats."""
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
                f"cannot be written: {what} is '{name}', and a TREC run's columns are parted by "
                "white space. Rename it.",
                path=path,
            )
