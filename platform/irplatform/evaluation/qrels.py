"""Relevance judgments from files: TREC's columns, tables with a header, JSON, each also gzipped.

- TREC: `topic 0 docid grade`, separated by white space.
- BEIR: `query-id corpus-id score`, separated by tabs, below a header, which may have other names.
- JSON: mteb's objects, one a line, with the keys query-id, corpus-id and score or other names for
  them; a list of such objects; `{"topic": {"document": grade}}`, as ranx and pytrec_eval have it;
  or BioASQ's questions, see `irplatform.runs.bioasq`.

Grades are whole numbers. If the column or key is called `level`, as for clicks, they are levels:
floats, with decimals or without. Diversity judgments (of the Web track) have a subtopic in TREC's
second column, and a document may be relevant to one subtopic and not to another.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from irplatform.data import SubtopicGrades
from irplatform.errors import InputError, counted, listing
from irplatform.files.columns import changes, split
from irplatform.files.formats import JSONError, parse_json, read_json
from irplatform.files.reading import (
    COMMENT,
    blocks_of_lines,
    numbered_lines,
    uncommented_lines,
)
from irplatform.runs.bioasq import holds_json, judgments_of_questions
from irplatform.runs.fields import DOCUMENT, TOPIC, identifier, place_of, plain
from irplatform.spelling import command
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from irplatform.data import Qrels
    from irplatform.files.columns import Table


Judgment = tuple[int | None, str, str, str, float]
"""Line (None in JSON), topic, subtopic ("" if the format has none), document, grade."""

_TREC_COLUMNS = (
    "Every line needs four columns, separated by white space: topic 0 docid grade; or three, "
    "separated by tabs, below BEIR's header 'query-id corpus-id score'. Sampled judgments have "
    "five: topic 0 docid stratum grade (`sampled` in a collection.toml names them)"
)
_KEYS = (
    "Judgments in JSON are objects with the keys query-id, corpus-id and score, one a line or in a "
    'list; or one object, {"topic": {"document": grade}}; or BioASQ\'s, {"questions": […]}'
)
_BEIR = b"query-id\tcorpus-id\tscore\n"
_SEPARATORS = re.compile(rb"[\s,;]+")
_NUMBER = re.compile(rb"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)
_SCORE = ("score", "grade", "relevance", "relevancy", "rel", "label", "judgment", "level")
"""Usual names of columns and keys, in lower case without punctuation; the first match counts."""
_GRADE = re.compile(rb"([+-]?[0-9]{1,6})(\.0*)?")
"""Six digits at most: trec_eval allocates memory for every grade up to the highest."""
_TRUTH = {b"True": 1, b"False": 0}
"""Grades that AutoJudge writes."""
_LEVEL = re.compile(rb"[+-]?[0-9]{1,6}(\.[0-9]+)?")


def read_qrels(path: Path | str) -> Qrels:
    """Read judgments; the first line of the file tells the formats apart.

    Returns:
        Topic id to document id to grade, in the order of the file. Negative grades are kept, with
        trec_eval's meaning. If a topic has judgments of subtopics, all topics have
        `SubtopicGrades`.

    Raises:
        InputError: the file is missing or empty, a line is ill-formed, a grade is not a whole
            number, or two lines judge a document differently.
    """
    path = Path(path)
    judgments: Callable[[Path], Iterator[Judgment]] = _of_table
    if holds_json(path):
        if (json_reader := _json_reader(path)) is None:
            return judgments_of_questions(path)
        judgments = json_reader
    elif (read := _of_columns(path)) is not None:
        return read
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


def _of_subtopics(path: Path, judgments: Callable[[Path], Iterator[Judgment]]) -> Qrels:
    qrels: dict[str, SubtopicGrades] = {}
    for _, topic, subtopic, document, grade in judgments(path):
        if qrels.setdefault(topic, SubtopicGrades()).add(subtopic, document, grade) != grade:
            _raise_disagreement(path, judgments(path))
    several = sum(
        any(
            subtopic_grades.get(document, grade) != grade
            for subtopic_grades in grades.subtopics.values()
        )
        for grades in qrels.values()
        for document, grade in grades.items()
    )
    if several:
        notice_once(
            f"{path}: subtopics judge {counted(several, 'document')} differently; measures "
            "without subtopics take the best grade"
        )
    return qrels


def _of_columns(path: Path) -> Qrels | None:
    """Read the columns of TREC or BEIR at once; None for what has to be read line by line.

    That is a file with another header, comments, subtopics, repeated judgments, or an error.
    """
    qrels: dict[str, dict[str, float]] = {}
    subtopics: dict[str, bytes] = {}
    values: dict[bytes, int] = {}
    beir = False
    try:
        for raw in blocks_of_lines(path):
            block = raw.replace(b"\r\n", b"\n")  # as in the files that BEIR hands out
            beir = beir or (not qrels and block.startswith(_BEIR))
            table = _table(path, block, beir=beir, first=not qrels)
            if table is None:
                return None
            columns = [table.column(column) for column in range(3 if beir else 4)]
            topics, documents, grades = columns[0], columns[-2], columns[-1]
            middle = 0 if beir else 1  # BEIR has no column of subtopics
            starts = changes(topics)
            if not np.isin(changes(columns[middle]), starts).all():
                return None
            texts = grades.tolist()
            for text in set(texts).difference(values):
                values[text] = _grade(text, path, None)
            numbers = [values[text] for text in texts]
            ids = documents.tolist()
            ids = b"\n".join(ids).decode().split("\n")
            for start, end in pairwise([*starts.tolist(), len(table)]):
                topic = table.cell(start, 0).decode()
                subtopic = table.cell(start, middle)
                judged = dict(zip(ids[start:end], numbers[start:end], strict=True))
                topic_grades = qrels.setdefault(topic, {})
                if (
                    len(judged) < end - start
                    or subtopics.setdefault(topic, subtopic) != subtopic
                    or not topic_grades.keys().isdisjoint(judged)
                ):
                    return None
                topic_grades.update(judged)
    except (InputError, UnicodeDecodeError):
        return None
    return qrels or None


def _table(path: Path, block: bytes, *, beir: bool, first: bool) -> Table | None:
    """The columns of a block of lines; None for one that has to be read line by line."""
    if b"#" in block and COMMENT.search(b"\n" + block):
        return None
    if beir:  # whose columns are separated by tabs alone
        return None if b" " in block else split(block.removeprefix(_BEIR) if first else block, 3)
    table = split(block, 4)
    if table is not None and first and header(block.partition(b"\n")[0], path, 1):
        return None
    return table


def _raise_disagreement(path: Path, judgments: Iterator[Judgment]) -> NoReturn:
    """Name the earlier line that judged a document differently; reads the file again."""
    earlier: dict[tuple[str, str, str], tuple[int | None, float]] = {}
    for line, topic, subtopic, document, grade in judgments:
        first, first_grade = earlier.setdefault((topic, subtopic, document), (line, grade))
        if grade != first_grade:
            place = f"in line {first}" if first else "before"
            raise InputError(
                f"topic '{topic}' judges document '{document}' as {grade} here but as "
                f"{first_grade} {place}. Keep one of the two.",
                path=path,
                line=line,
            )
    raise AssertionError("the line was there when the file was read")


def _of_table(path: Path) -> Iterator[Judgment]:
    """Read TREC's columns, or those that a header names."""
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
            needed = f"The header has {width}, separated by tabs" if names else _TREC_COLUMNS
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
    """Return the column names if a file's first line holds them; TREC's files have none.

    Raises:
        InputError: the names are not separated by tabs, or three columns have no header.
    """
    cells = [cell.decode(errors="replace").strip() for cell in line.split(b"\t")]
    if read := _places(cells):
        if passed := [cell for place, cell in enumerate(cells) if place not in read]:
            notice_once(f"{path}: ignored columns: {listing(passed)}")
        return cells
    if len(cells) == 3 and not _NUMBER.fullmatch(cells[2].encode()):
        notice_once(f"{path}: the first line is read as a header: {', '.join(cells)}")
        return cells
    if len(cells) == 3:
        raise InputError(
            "there is no header. BEIR's programs take the first line of three columns for one, and "
            "would lose this judgment. Put 'query-id corpus-id score', separated by tabs, before "
            "it.",
            path=path,
            line=number,
        )
    if _places(_SEPARATORS.sub(b"\t", line.strip()).decode(errors="replace").split("\t")):
        raise InputError(
            "the names of this header are not separated by tabs. Separate all columns by tabs; or "
            "remove it, if lines have TREC's four columns, topic 0 docid grade.",
            path=path,
            line=number,
        )
    return []


def _json_reader(path: Path) -> Callable[[Path], Iterator[Judgment]] | None:
    """Return the reader of a JSON file; None for BioASQ's questions."""
    _, first = next(numbered_lines(path))
    try:
        value = parse_json(first)
    except JSONError:
        value = None  # not in a single line
    if isinstance(value, dict) and isinstance(value.get("source"), dict):
        raise InputError(
            "these judgments name their sources, people or machines. Choose whose judgments count: "
            f"{command(f'qrels write {path}', out='qrels.txt')}.",
            path=path,
        )
    if isinstance(value, dict) and not _is_whole(value):
        return _of_lines
    content = read_json(path, hint=f"{_KEYS}.")
    if isinstance(content, dict) and "questions" in content:
        return None
    return partial(_of_whole, content=content)


def _is_whole(value: dict[str, Any]) -> bool:
    """Return whether an object is the whole file: BioASQ's, or topics with their documents."""
    return "questions" in value or (bool(value) and {*map(type, value.values())} == {dict})


def _of_lines(path: Path) -> Iterator[Judgment]:
    lines = numbered_lines(path)
    return _of_records(
        path, ((number, parse_json(line, path, number, hint=f"{_KEYS}.")) for number, line in lines)
    )


def _of_whole(path: Path, content: Any) -> Iterator[Judgment]:
    if not isinstance(content, dict) or _places([*content]):
        records = content if isinstance(content, list) else [content]
        yield from _of_records(path, ((None, record) for record in records))
        return
    grades = _Grades(path)
    for topic, judged in content.items():
        if not isinstance(judged, dict):
            raise InputError(f"'{topic}' has no documents with grades. {_KEYS}.", path=path)
        for document, grade in judged.items():
            try:
                value = grades.at(None, str(grade).encode())
            except InputError as error:
                place = f"topic '{topic}', document '{document}'"
                raise InputError(f"{place}: {error.message}", path=path) from error
            yield None, topic, "", document, value


def _of_records(path: Path, records: Iterable[tuple[int | None, Any]]) -> Iterator[Judgment]:
    passed: Counter[str] = Counter()
    for number, record in records:
        if not isinstance(record, dict):
            raise InputError(f"a judgment is not a JSON object. {_KEYS}.", path=path, line=number)
        keys = list(record)
        if (at := _places(keys)) is None:
            raise InputError(
                f"topic, document or grade is missing (keys: {listing(keys) or 'none'}). {_KEYS}.",
                path=path,
                line=number,
            )
        topic, document, grade = (record[keys[place]] for place in at)
        passed.update(key for place, key in enumerate(keys) if place not in at)
        yield (
            number,
            identifier(topic, f"under '{keys[at[0]]}'", path, number),
            "",
            identifier(document, f"under '{keys[at[1]]}'", path, number),
            _Grades(path, keys[at[2]]).at(number, str(grade).encode()),
        )
    if passed:
        counts = [f"{key} ({counted(times, 'judgment')})" for key, times in passed.items()]
        notice_once(f"{path}: ignored keys: {listing(counts)}")


class _Grades(dict[bytes, float]):
    """Grades by their text, for a column or key of this name."""

    def __init__(self, path: Path, name: str = "") -> None:
        super().__init__()
        self._path = path
        self._is_level = plain(name) == "level"

    def at(self, line: int | None, text: bytes) -> float:
        """Return a grade, or a level."""
        if (grade := self.get(text)) is None:
            read = _level if self._is_level else _grade
            grade = self[text] = read(text, self._path, line)
        return grade


def _places(names: Sequence[str]) -> tuple[int, int, int] | None:
    """The positions of topic, document and grade among names; None if one has no usual name."""
    read = [plain(name) for name in names]
    at = (place_of(TOPIC, read), place_of(DOCUMENT, read), place_of(_SCORE, read))
    return at if min(at) >= 0 else None


def _grade(text: bytes, path: Path, number: int | None) -> int:
    if grade := _GRADE.fullmatch(text):
        return int(grade[1])
    if text in _TRUTH:
        return _TRUTH[text]
    raise InputError(
        f"the grade '{text.decode(errors='replace')}' is not a whole number of at most six "
        "digits. 0 and below is not relevant. (Levels with decimals are read under the name "
        "'level': as a key of JSON, or below the header 'query-id corpus-id level', in three "
        "columns separated by tabs.)",
        path=path,
        line=number,
    )


def _level(text: bytes, path: Path, number: int | None) -> float:
    if _LEVEL.fullmatch(text):
        return float(text)
    raise InputError(
        f"the level '{text.decode(errors='replace')}' is not a number with at most six digits "
        "before the point. 0 and below is not relevant.",
        path=path,
        line=number,
    )
