"""Stratified samples of judgments, from which infNDCG and infAP are estimated.

Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP and NDCG",
SIGIR 2008. TREC pools what systems retrieve, divides the pool of a topic into strata (the best
ranks of all runs, the rest), and judges a sample of each stratum. A judged document stands for as
many pooled documents of its stratum as were pooled per judged one; documents outside the pool are
not relevant. Values agree with `sample_eval.pl`, which scored the TREC precision medicine tracks,
to the printed digit:

- the first 100 documents of a topic count, ties in score broken by decreasing document id; copies
  of the program with another `$maxResultSize` are `infNDCG@1000` and the like;
- a topic without results is left out of the mean, and so is one without judged documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, counted
from irplatform.evaluation.qrels import header
from irplatform.files.reading import uncommented_lines
from irplatform.runs.bioasq import holds_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Qrels


Integers: TypeAlias = npt.NDArray[np.int64]

SampledQrels: TypeAlias = "Mapping[str, Pool]"
"""Topic id to its pool."""

NOT_JUDGED = -1

_COLUMNS = "Every line needs five columns: topic 0 docid stratum grade"

_STRATUM = re.compile(rb"[0-9]{1,6}")

_GRADE = re.compile(rb"-1|\+?[0-9]{1,6}")


@dataclass(frozen=True, eq=False)
class Pool:
    """The pool of a topic.

    Attributes:
        positions: document id to its place in `strata` and `grades`.
        strata: the stratum of each document, from 0, in the order of their names as text.
        grades: the grade of each document; -1 if it was not judged.
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


def topics_of(sampled: SampledQrels) -> tuple[str, ...]:
    """Return the topics with judged documents."""
    return tuple(topic for topic, pool in sampled.items() if pool.judged.any())


def retrieved(pool: Pool, ranking: Sequence[str]) -> tuple[Integers, Integers, Integers]:
    """Return rank, stratum and grade of the pooled documents of a ranking."""
    places = [pool.positions.get(document, -1) for document in ranking]
    positions = np.array(places, dtype=np.int64)
    ranks = np.flatnonzero(positions >= 0) + 1
    positions = positions[positions >= 0]
    return ranks, pool.strata[positions], pool.grades[positions]


def is_sampled(path: Path | str) -> bool:
    """Return whether the first line of a file of judgments has the five columns of sampled ones.

    Raises:
        InputError: the file cannot be opened.
    """
    path = Path(path)
    if holds_json(path):  # whatever words a line of JSON has
        return False
    first = islice(uncommented_lines(path), 1)
    return any(len(line.split()) == 5 and not header(line, path, n) for n, line in first)


def read_sampled_qrels(path: Path | str) -> SampledQrels:
    """Read sampled judgments, `topic 0 docid stratum grade`, perhaps gzipped.

    The file lists the whole pool; the grade of documents that were not judged is -1.

    Raises:
        InputError: the file is missing or empty, a line is ill-formed, or a document comes twice.
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
        if not columns[1].isdigit() and columns[1].upper() != b"Q0":
            raise InputError(
                f"the second column is '{columns[1].decode(errors='replace')}', not 0: "
                "these are not sampled judgments. Those of TREC's Million Query track (topic docid "
                "grade method probability) are not read.",
                path=path,
                line=number,
            )
        try:
            topic, document = columns[0].decode(), columns[2].decode()
        except UnicodeDecodeError as error:
            message = "this line is not UTF-8. Convert the file."
            raise InputError(message, path=path, line=number) from error
        positions, strata, grades = pools.setdefault(topic, ({}, [], []))
        if positions.setdefault(document, len(strata)) != len(strata):
            raise InputError(
                f"topic '{topic}' has document '{document}' a second time. A document has "
                "one stratum and one grade.",
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
    """Return the judged documents as ordinary judgments, as TREC publishes them in four columns."""
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
    name, rule = (
        ("stratum", f"a whole number of at most six digits. {_COLUMNS}.")
        if form is _STRATUM
        else (
            "grade",
            "a whole number of 0 or more, of at most six digits, nor -1 for a pooled document "
            "that was not judged.",
        )
    )
    problem = f"the {name} '{text.decode(errors='replace')}' is not {rule}"
    raise InputError(problem, path=path, line=line)
