"""Agreement of two judges on the grades of documents, with intervals over topics.

The interval of a value spans the middle 95 % of its values over draws: topics are drawn with
replacement, since documents of a topic are judged alike. With fewer than five topics documents are
drawn. It narrows with the square root of the number of judgments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.agreement.of_grades import LEVELS, WEIGHTS, alphas, confusion, kappas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.agreement.of_grades import Floats

    Grades = Mapping[str, Mapping[str, int]]
    """Topic to document to grade."""

FEWEST_TOPICS = 5
"""With fewer, documents are drawn."""
MAIN = "kappa, linear"
"""The statistic of which one says how many more judgments narrow its interval."""


@dataclass(frozen=True)
class Value:
    """A statistic with the ends of its 95 % interval; None where there is no value.

    Attributes:
        undefined: the share of draws that give none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: float = 0.0

    @classmethod
    def of(cls, values: Floats) -> Value:
        """Return the first of some values, of which the others are those of draws, NaN for none."""
        value, drawn = float(values[0]), values[1:]
        numbers = drawn[~np.isnan(drawn)]
        if np.isnan(value) or not len(numbers):
            return cls(None)
        low, high = np.percentile(numbers, [2.5, 97.5]).tolist()
        return cls(value, low, high, 1 - len(numbers) / len(drawn))

    @property
    def width(self) -> float:
        """The width of the interval; 0 without one."""
        return (self.high or 0.0) - (self.low or 0.0)


@dataclass(frozen=True)
class GradeAgreement:
    """How far two judges agree on grades.

    Attributes:
        grades: all grades that occur, in ascending order.
        table: documents by grade: a row for each grade of the first, a column for each of the
            second.
        values: name to statistic.
        topics: number of topics; with fewer than five the intervals are over documents.
        width: the width of the interval of linear kappa to reach.
        further: how many further documents that takes, as many for each topic as now, so that
            topics are added, too; None if unknown.
    """

    grades: Sequence[int]
    table: Sequence[Sequence[int]]
    values: Mapping[str, Value]
    topics: int
    width: float
    further: int | None

    @property
    def documents(self) -> int:
        """The number of documents that both graded."""
        return sum(map(sum, self.table))


def agreement_of_grades(
    first: Grades, second: Grades, *, width: float | None, samples: int, seed: int
) -> GradeAgreement:
    """Compare the grades of two judges on the same documents.

    By default the `width` of the interval of linear kappa to reach is half of what it is.
    """
    pairs = [
        ([*judgments.values()], [second[t][d] for d in judgments]) for t, judgments in first.items()
    ]
    grades = sorted({grade for pair in pairs for one in pair for grade in one})
    tables = np.stack([confusion(*pair, grades) for pair in pairs])
    table = tables.sum(0)
    topics, documents = len(tables), int(table.sum())
    random = np.random.default_rng(seed)
    if topics >= FEWEST_TOPICS:
        counts = random.multinomial(topics, np.full(topics, 1 / topics), samples)
        drawn = np.tensordot(counts.astype(np.float64), tables, axes=1)
    else:
        cells = random.multinomial(documents, table.ravel() / documents, samples)
        drawn = cells.reshape(samples, *table.shape).astype(np.float64)
    statistics = _statistics(np.concatenate([table[None], drawn]), grades)
    values = {name: Value.of(of_tables) for name, of_tables in statistics.items()}
    now = values[MAIN].width
    width = width or now / 2
    further = max(0, math.ceil(documents * ((now / width) ** 2 - 1))) if now else None
    return GradeAgreement(grades, table.astype(int).tolist(), values, topics, width, further)


def _statistics(tables: Floats, grades: Sequence[int]) -> dict[str, Floats]:
    """Name to statistic of confusion tables, [tables, grades, grades]."""
    values = {"same grade": np.trace(tables, axis1=1, axis2=2) / tables.sum((1, 2))}
    for weights in WEIGHTS:
        name = "kappa" if weights == "none" else f"kappa, {weights}"
        values[name] = kappas(tables, grades, weights)
    for level in LEVELS:
        values[f"alpha, {level}"] = alphas(tables + tables.swapaxes(1, 2), grades, level)
    return values
