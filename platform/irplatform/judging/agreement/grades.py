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

from irplatform.evaluation.agreement.of_grades import alphas, confusion, kappas

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.evaluation.agreement.of_grades import Floats

    Grades = Mapping[str, Mapping[str, int]]
    """Topic to document to grade."""

FEWEST_TOPICS = 5
"""With fewer, documents are drawn."""
_ENDS = [2.5, 97.5]


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
    def of(cls, value: float, drawn: Floats) -> Value:
        """Return a value with its interval over draws, some of which may be NaN."""
        known = drawn[~np.isnan(drawn)]
        if np.isnan(value) or not len(known):
            return cls(None)
        low, high = np.percentile(known, _ENDS).tolist()
        return cls(float(value), low, high, 1 - len(known) / len(drawn))

    @property
    def width(self) -> float | None:
        """The width of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True)
class GradeAgreement:
    """How far two judges agree on grades.

    Attributes:
        grades: all grades, in ascending order.
        table: documents by grade: a row for each grade of the first, a column for each of the
            second.
        values: name to statistic.
        topics: number of topics.
        drawn: "topics" or "documents", which the intervals are over.
    """

    grades: Sequence[int]
    table: Sequence[Sequence[int]]
    values: Mapping[str, Value]
    topics: int
    drawn: str

    @property
    def documents(self) -> int:
        """The number of documents that both graded."""
        return sum(map(sum, self.table))

    def further(self, name: str, width: float) -> int | None:
        """Return how many further documents would narrow an interval to a width; None if unknown.

        They are as many for each topic as now, so that topics are added, too.
        """
        now = self.values[name].width
        if not now:
            return None
        return max(0, math.ceil(self.documents * ((now / width) ** 2 - 1)))


STATISTICS: Mapping[str, Callable[[Floats, Sequence[int]], Floats]] = {
    "same grade": lambda tables, _: _same(tables),
    "kappa": lambda tables, _: kappas(tables, "none"),
    "kappa, linear": lambda tables, _: kappas(tables, "linear"),
    "kappa, quadratic": lambda tables, _: kappas(tables, "quadratic"),
    "alpha, nominal": lambda tables, grades: alphas(_both(tables), grades, "nominal"),
    "alpha, ordinal": lambda tables, grades: alphas(_both(tables), grades, "ordinal"),
    "alpha, interval": lambda tables, grades: alphas(_both(tables), grades, "interval"),
}
"""Name to statistic of confusion tables, [..., grades, grades]."""
MAIN = "kappa, linear"
"""The statistic of which one says how many more judgments narrow its interval."""


def agreement_of_grades(
    first: Grades, second: Grades, grades: Sequence[int], *, samples: int, seed: int
) -> GradeAgreement:
    """Compare the grades of two judges on the same documents.

    Args:
        first: topic to document to grade.
        second: the same documents by another judge.
        grades: all grades that a judge could give, in ascending order.
        samples: number of draws.
        seed: seed of the draws.

    Raises:
        InputError: a grade is not among them.
    """
    tables = np.stack(
        [
            confusion([*own.values()], [second[topic][d] for d in own], grades)
            for topic, own in first.items()
        ]
    )
    table = tables.sum(0)
    random = np.random.default_rng(seed)
    if by_topics := len(tables) >= FEWEST_TOPICS:
        counts = random.multinomial(len(tables), np.full(len(tables), 1 / len(tables)), samples)
        drawn = np.tensordot(counts.astype(np.float64), tables, axes=1)
    else:
        number = int(table.sum())
        cells = random.multinomial(number, table.ravel() / number, samples)
        drawn = cells.reshape(samples, *table.shape).astype(np.float64)
    values = {
        name: Value.of(float(compute(table, grades)), compute(drawn, grades))
        for name, compute in STATISTICS.items()
    }
    whole = table.astype(int).tolist()
    return GradeAgreement(
        [*grades], whole, values, len(tables), "topics" if by_topics else "documents"
    )


def _same(tables: Floats) -> Floats:
    same: Floats = np.trace(tables, axis1=-2, axis2=-1) / tables.sum((-1, -2))
    return same


def _both(tables: Floats) -> Floats:
    """The coincidences of two judges."""
    both: Floats = tables + np.swapaxes(tables, -1, -2)
    return both
