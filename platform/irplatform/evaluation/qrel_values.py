"""Values of judgments: what columns and keys are called, and grades from their texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TOPIC = ("queryid", "qid", "topicid", "questionid", "query", "topic", "q")
_DOCUMENT = ("corpusid", "cid", "docid", "documentid", "docno", "passageid", "pid", "did", "doc")
_SCORE = ("score", "grade", "relevance", "relevancy", "rel", "label", "judgment", "level")
"""What columns and keys are called, in small letters and digits; the first that is there counts."""
_PUNCTUATION = re.compile(r"[\W_]")
_GRADE = re.compile(rb"([+-]?[0-9]{1,6})(\.0*)?")
"""trec_eval takes memory for every grade up to the highest: a PMID in this column would end it."""
_LEVEL = re.compile(rb"[+-]?[0-9]{1,6}(\.[0-9]+)?")

Judgment = tuple[int | None, str, str, str, float]
"""Line, if the file has lines; topic, subtopic ("" where the format has none), document, grade."""


class Grades(dict[bytes, float]):
    """Grades by their texts, of a file whose column or key has this name."""

    def __init__(self, path: Path, name: str = "") -> None:
        super().__init__()
        self._path = path
        self._is_level = _plain(name) == "level"

    def at(self, line: int | None, text: bytes) -> float:
        """A grade, or a level.

        Raises:
            InputError: it is none.
        """
        if (grade := self.get(text)) is None:
            read = _level if self._is_level else _grade
            grade = self[text] = read(text, self._path, line)
        return grade


def places(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Where topic, document and grade are among named columns; None where one has no usual name."""
    plain = [_plain(name) for name in names]
    topic, document, score = (
        next((plain.index(name) for name in usual if name in plain), -1)
        for usual in (_TOPIC, _DOCUMENT, _SCORE)
    )
    return (topic, document, score) if min(topic, document, score) >= 0 else None


def _plain(name: str) -> str:
    return _PUNCTUATION.sub("", name.lower())


def _grade(text: bytes, path: Path, number: int | None) -> int:
    if grade := _GRADE.fullmatch(text):
        return int(grade[1])
    raise InputError(
        f"the grade '{text.decode(errors='replace')}' is not a whole number of at most six "
        "digits. 0 and below is not relevant. (Levels with decimals are read under the name "
        "'level': as a key of JSON, or below the header 'query-id corpus-id level', in three "
        "columns parted by tabs.)",
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
