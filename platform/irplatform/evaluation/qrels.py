"""Relevance judgments from files: TREC's columns, tables with a header, JSON.

TREC: `topic 0 docid grade`, parted by white space. BEIR: `query-id corpus-id score`, parted by
tabs, below a header, which may have other names. JSON: see `irplatform.evaluation.qrels_json` and
`irplatform.runs.bioasq`. Each may be gzipped (`.gz`). Grades are whole numbers. Under the name
`level` for `score` they are levels, as of clicks: they may have decimals, and are read as floats.

Diversity judgments (the Web track's, ndeval's) have a subtopic in TREC's second column, and a
document may be relevant to one subtopic and not to another. Elsewhere that column says nothing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from irplatform.errors import InputError, counted, listing
from irplatform.evaluation import qrels_json
from irplatform.evaluation.qrel_values import Grades, Judgment, places
from irplatform.runs.bioasq import holds_questions, judgments_of_questions
from irplatform.system.console import notice_once
from irplatform.system.reading import COMMENT, blocks_of_lines, stretches, uncommented_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from irplatform.data import Qrels

_TREC_COLUMNS = (
    "Every line needs four columns, parted by white space: topic 0 docid grade; or three, parted "
    "by tabs, below BEIR's header 'query-id corpus-id score'. Sampled judgments have five: topic 0 "
    "docid stratum grade (`sampled` in a collection.toml names them)"
)
_BLANKS = (b" \t", b"\t ", b" \n", b"\n ", b"\r", b"\v", b"\f")
_SEPARATORS = re.compile(rb"[\s,;]+")
_NUMBER = re.compile(rb"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)


class SubtopicGrades(dict[str, float]):
    """Grades of a topic's documents, each the best of those that subtopics give it.

    Attributes:
        subtopics: subtopic to document id to grade.
    """

    def __init__(self) -> None:
        super().__init__()
        self.subtopics: dict[str, dict[str, float]] = {}

    def add(self, subtopic: str, document: str, grade: float) -> float:
        """Note a judgment; returns the grade that the document has, which is the first."""
        first = self.subtopics.setdefault(subtopic, {}).setdefault(document, grade)
        self[document] = max(first, self.get(document, first))
        return first


def read_qrels(path: Path | str) -> Qrels:
    """Read judgments.

    Args:
        path: the file; its first line tells the formats apart.

    Returns:
        Topic id to document id to grade, in the order of the file; levels are floats. Negative
        grades are kept; they mean what they mean to trec_eval: not relevant, and "not judged" where
        a measure asks. Where a topic has judgments of subtopics, all topics have `SubtopicGrades`.

    Raises:
        InputError: the file is missing or empty, a line has the wrong number of columns or lacks a
            key, a grade is not a whole number, or two lines judge a document differently; for
            questions of BioASQ see `judgments_of_questions`.
    """
    path = Path(path)
    judgments: Callable[[Path], Iterator[Judgment]] = _of_table
    if holds_questions(path):
        if (reader := qrels_json.reader(path)) is None:
            return judgments_of_questions(path)
        judgments = reader
    elif (plain := _plain_table(path)) is not None:
        return plain
    qrels: dict[str, dict[str, float]] = {}
    subtopics: dict[str, str] = {}
    latest = None
    for _, topic, subtopic, document, grade in judgments(path):
        if topic != latest:
            latest = topic
            grades = qrels.setdefault(topic, {})
            first_subtopic = subtopics.setdefault(topic, subtopic)
        if subtopic != first_subtopic:
            return _of_subtopics(path, judgments)
        if grades.setdefault(document, grade) != grade:
            _raise_disagreement(path, judgments(path))
    if not qrels:
        raise InputError(f"there are no judgments in this file. {_TREC_COLUMNS}.", path=path)
    return qrels


def subtopics_of(qrels: Qrels) -> dict[str, Mapping[str, Mapping[str, float]]]:
    """Topic to subtopic to document id to grade; empty where no judgments are of subtopics."""
    return {
        topic: grades.subtopics
        for topic, grades in qrels.items()
        if isinstance(grades, SubtopicGrades)
    }


def _of_subtopics(path: Path, judgments: Callable[[Path], Iterator[Judgment]]) -> Qrels:
    qrels: dict[str, SubtopicGrades] = {}
    for _, topic, subtopic, document, grade in judgments(path):
        if qrels.setdefault(topic, SubtopicGrades()).add(subtopic, document, grade) != grade:
            _raise_disagreement(path, judgments(path))
    several = sum(
        any(each.get(document, grade) != grade for each in grades.subtopics.values())
        for grades in qrels.values()
        for document, grade in grades.items()
    )
    if several:
        notice_once(
            f"{path}: subtopics judge {counted(several, 'document')} differently; measures that "
            "know no subtopics take the best grade"
        )
    return qrels


def _plain_table(path: Path) -> Qrels | None:
    """The same as of `_of_table`, column by column, in half of the time.

    None where a line is at fault, passed over or judges again what another did, and of subtopics.
    """
    qrels: dict[str, dict[str, float]] = {}
    subtopics: dict[bytes, bytes] = {}
    number, first = next(uncommented_lines(path), (0, b""))
    names = header(first, path, number)
    width = 1 + (len(names) or 4)
    topic_at, document_at, grade_at = (places(names) or (0, 1, 2)) if names else (0, 2, 3)
    grades = Grades(path, names[grade_at] if names else "")
    for place, block in enumerate(blocks_of_lines(path)):
        text = (block if block.endswith(b"\n") else block + b"\n").replace(b"\r\n", b"\n")
        if names and not place:
            text = text.partition(b"\n")[2]
        lines = text.count(b"\n")
        if names:
            cells = text.replace(b"\n", b"\t\0\t").split(b"\t")[:-1]
        else:
            cells = text.replace(b"\n", b" \0 ").split()
        topics, documents = cells[topic_at::width], cells[document_at::width]
        if (
            number != 1
            or len(cells) != width * lines
            or cells[width - 1 :: width].count(b"\0") != lines
            or (b"#" in text and COMMENT.search(b"\n" + text))
            or (names and (b"" in topics or b"" in documents or _has_blanks(text)))
        ):
            return None
        try:
            texts = cells[grade_at::width]
            for grade_text in set(texts).difference(grades):
                grades.at(number, grade_text)
            values = [*map(grades.__getitem__, texts)]
            ids = [*map(bytes.decode, documents)]
            for topic, start, end in stretches(topics):
                part = dict(zip(ids[start:end], values[start:end], strict=True))
                judged = qrels.setdefault(topic.decode(), part)
                before = 0 if judged is part else len(judged)
                judged.update(part)
                if len(judged) - before != end - start:
                    return None
                if not names:
                    subtopic = cells[start * width + 1]
                    subtopics.setdefault(topic, subtopic)
                    seconds = cells[start * width + 1 : end * width : width]
                    if subtopics[topic] != subtopic or seconds.count(subtopic) != end - start:
                        return None
        except (UnicodeDecodeError, InputError):
            return None
    return qrels or None


def _has_blanks(text: bytes) -> bool:
    """Whether there may be white space around cells between tabs."""
    padded = b"\n" + text
    return any(blank in padded for blank in _BLANKS)


def _of_table(path: Path) -> Iterator[Judgment]:
    """TREC's columns, or those that a header names."""
    grades = Grades(path)
    names: list[str] | None = None
    topic_bytes = subtopic_bytes = b""
    topic = subtopic = ""
    width, topic_at, document_at, grade_at = 4, 0, 2, 3
    for number, line in uncommented_lines(path):
        if names is None and (names := header(line, path, number)):
            width = len(names)
            topic_at, document_at, grade_at = places(names) or (0, 1, 2)
            grades = Grades(path, names[grade_at])
            continue
        columns = [cell.strip() for cell in line.split(b"\t")] if names else line.split()
        if len(columns) != width:
            needed = f"The header has {width}, parted by tabs" if names else _TREC_COLUMNS
            raise InputError(
                f"{counted(len(columns), 'column')}. {needed}.", path=path, line=number
            )
        grade = grades.at(number, columns[grade_at])
        try:
            if columns[topic_at] != topic_bytes:
                topic_bytes = columns[topic_at]
                topic = topic_bytes.decode()
            if not names and columns[1] != subtopic_bytes:
                subtopic_bytes = columns[1]
                subtopic = subtopic_bytes.decode()
            document = columns[document_at].decode()
        except UnicodeDecodeError as error:
            message = "this line is not UTF-8. Convert the file."
            raise InputError(message, path=path, line=number) from error
        if not topic_bytes or not document:
            raise InputError("an id is empty.", path=path, line=number)
        yield number, topic, subtopic, document, grade


def header(line: bytes, path: Path, number: int) -> list[str]:
    """The names of the columns, if a file's first line holds them; TREC's files have none.

    Raises:
        InputError: its names are not parted by tabs, or three columns have no header, by which
            BEIR's programs would lose the first judgment.
    """
    cells = [cell.decode(errors="replace").strip() for cell in line.split(b"\t")]
    if read := places(cells):
        if passed := [cell for place, cell in enumerate(cells) if place not in read]:
            notice_once(f"{path}: columns that are not read: {listing(passed)}")
        return cells
    if len(cells) == 3 and not _NUMBER.fullmatch(cells[2].encode()):
        notice_once(f"{path}: the first line is taken for a header: {', '.join(cells)}")
        return cells
    if len(cells) == 3:
        raise InputError(
            "there is no header. BEIR's programs take the first line of three columns for one, and "
            "would lose this judgment. Put 'query-id corpus-id score', parted by tabs, before it.",
            path=path,
            line=number,
        )
    if places(_SEPARATORS.sub(b"\t", line.strip()).decode(errors="replace").split("\t")):
        raise InputError(
            "this is a header whose names are not parted by tabs. Part all columns by tabs; or "
            "remove it, where lines have TREC's four columns, topic 0 docid grade.",
            path=path,
            line=number,
        )
    return []


def _raise_disagreement(path: Path, judgments: Iterator[Judgment]) -> NoReturn:
    """Say which earlier line judged a document otherwise; the file is read again to find it."""
    earlier: dict[tuple[str, str, str], tuple[int | None, float]] = {}
    for line, topic, subtopic, document, grade in judgments:
        first, first_grade = earlier.setdefault((topic, subtopic, document), (line, grade))
        if grade != first_grade:
            where = f"in line {first}" if first else "before"
            raise InputError(
                f"topic '{topic}' judges document '{document}' as {grade} here but as "
                f"{first_grade} {where}. Keep one of the two.",
                path=path,
                line=line,
            )
    raise AssertionError("the line was there when the file was read")
