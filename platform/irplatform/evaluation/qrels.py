"""Relevance judgments from files: TREC's four columns, BEIR's three with a header, or BioASQ's.

TREC: `topic 0 docid grade`, parted by white space. BEIR: `query-id corpus-id score`, parted by
tabs, with those names in the first line. BioASQ: JSON, see `irplatform.bioasq`. Each may be gzipped
(`.gz`). Grades are whole numbers. In BEIR's columns with `level` for `score` they are levels, as of
clicks: they may have decimals, and are read as floats.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from irplatform.bioasq import holds_questions, relevant_documents
from irplatform.errors import InputError, counted
from irplatform.text_files import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.collections.collection import Qrels

_BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]
_LEVEL_HEADER = [*_BEIR_HEADER[:2], b"level"]
_TREC_COLUMNS = (
    "Every line needs four columns, parted by white space: topic 0 docid grade; or three, parted "
    "by tabs, below BEIR's header 'query-id corpus-id score'. Sampled judgments have five: topic 0 "
    "docid stratum grade (`sampled` in a collection.toml names them)"
)
_BEIR_COLUMNS = "Every line needs three columns parted by tabs: query-id corpus-id score"
_SEPARATORS = re.compile(rb"[\s,;]+")
_WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]{1,6}")
"""trec_eval takes memory for every grade up to the highest: a PMID in this column would end it."""
_LEVEL = re.compile(_WHOLE_NUMBER.pattern + rb"(\.[0-9]+)?")

_Columns = tuple[bytes, bytes, bytes]
"""Topic, document, grade."""


def read_qrels(path: Path | str) -> Qrels:
    """Read judgments.

    Args:
        path: the file; its first line tells the formats apart.

    Returns:
        Topic id to document id to grade, in the order of the file; levels are floats. Negative
        grades are kept; they mean what they mean to trec_eval: not relevant, and "not judged" where
        a measure asks.

    Raises:
        InputError: the file is missing or empty, a line has the wrong number of columns, a grade
            is not a whole number, or two lines judge a document differently; for questions of
            BioASQ see `relevant_documents`.
    """
    path = Path(path)
    if holds_questions(path):
        return relevant_documents(path)
    split = _split_trec
    read_grade: Callable[[bytes, Path, int], float] = _grade
    qrels: dict[str, dict[str, float]] = {}
    grades: dict[bytes, float] = {}
    topic_id = b""
    judgments: dict[str, float] = {}
    for number, line in numbered_lines(path):
        if not qrels and split is _split_trec and _is_beir_header(line):
            split = _split_beir
            read_grade = _level if _columns(line) == _LEVEL_HEADER else _grade
            continue
        topic, document, grade_text = split(line, path, number)
        if (grade := grades.get(grade_text)) is None:
            grade = grades[grade_text] = read_grade(grade_text, path, number)
        try:
            if topic != topic_id or not judgments:
                judgments = qrels.setdefault(topic.decode(), {})
                topic_id = topic
            document_id = document.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                "this line is not UTF-8. Convert the file.", path=path, line=number
            ) from error
        if judgments.setdefault(document_id, grade) != grade:
            _raise_disagreement(path, split, (topic, document, grade_text), number)
    if not qrels:
        raise InputError(f"there are no judgments in this file. {_TREC_COLUMNS}.", path=path)
    return qrels


def _is_beir_header(line: bytes) -> bool:
    return _columns(line) in (_BEIR_HEADER, _LEVEL_HEADER)


def _columns(header: bytes) -> list[bytes]:
    return [name.strip().lower() for name in header.split(b"\t")]


def _split_trec(line: bytes, path: Path, number: int) -> _Columns:
    columns = line.split()
    if len(columns) != 4:
        if _is_beir_header(_SEPARATORS.sub(b"\t", line.strip())):
            raise InputError(
                f"BEIR's header without tabs. {_BEIR_COLUMNS}.", path=path, line=number
            )
        raise _wrong_count(columns, _TREC_COLUMNS, path, number)
    return columns[0], columns[2], columns[3]


def _split_beir(line: bytes, path: Path, number: int) -> _Columns:
    columns = [column.strip() for column in line.split(b"\t")]
    if len(columns) != 3:
        raise _wrong_count(columns, _BEIR_COLUMNS, path, number)
    if not columns[0] or not columns[1]:
        raise InputError(f"an id is empty. {_BEIR_COLUMNS}.", path=path, line=number)
    return columns[0], columns[1], columns[2]


def _wrong_count(columns: list[bytes], needed: str, path: Path, number: int) -> InputError:
    return InputError(f"{counted(len(columns), 'column')}. {needed}.", path=path, line=number)


def _grade(text: bytes, path: Path, number: int) -> int:
    if not _WHOLE_NUMBER.fullmatch(text):
        raise InputError(
            f"the grade '{text.decode(errors='replace')}' is not a whole number of at "
            "most six digits. 0 and below is not relevant. (Levels with decimals are read below "
            "the header 'query-id corpus-id level', in three columns parted by tabs.)",
            path=path,
            line=number,
        )
    return int(text)


def _level(text: bytes, path: Path, number: int) -> float:
    if not _LEVEL.fullmatch(text):
        raise InputError(
            f"the level '{text.decode(errors='replace')}' is not a number with at most six digits "
            "before the point. 0 and below is not relevant.",
            path=path,
            line=number,
        )
    return float(text)


def _raise_disagreement(
    path: Path,
    split: Callable[[bytes, Path, int], _Columns],
    repeated: _Columns,
    number: int,
) -> NoReturn:
    """Say which earlier line judged the same document; the file is read again to find it."""
    topic, document, grade = repeated
    first, first_grade = next(
        (earlier, columns[2])
        for earlier, line in numbered_lines(path)
        if not _is_beir_header(line) and (columns := split(line, path, earlier))[:2] == repeated[:2]
    )
    raise InputError(
        f"topic '{topic.decode()}' judges document '{document.decode()}' as {grade.decode()} here "
        f"but as {first_grade.decode()} in line {first}. Keep one of the two.",
        path=path,
        line=number,
    )
