"""Sampled judgments: `topic 0 docid stratum grade`, for infNDCG and infAP.

TREC pools what systems retrieve, parts the pool of a topic into strata (the best ranks of all runs,
the rest), and has a sample of each stratum judged, at a rate of its own. The file lists the whole
pool: the grade is -1 where a document was pooled but not judged. It may be gzipped (`.gz`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.bioasq import holds_questions
from irplatform.errors import InputError, counted
from irplatform.evaluation.qrels import header
from irplatform.text_files import uncommented_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.collections.collection import Qrels

NOT_JUDGED = -1
_COLUMNS = "Every line needs five columns: topic 0 docid stratum grade"
_STRATUM = re.compile(rb"[0-9]{1,6}")
_GRADE = re.compile(rb"-1|\+?[0-9]{1,6}")

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pool:
    """The pool of a topic.

    Attributes:
        positions: document id to its place in `strata` and `grades`.
        strata: per document, the number of its stratum, counted from 0. They are numbered as text
            is sorted, 10 before 2: the official program adds them up in this order.
        grades: per document; -1 where it was not judged.
    """

    positions: Mapping[str, int]
    strata: Integers
    grades: Integers

    @property
    def pooled(self) -> Integers:
        """Documents per stratum."""
        return np.bincount(self.strata)

    @property
    def judged(self) -> Integers:
        """Judged documents per stratum."""
        return np.bincount(self.strata[self.grades >= 0], minlength=len(self.pooled))


SampledQrels: TypeAlias = "Mapping[str, Pool]"
"""Topic id to its pool."""


def is_sampled(path: Path | str) -> bool:
    """Whether a file of judgments has the five columns of sampled ones, by its first line.

    Raises:
        InputError: the file cannot be opened.
    """
    path = Path(path)
    if holds_questions(path):  # whatever words a line of JSON has
        return False
    first = islice(uncommented_lines(path), 1)
    return any(len(line.split()) == 5 and not header(line, path, n) for n, line in first)


def read_sampled_qrels(path: Path | str) -> SampledQrels:
    """Read sampled judgments.

    Args:
        path: the file.

    Returns:
        Topic id to pool, in the order of the file.

    Raises:
        InputError: the file is missing or empty, a line has not five columns, a stratum or a grade
            is not a whole number, or a document comes twice in a topic (each with its line).
    """
    path = Path(path)
    pools: dict[str, tuple[dict[str, int], list[int], list[int]]] = {}
    for number, line in uncommented_lines(path):
        columns = line.split()
        if len(columns) != 5:
            hint = (
                ". Four are ordinary judgments, without strata: infNDCG and infAP cannot be "
                "estimated from them"
            )
            problem = f"{counted(len(columns), 'column')}. {_COLUMNS}{hint * (len(columns) == 4)}."
            raise InputError(problem, path=path, line=number)
        try:
            topic, document = columns[0].decode(), columns[2].decode()
        except UnicodeDecodeError as error:
            message = "this line is not UTF-8. Convert the file."
            raise InputError(message, path=path, line=number) from error
        positions, strata, grades = pools.setdefault(topic, ({}, [], []))
        if positions.setdefault(document, len(strata)) != len(strata):
            raise InputError(
                f"topic '{topic}' has document '{document}' a second time. A document belongs to "
                "one stratum and has one grade.",
                path=path,
                line=number,
            )
        strata.append(_number(columns[3], _STRATUM, path, number))
        grades.append(_number(columns[4], _GRADE, path, number))
    if not pools:
        raise InputError(f"there are no judgments in this file. {_COLUMNS}.", path=path)
    if not any(grade != NOT_JUDGED for _, _, grades in pools.values() for grade in grades):
        raise InputError("nothing in this file is judged: all grades are -1.", path=path)
    return {
        topic: Pool(
            positions,
            np.unique(np.array(strata, dtype=np.str_), return_inverse=True)[1],
            np.array(grades, dtype=np.int64),
        )
        for topic, (positions, strata, grades) in pools.items()
    }


def judged_documents(sampled: SampledQrels) -> Qrels:
    """The judged documents as ordinary judgments, without the pooled ones that nobody judged.

    That is how TREC makes the four-column files that it publishes beside sampled judgments.
    """
    return {
        topic: {
            document: grade
            for document, position in pool.positions.items()
            if (grade := int(pool.grades[position])) != NOT_JUDGED
        }
        for topic, pool in sampled.items()
    }


def _number(text: bytes, form: re.Pattern[bytes], path: Path, line: int) -> int:
    if form.fullmatch(text):
        return int(text)
    name, taken = (
        ("stratum", f"a whole number of at most six digits. {_COLUMNS}.")
        if form is _STRATUM
        else (
            "grade",
            "a whole number of 0 or more, of at most six digits, nor -1 for a pooled document "
            "that was not judged.",
        )
    )
    problem = f"the {name} '{text.decode(errors='replace')}' is not {taken}"
    raise InputError(problem, path=path, line=line)
