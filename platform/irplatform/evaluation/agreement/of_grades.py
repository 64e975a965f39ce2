"""Agreement on the grades of documents: confusion tables, weighted kappa, Krippendorff's alpha.

*Kappa* (Cohen 1960, weighted 1968) takes two judges and the documents that both graded:
1 - observed / expected disagreement, where chance draws from the grades that each of them gave. A
disagreement weighs 1, or the distance of the grades (linear) or its square (quadratic), counted in
steps among all *named* grades, whether they occur or not.

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

from irplatform.errors import InputError, listing, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Weights: TypeAlias = Literal["none", "linear", "quadratic"]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Floats: TypeAlias = npt.NDArray[np.float64]

WEIGHTS: tuple[Weights, ...] = get_args(Weights)
LEVELS: tuple[Level, ...] = get_args(Level)


def confusion(
    first: Sequence[int | None], second: Sequence[int | None], grades: Sequence[int]
) -> Floats:
    """Count the documents by the grades of two judges.

    Args:
        first: the grade of each document by one judge; None for none.
        second: by the other, in the same order.
        grades: all grades that a judge could give, in ascending order.

    Returns:
        [grades, grades]: rows of the first judge, columns of the second.

    Raises:
        InputError: a grade is not named, or they are not in order.

    Examples:
        >>> confusion([0, 1, 2, None], [0, 2, 2, 1], [0, 1, 2]).astype(int).tolist()
        [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    places = _places(grades)
    table = np.zeros((len(grades), len(grades)))
    for one, other in zip(first, second, strict=True):
        if one is not None and other is not None:
            table[_place(one, places), _place(other, places)] += 1
    return table


def kappas(tables: Floats, weights: Weights) -> Floats:
    """Compute the weighted kappa of confusion tables.

    Args:
        tables: [..., grades, grades].
        weights: how much a disagreement weighs.

    Returns:
        One number per table; NaN where there is no value.
    """
    if weights not in WEIGHTS:
        raise unknown("weights", weights, WEIGHTS)
    steps = np.arange(tables.shape[-1], dtype=np.float64)
    away = np.abs(steps[:, None] - steps)
    weight = {"none": (away > 0).astype(np.float64), "linear": away, "quadratic": away**2}[weights]
    rows, columns = tables.sum(-1), tables.sum(-2)
    observed = (weight * tables).sum((-1, -2)) * tables.sum((-1, -2))
    expected = (weight * rows[..., :, None] * columns[..., None, :]).sum((-1, -2))
    return _one_minus(observed, expected)


def weighted_kappa(
    first: Sequence[int | None],
    second: Sequence[int | None],
    grades: Sequence[int],
    weights: Weights = "linear",
) -> float | None:
    """Return the weighted kappa of two judges; see `confusion` and `kappas`.

    Examples:
        >>> weighted_kappa([0, 0, 1, 2, None], [0, 1, 1, 2, 2], [0, 1, 2])
        0.7142857142857143
    """
    value = float(kappas(confusion(first, second, grades), weights))
    return None if np.isnan(value) else value


def coincidences(documents: Iterable[Sequence[int | None]], grades: Sequence[int]) -> Floats:
    """Count the pairs of grades within documents, as alpha needs them.

    A document that n judges graded has n(n - 1) pairs, and each counts 1 / (n - 1).

    Args:
        documents: the grades of each, by any judges; one grade alone counts nothing.
        grades: all grades that occur, in ascending order.

    Returns:
        [grades, grades], symmetric.
    """
    places = _places(grades)
    table = np.zeros((len(grades), len(grades)))
    for document in documents:
        given = [_place(grade, places) for grade in document if grade is not None]
        if len(given) > 1:
            counts = np.bincount(given, minlength=len(grades)).astype(np.float64)
            table += (np.outer(counts, counts) - np.diag(counts)) / (len(given) - 1)
    return table


def alphas(tables: Floats, grades: Sequence[int], level: Level) -> Floats:
    """Compute Krippendorff's alpha of tables of coincidences.

    Args:
        tables: [..., grades, grades], see `coincidences`; the sum of a confusion table and its
            transpose is that of two judges.
        grades: the grades, in the order of the tables.
        level: what a distance of grades is.

    Returns:
        One number per table; NaN where there is no value.
    """
    if level not in LEVELS:
        raise unknown("level", level, LEVELS)
    totals = tables.sum(-1)
    if level == "ordinal":  # half of both grades, and all that lie between
        values = totals.cumsum(-1) - totals / 2
    else:
        values = np.broadcast_to(np.array([*grades], np.float64), totals.shape)
    away = values[..., :, None] - values[..., None, :]
    distance = (away != 0).astype(np.float64) if level == "nominal" else away**2
    observed = (distance * tables).sum((-1, -2)) * (totals.sum(-1) - 1)
    expected = (distance * totals[..., :, None] * totals[..., None, :]).sum((-1, -2))
    return _one_minus(observed, expected)


def krippendorff_alpha(documents: Iterable[Sequence[int | None]], level: Level) -> float | None:
    """Return Krippendorff's alpha of the grades of documents by any judges; None for no value.

    Examples:
        >>> krippendorff_alpha([[0, 0], [1, 1], [2, 1], [2, None]], "ordinal")
        0.7777777777777778
    """
    rows = [*documents]
    grades = sorted({grade for row in rows for grade in row if grade is not None})
    value = float(alphas(coincidences(rows, grades), grades, level)) if grades else np.nan
    return None if np.isnan(value) else value


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        values: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
    return values


def _places(grades: Sequence[int]) -> dict[int, int]:
    if [*grades] != sorted({*grades}):
        raise InputError("name each grade once, in ascending order.")
    return {grade: place for place, grade in enumerate(grades)}


def _place(grade: int, places: dict[int, int]) -> int:
    if grade not in places:
        raise InputError(f"the grade {grade} is none of those named: {listing(map(str, places))}.")
    return places[grade]
