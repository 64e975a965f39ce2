"""Agreement on the grades of documents: confusion tables, weighted kappa, Krippendorff's alpha.

*Kappa* (Cohen 1960, weighted 1968) takes two judges and the documents that both graded:
1 - observed / expected disagreement, where chance draws from the grades that each of them gave. A
disagreement weighs 1, or the difference of the grades (linear) or its square (quadratic).

*Alpha* (Krippendorff, Content Analysis, 2004) takes any number of judges and the documents that two
or more of them graded. Chance draws from the grades of all. The *level* says what a distance is:
nominal (equal or not), ordinal (how many grades lie in between), interval (the square of the
difference of the grades).

A missing grade is never a category. Where chance alone leaves no room for disagreement, as when all
documents have one grade, there is no value (NaN).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Weights: TypeAlias = Literal["none", "linear", "quadratic"]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Floats: TypeAlias = npt.NDArray[np.float64]

WEIGHTS: tuple[Weights, ...] = get_args(Weights)
LEVELS: tuple[Level, ...] = get_args(Level)


def confusion(first: Sequence[int], second: Sequence[int], grades: Sequence[int]) -> Floats:
    """Count the documents by the grades of two judges.

    Args:
        first: the grade of each document by one judge.
        second: by the other, in the same order.
        grades: all grades that occur, in ascending order.

    Returns:
        [grades, grades]: rows of the first judge, columns of the second.

    Examples:
        >>> confusion([0, 1, 2], [0, 2, 2], [0, 1, 2]).astype(int).tolist()
        [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    table = np.zeros((len(grades), len(grades)))
    np.add.at(table, (np.searchsorted(grades, first), np.searchsorted(grades, second)), 1)
    return table


def kappas(tables: Floats, grades: Sequence[int], weights: Weights) -> Floats:
    """Compute the weighted kappa of confusion tables.

    Args:
        tables: [..., grades, grades].
        grades: the grades, in the order of the tables.
        weights: how much a disagreement weighs.

    Returns:
        One number per table; NaN where there is no value.

    Examples:
        >>> table = confusion([0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2])
        >>> float(kappas(table, [0, 1, 2], "linear"))
        0.7142857142857143
    """
    away = np.abs(np.subtract.outer(grades, grades)).astype(np.float64)
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    return _corrected(tables, np.where(away > 0, away**power, 0.0))


def alphas(tables: Floats, grades: Sequence[int], level: Level) -> Floats:
    """Compute Krippendorff's alpha of tables of coincidences.

    Args:
        tables: [..., grades, grades]: the pairs of grades within documents, where each of a
            document that n judges graded counts 1 / (n - 1). The sum of a confusion table and its
            transpose is that of two judges.
        grades: the grades, in the order of the tables.
        level: what a distance of grades is.

    Returns:
        One number per table; NaN where there is no value.
    """
    totals = tables.sum(-1)
    if level == "ordinal":  # half of both grades, and all that lie between
        values = totals.cumsum(-1) - totals / 2
    else:
        values = np.array([*grades], np.float64)
    away = values[..., :, None] - values[..., None, :]
    return _corrected(tables, np.where(away != 0, 1.0, 0.0) if level == "nominal" else away**2, 1)


def krippendorff_alpha(documents: Iterable[Sequence[int]], level: Level) -> float | None:
    """Return Krippendorff's alpha of the grades of documents by any judges; None for no value.

    Examples:
        >>> krippendorff_alpha([[0, 0], [1, 1], [2, 1], [2]], "ordinal")
        0.7777777777777778
    """
    several = [document for document in documents if len(document) > 1]
    grades = sorted({grade for document in several for grade in document})
    if not grades:
        return None
    counts = np.array([[document.count(g) for g in grades] for document in several], np.float64)
    shares = counts / (counts.sum(1, keepdims=True) - 1)
    value = float(alphas(shares.T @ counts - np.diag(shares.sum(0)), grades, level))
    return None if np.isnan(value) else value


def _corrected(tables: Floats, distance: Floats, less: int = 0) -> Floats:
    """1 - observed / expected distance; pairs by chance are drawn from all grades less so many."""
    rows, columns = tables.sum(-1), tables.sum(-2)
    observed = (distance * tables).sum((-1, -2)) * (rows.sum(-1) - less)
    expected = (distance * rows[..., :, None] * columns[..., None, :]).sum((-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
    return values
