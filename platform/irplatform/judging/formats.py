"""Judgments in the forms of other programs, read as judgments with a source and written for them.

- TREC's columns, as AutoJudge (`autojudge-base`) has them, too: a grade there may be True, False or
  a number with decimals. And all other forms that `irplatform.evaluation.qrels` reads.
- JSON lines of doccano (text classification): an example has a label, and as metadata its topic and
  document.

A number with decimals becomes a grade by thresholds that the caller names, never by cutting off.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from irplatform.errors import InputError, counted, listing, quoted
from irplatform.evaluation.qrels import header, read_qrels
from irplatform.evaluation.sampled import is_sampled, judged_documents, read_sampled_qrels
from irplatform.files.formats import JSONError, parse_json
from irplatform.files.reading import decoded, numbered_lines, uncommented_lines
from irplatform.files.writing import atomic_write
from irplatform.judging.judgments import PERSON, Judgment, Source, current, judgment_of
from irplatform.runs.bioasq import holds_json
from irplatform.runs.fields import DOCUMENT, TOPIC, identifier, place_of, plain
from irplatform.spelling import option
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Document

    Read: TypeAlias = Iterator[tuple[int | None, Judgment]]
    """Judgments with their lines."""

CANNOT_TELL = "cannot tell"
"""The label of a document whose grade a person could not tell."""
_TRUTH = {"True": 1.0, "False": 0.0}
_NUMBER = re.compile(r"[+-]?[0-9]{1,6}(\.[0-9]*)?|[+-]?\.[0-9]+")
_LABEL = re.compile(r"([+-]?[0-9]{1,6})(?![0-9.,])")
"""A label that is a grade or begins with one, such as "2: highly relevant"."""
_ALL = "all"
"""The name of doccano's file of a project in which people share their work."""


def has_sources(path: Path) -> bool:
    """Tell if a file has judgments with their sources, as `read_judgments` reads them."""
    return _reader(path) is _own


def read_any(
    path: Path, by: Source | None = None, thresholds: Sequence[float] = ()
) -> list[Judgment]:
    """Read judgments of any form; those of a file that names no source are `by` this one.

    Args:
        path: the file.
        by: whose judgments they are. For lines of doccano, which writes a file for each person, the
            name of the file is the default.
        thresholds: a number with decimals becomes the number of thresholds that it reaches.

    Raises:
        InputError: the file cannot be read, nothing says whose judgments they are, a grade has
            decimals and there are no thresholds, or a source judges a document in two ways.
    """
    grade = partial(_grade, thresholds=thresholds, path=path)
    read = _reader(path)
    if by is None and read in (_trec, _others):
        raise InputError(
            f"nothing says whose judgments these are: add {option('by', 'person:NAME')} or "
            f"{option('by', 'machine:NAME:VERSION')}.",
            path=path,
        )
    judgments, lines = [], []
    for line, judgment in read(path, by, grade):
        judgments.append(judgment)
        lines.append(line)
    if not judgments:
        raise InputError("there are no judgments in this file.", path=path)
    if repeated := len(judgments) - len(found := current(judgments, path, lines)):
        notice_once(f"{path}: {counted(repeated, 'judgment')} came again, and counts once")
    if thresholds:
        told = "; ".join(f"{n} from {value:g}" for n, value in enumerate(thresholds, start=1))
        notice_once(f"{path}: grades by thresholds: 0 below {thresholds[0]:g}; {told}")
    return found


def write_doccano(path: Path, examples: Sequence[tuple[str, str, Document, int | None]]) -> int:
    """Write lines that doccano imports into a project of text classification.

    Args:
        path: the file.
        examples: topic, query, document, and its grade, if it was judged.

    Returns:
        The number of lines.
    """
    with atomic_write(path, "wb") as file:
        for topic, query, document, grade in examples:
            text = "\n\n".join(filter(None, (document.title, document.abstract)))
            label = [] if grade is None else [str(grade)]
            example = {"text": text, "label": label, "topic": topic, "query": query}
            line = {**example, "document": document.id}
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return len(examples)


def _reader(path: Path) -> Callable[..., Read]:
    """The reader of a file, as its first line tells."""
    if holds_json(path):
        _, line = next(islice(numbered_lines(path), 1))
        try:
            record = parse_json(line)
        except JSONError:
            return _others
        keys = {*record} if isinstance(record, dict) else set()
        if isinstance(record, dict) and isinstance(record.get("source"), dict):
            return _own
        return _doccano if {"label", "text"} <= keys else _others
    for number, line in uncommented_lines(path):
        return _trec if len(line.split()) == 4 and not header(line, path, number) else _others
    return _others


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in numbered_lines(path):
        record = parse_json(line, path, number)
        if not isinstance(record, dict):
            raise InputError("this is not a JSON object.", path=path, line=number)
        yield number, record


def _own(path: Path, _by: Source | None, _grade: object) -> Read:
    for number, record in _records(path):
        yield number, judgment_of(record, path, number)


def _trec(path: Path, by: Source, grade: Callable[[str, int], int]) -> Read:
    known: dict[bytes, int] = {}
    for number, line in uncommented_lines(path):
        cells = line.split()
        if len(cells) != 4:
            problem = f"{counted(len(cells), 'column')}; the first line has four."
            raise InputError(problem, path=path, line=number)
        if cells[3] not in known:
            known[cells[3]] = grade(decoded(cells[3], path, number), number)
        topic, document = (decoded(cell, path, number) for cell in (cells[0], cells[2]))
        yield number, Judgment(topic, document, known[cells[3]], by)


def _others(path: Path, by: Source, grade: Callable[[str, int | None], int]) -> Read:
    sampled = is_sampled(path)
    qrels = judged_documents(read_sampled_qrels(path)) if sampled else read_qrels(path)
    for topic, grades in qrels.items():
        for document, value in grades.items():
            yield None, Judgment(topic, document, grade(str(value), None), by)


def _doccano(path: Path, by: Source | None, _grade: object) -> Read:
    source = by or _person("" if path.stem == _ALL else path.stem, path, None)
    unlabelled = 0
    for number, record in _records(path):
        keys = [*record]
        names = [plain(key) for key in keys]
        places = [place_of(usual, names) for usual in (TOPIC, DOCUMENT)]
        if min(places) < 0:
            raise InputError(
                f"an example names no topic or no document (keys: {listing(keys)}). Import "
                "examples with both as metadata.",
                path=path,
                line=number,
            )
        topic, document = (
            identifier(record[keys[at]], f"under '{keys[at]}'", path, number) for at in places
        )
        labels = record.get("label")
        if not isinstance(labels, list) or len(labels) > 1:
            raise InputError(
                f"document '{document}' of topic '{topic}' has the labels {quoted(labels)}: a "
                "document has one grade. Keep one of them.",
                path=path,
                line=number,
            )
        if not labels:
            unlabelled += 1
            continue
        note = "; ".join(map(str, record.get("Comments") or ()))
        grade = _of_label(str(labels[0]), path, number)
        yield number, Judgment(topic, document, grade, source, note=note)
    if unlabelled:
        notice_once(f"{path}: {counted(unlabelled, 'example')} without a label, not judged")


def _of_label(label: str, path: Path, line: int) -> int | None:
    if match := _LABEL.match(label):
        return int(match[1])
    if label.strip().lower() == CANNOT_TELL:
        return None
    raise InputError(
        f"the label '{label}' is no grade. A label begins with the grade, such as '2' or '2: "
        f"highly relevant', or is '{CANNOT_TELL}'.",
        path=path,
        line=line,
    )


def _person(name: object, path: Path, line: int | None) -> Source:
    if not isinstance(name, str) or not name.strip():
        raise InputError(
            f"nothing says who judged: add {option('by', 'person:NAME')}.", path=path, line=line
        )
    return Source(PERSON, name.strip())


def _grade(text: str, line: int | None, *, thresholds: Sequence[float], path: Path) -> int:
    """A whole number as it is; one with decimals by thresholds; AutoJudge's True and False."""
    value = _TRUTH.get(text)
    if value is None and _NUMBER.fullmatch(text):
        value = float(text)
    if value is None:
        raise InputError(f"the grade '{text}' is not a number.", path=path, line=line)
    if thresholds:
        return bisect_right(thresholds, value)
    if not value.is_integer():
        raise InputError(
            f"the grade '{text}' has decimals. Name the values from which a document has grade 1, "
            f"2, …: {option('thresholds', '0.3,0.7')}.",
            path=path,
            line=line,
        )
    return int(value)
