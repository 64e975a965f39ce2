"""Relevance judgments from files: TREC's columns, tables with a header, JSON lines, BioASQ's JSON.

TREC: `topic 0 docid grade`, parted by white space. BEIR: `query-id corpus-id score`, parted by
tabs, below a header, which may have other names. mteb: JSON lines with these keys. BioASQ: see
`irplatform.bioasq`. Each may be gzipped (`.gz`). Grades are whole numbers. Under the name `level`
for `score` they are levels, as of clicks: they may have decimals, and are read as floats.

Diversity judgments (the Web track's, ndeval's) have a subtopic in TREC's second column, and a
document may be relevant to one subtopic and not to another. Elsewhere that column says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from irplatform.bioasq import holds_questions, judgments_of_questions
from irplatform.console import notice_once
from irplatform.errors import InputError, counted, listing
from irplatform.json_io import parse_json
from irplatform.text_files import (
    COMMENT,
    blocks_of_lines,
    numbered_lines,
    stretches,
    uncommented_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.collections.collection import Qrels

_TREC_COLUMNS = (
    "Every line needs four columns, parted by white space: topic 0 docid grade; or three, parted "
    "by tabs, below BEIR's header 'query-id corpus-id score'. Sampled judgments have five: topic 0 "
    "docid stratum grade (`sampled` in a collection.toml names them)"
)
_KEYS = (
    "Judgments in JSON lines have the keys query-id, corpus-id and score; BioASQ's files are one "
    'JSON object: {"questions": [{"id": …, "body": …}, …]}'
)
_TOPIC = ("queryid", "qid", "topicid", "questionid", "query", "topic", "q")
_DOCUMENT = ("corpusid", "cid", "docid", "documentid", "docno", "passageid", "pid", "did", "doc")
_SCORE = ("score", "grade", "relevance", "relevancy", "rel", "label", "judgment", "level")
"""What columns and keys are called, in small letters and digits; the first that is there counts."""
_PUNCTUATION = re.compile(r"[\W_]")
_BLANKS = (b" \t", b"\t ", b" \n", b"\n ", b"\r", b"\v", b"\f")
_SEPARATORS = re.compile(rb"[\s,;]+")
_GRADE = re.compile(rb"([+-]?[0-9]{1,6})(\.0*)?")
"""trec_eval takes memory for every grade up to the highest: a PMID in this column would end it."""
_LEVEL = re.compile(rb"[+-]?[0-9]{1,6}(\.[0-9]+)?")
_NUMBER = re.compile(rb"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)

_Judgment = tuple[int, str, str, str, float]
"""Line, topic, subtopic ("" where the format has none), document, grade."""


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
    judgments: Callable[[Path], Iterator[_Judgment]] = _of_table
    if holds_questions(path):
        if not _holds_json_lines(path):
            return judgments_of_questions(path)
        judgments = _of_json_lines
    elif (plain := _plain_table(path)) is not None:
        return plain
    qrels: dict[str, dict[str, float]] = {}
    subtopics: dict[str, str] = {}
    latest = None
    for number, topic, subtopic, document, grade in judgments(path):
        if topic != latest:
            latest = topic
            grades, first_subtopic = (
                qrels.setdefault(topic, {}),
                subtopics.setdefault(topic, subtopic),
            )
        if subtopic != first_subtopic:
            return _of_subtopics(path, judgments)
        if grades.setdefault(document, grade) != grade:
            _raise_disagreement(path, judgments(path), number)
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


def _of_subtopics(path: Path, judgments: Callable[[Path], Iterator[_Judgment]]) -> Qrels:
    qrels: dict[str, SubtopicGrades] = {}
    for number, topic, subtopic, document, grade in judgments(path):
        if qrels.setdefault(topic, SubtopicGrades()).add(subtopic, document, grade) != grade:
            _raise_disagreement(path, judgments(path), number)
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


class _Grades(dict[bytes, float]):
    """Grades by their texts, of a file whose column or key has this name."""

    def __init__(self, path: Path, name: str = "") -> None:
        super().__init__()
        self._path = path
        self._is_level = _plain(name) == "level"

    def at(self, line: int, text: bytes) -> float:
        """A grade, or a level.

        Raises:
            InputError: it is none.
        """
        if (grade := self.get(text)) is None:
            read = _level if self._is_level else _grade
            grade = self[text] = read(text, self._path, line)
        return grade


def _plain_table(path: Path) -> Qrels | None:
    """The same as of `_of_table`, column by column, in half of the time.

    None where a line is at fault, passed over or judges again what another did, and of subtopics.
    """
    qrels: dict[str, dict[str, float]] = {}
    subtopics: dict[bytes, bytes] = {}
    number, first = next(uncommented_lines(path), (0, b""))
    names = header(first, path, number)
    width = 1 + (len(names) or 4)
    topic_at, document_at, grade_at = (_places(names) or (0, 1, 2)) if names else (0, 2, 3)
    grades = _Grades(path, names[grade_at] if names else "")
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


def _of_table(path: Path) -> Iterator[_Judgment]:
    """TREC's columns, or those that a header names."""
    grades = _Grades(path)
    names: list[str] | None = None
    topic_bytes = subtopic_bytes = b""
    topic = subtopic = ""
    width, topic_at, document_at, grade_at = 4, 0, 2, 3
    for number, line in uncommented_lines(path):
        if names is None and (names := header(line, path, number)):
            width = len(names)
            topic_at, document_at, grade_at = _places(names) or (0, 1, 2)
            grades = _Grades(path, names[grade_at])
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
            raise InputError(
                "this line is not UTF-8. Convert the file.", path=path, line=number
            ) from error
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
    if places := _places(cells):
        if passed := [cell for place, cell in enumerate(cells) if place not in places]:
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
    if _places(_SEPARATORS.sub(b"\t", line.strip()).decode(errors="replace").split("\t")):
        raise InputError(
            "this is a header whose names are not parted by tabs. Part all columns by tabs; or "
            "remove it, where lines have TREC's four columns, topic 0 docid grade.",
            path=path,
            line=number,
        )
    return []


def _holds_json_lines(path: Path) -> bool:
    """Whether the first line of a file with JSON is an object of its own, and not BioASQ's."""
    _, first = next(numbered_lines(path))
    if b'"questions"' in first:
        return False
    try:
        return isinstance(parse_json(first), dict)
    except InputError:
        return False


def _of_json_lines(path: Path) -> Iterator[_Judgment]:
    """An object a line, with topic, document and grade under their usual keys."""
    passed: Counter[str] = Counter()
    for number, line in numbered_lines(path):
        record = parse_json(line, path, number, hint=f"{_KEYS}.")
        if not isinstance(record, dict):
            raise InputError(f"this line is no JSON object. {_KEYS}.", path=path, line=number)
        keys = list(record)
        if (places := _places(keys)) is None:
            raise InputError(
                f"topic, document or grade is missing (keys: {listing(keys) or 'none'}). {_KEYS}.",
                path=path,
                line=number,
            )
        topic, document, grade = (record[keys[place]] for place in places)
        passed.update(key for place, key in enumerate(keys) if place not in places)
        yield (
            number,
            _identifier(topic, keys[places[0]], path, number),
            "",
            _identifier(document, keys[places[1]], path, number),
            _Grades(path, keys[places[2]]).at(number, str(grade).encode()),
        )
    if passed:
        counts = [f"{key} ({counted(lines, 'line')})" for key, lines in passed.items()]
        notice_once(f"{path}: keys that are not read: {listing(counts)}")


def _places(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Where topic, document and grade are among named columns; None where one has no usual name."""
    plain = [_plain(name) for name in names]
    topic, document, score = (
        next((plain.index(name) for name in usual if name in plain), -1)
        for usual in (_TOPIC, _DOCUMENT, _SCORE)
    )
    return (topic, document, score) if min(topic, document, score) >= 0 else None


def _plain(name: str) -> str:
    return _PUNCTUATION.sub("", name.lower())


def _identifier(value: Any, key: str, path: Path, line: int) -> str:
    if type(value) is int:  # True is an instance of int
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"the id under '{key}' is {value!r}. Write it as text, or as a whole number.",
            path=path,
            line=line,
        )
    return value


def _grade(text: bytes, path: Path, number: int) -> int:
    if not (grade := _GRADE.fullmatch(text)):
        raise InputError(
            f"the grade '{text.decode(errors='replace')}' is not a whole number of at "
            "most six digits. 0 and below is not relevant. (Levels with decimals are read below "
            "the header 'query-id corpus-id level', in three columns parted by tabs.)",
            path=path,
            line=number,
        )
    return int(grade[1])


def _level(text: bytes, path: Path, number: int) -> float:
    if not _LEVEL.fullmatch(text):
        raise InputError(
            f"the level '{text.decode(errors='replace')}' is not a number with at most six digits "
            "before the point. 0 and below is not relevant.",
            path=path,
            line=number,
        )
    return float(text)


def _raise_disagreement(path: Path, judgments: Iterator[_Judgment], number: int) -> NoReturn:
    """Say which earlier line judged the same document; the file is read again to find it."""
    earlier: dict[tuple[str, str, str], tuple[int, float]] = {}
    for line, topic, subtopic, document, grade in judgments:
        first, first_grade = earlier.setdefault((topic, subtopic, document), (line, grade))
        if line == number:
            raise InputError(
                f"topic '{topic}' judges document '{document}' as {grade} here but as "
                f"{first_grade} in line {first}. Keep one of the two.",
                path=path,
                line=number,
            )
    raise AssertionError("the line was there when the file was read")
