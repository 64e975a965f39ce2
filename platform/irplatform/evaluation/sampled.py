"""infNDCG and infAP: nDCG and average precision estimated from a stratified sample of judgments.

Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP and NDCG",
SIGIR 2008. TREC pools what systems retrieve, divides the pool of a topic into strata (the best
ranks of all runs, the rest), and judges a sample of each stratum. A judged document stands for as
many pooled documents of its stratum as were pooled per judged one; documents outside the pool are
not relevant. Values agree with `sample_eval.pl`, which scored the TREC precision medicine tracks,
to the printed digit:

- the first 100 documents of a topic count, ties in score broken by decreasing document id; copies
  of the program with another `$maxResultSize` are `infNDCG@1000` and the like;
- infNDCG is the sum over the strata s of n_s / j_s * sum(grade / log2(rank + 1)), where n_s are the
  retrieved documents of the stratum, j_s the judged ones among them, and the inner sum is over its
  retrieved relevant documents; divided by an estimated ideal, see `_ideal_dcg`;
- infAP takes, at each retrieved relevant document at rank k, the expected precision
  (1 + sum_s n_s * (r_s + 0.00001) / (j_s + 0.00003)) / k, where n_s, j_s and r_s are the pooled,
  judged and relevant documents of s above it; these are averaged per stratum over all of its
  relevant documents, and over the strata by their shares of the relevant documents' estimated
  number;
- a topic without results is left out of the mean, and so is one without judged documents.
"""

from __future__ import annotations

import functools
import operator
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
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.data import Qrels
    from irplatform.runs.run import Run


InferredMeasure: TypeAlias = "Callable[[Pool, Sequence[str], int], float]"

Integers: TypeAlias = npt.NDArray[np.int64]

SampledQrels: TypeAlias = "Mapping[str, Pool]"
"""Topic id to its pool."""

DEPTH = 100
"""Default number of ranks that count: that of the tracks' tables."""

NOT_JUDGED = -1

_SMOOTHING = (0.00001, 0.00003)
"""Added to the relevant and the judged documents above a rank, against division by 0."""

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


def inferred_ndcg(pool: Pool, ranking: Sequence[str], depth: int = DEPTH) -> float:
    """Estimate nDCG of a ranking, best first; an estimate can exceed 1.

    0 if no judged document is relevant. `depth` ranks count, also in the ideal ranking.
    """
    ranks, strata, grades = _retrieved(pool, ranking[:depth])
    count = len(pool.pooled)
    relevant = grades > 0
    gains = grades[relevant] / np.log2(ranks[relevant] + 1)
    gain = np.bincount(strata[relevant], weights=gains, minlength=count)
    retrieved = np.bincount(strata, minlength=count)
    judged = np.bincount(strata[grades >= 0], minlength=count)
    ideal = _ideal_dcg(pool, depth)
    dcg = _sum(retrieved * gain / np.maximum(judged, 1))
    return dcg / ideal if ideal > 0 else 0.0


def inferred_ap(pool: Pool, ranking: Sequence[str], depth: int = DEPTH) -> float:
    """Estimate average precision of the first `depth` ranks; 0 if nothing judged is relevant."""
    ranks, strata, grades = _retrieved(pool, ranking[:depth])
    member = strata[:, None] == np.arange(len(pool.pooled))

    def ranked_above(mask: npt.NDArray[np.bool_]) -> Integers:
        """Counts of the documents of each stratum (columns) ranked above each one (rows)."""
        counted: Integers = (member & mask[:, None]).astype(np.int64)
        above: Integers = np.cumsum(counted, axis=0) - counted
        return above

    hits = grades > 0
    pooled = ranked_above(np.ones_like(hits))
    judged, relevant = ranked_above(grades >= 0), ranked_above(hits)
    share = (relevant + _SMOOTHING[0]) / (judged + _SMOOTHING[1])
    precision = (1 + np.sum(pooled * share, axis=1)) / ranks
    stands_for = pool.pooled / np.maximum(pool.judged, 1)
    all_relevant = np.bincount(pool.strata[pool.grades > 0], minlength=len(stands_for))
    estimated = float(all_relevant @ stands_for)
    return float(precision[hits] @ stands_for[strata[hits]]) / estimated if estimated else 0.0


INFERRED: Mapping[str, InferredMeasure] = {"infNDCG": inferred_ndcg, "infAP": inferred_ap}
"""The measures of sampled judgments by name, in the order of reports."""


def is_inferred(measure: str) -> bool:
    """Return whether a measure's right name is one of sampled judgments, at any depth."""
    return measure.partition("@")[0] in INFERRED


def topics_of(sampled: SampledQrels) -> tuple[str, ...]:
    """Return the topics with judged documents."""
    return tuple(topic for topic, pool in sampled.items() if pool.judged.any())


def infer(
    measure: InferredMeasure, sampled: SampledQrels, run: Run, depth: int = DEPTH
) -> dict[str, float]:
    """Compute the values of topics with results and judged documents."""
    return {
        topic: measure(sampled[topic], ranking.doc_ids, depth)
        for topic in topics_of(sampled)
        if (ranking := run.rankings.get(topic)) is not None and len(ranking)
    }


def _retrieved(pool: Pool, ranking: Sequence[str]) -> tuple[Integers, Integers, Integers]:
    """Rank, stratum and grade of the pooled documents of a ranking."""
    places = [pool.positions.get(document, -1) for document in ranking]
    positions = np.array(places, dtype=np.int64)
    ranks = np.flatnonzero(positions >= 0) + 1
    positions = positions[positions >= 0]
    return ranks, pool.strata[positions], pool.grades[positions]


def _ideal_dcg(pool: Pool, depth: int) -> float:
    """The DCG of the estimated numbers of documents per grade, the best grade first.

    The number of a grade is estimated over all strata and rounded half up. Its documents take the
    ranks after *all* documents of better grades, and counting stops after its first one at `depth`
    or beyond: a lower grade still counts once, at its own rank far below. The official program does
    so.
    """
    total = 0.0
    start = 0
    for grade in np.unique(pool.grades[pool.grades > 0])[::-1].tolist():
        count = np.bincount(pool.strata[pool.grades == grade], minlength=len(pool.pooled))
        estimated = _sum(count * pool.pooled / np.maximum(pool.judged, 1))
        end = start + int(np.floor(estimated + 0.5))
        ranks = np.arange(start + 1, min(end, max(start + 1, depth)) + 1)
        total += float(np.sum(grade / np.log2(ranks + 1)))
        start = end
    return total


def _sum(values: npt.NDArray[np.float64]) -> float:
    """Add up one by one, as the official program does; NumPy and Python's `sum` round otherwise."""
    return functools.reduce(operator.add, values.tolist(), 0.0)


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
