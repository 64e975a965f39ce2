"""Kendall's tau-b of many pairs of score lists at once, and its permutation test.

The p-value is the share of all orders of one list whose correlation is as strong. The normal
approximation, which is usual where scores tie, is far off for a handful of systems.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt

_MOST_ENUMERATED = 8
"""Systems of which all orders are tried: 40,320 for eight."""
_PERMUTATIONS = 10_000
"""Orders that are drawn where there are too many to try all."""
_ROUNDING = 1e-12
"""Correlations closer than this are the same."""

_Floats = npt.NDArray[np.float64]


def kendall_taus(first: _Floats, second: _Floats) -> _Floats:
    """Kendall's tau-b of many pairs of score lists at once.

    Args:
        first: a row per pair, a column per system; one row goes for all.
        second: the same shape.

    Returns:
        One number per row; not a number where all scores of a row are equal.
    """
    left, right = np.triu_indices(first.shape[1], k=1)
    first_signs = np.sign(first[:, left] - first[:, right])
    second_signs = np.sign(second[:, left] - second[:, right])
    untied = np.count_nonzero(first_signs, axis=1) * np.count_nonzero(second_signs, axis=1)
    with np.errstate(invalid="ignore"):
        taus: _Floats = np.sum(first_signs * second_signs, axis=1) / np.sqrt(untied)
    return taus


def permutation_p(first: _Floats, second: _Floats, *, seed: int = 42) -> float:
    """How often independent orders correlate as strongly, in either direction.

    Exact for up to eight systems, and for more where none tie; otherwise from 10,000 orders.
    """
    systems = len(first)
    if systems <= _MOST_ENUMERATED:
        orders = np.array(list(permutations(range(systems))))
        return float(np.mean(_as_strong(first, second, orders)))
    if len(np.unique(first)) == len(np.unique(second)) == systems:
        from scipy.stats import kendalltau

        return float(kendalltau(first, second, method="exact").pvalue)
    unpermuted = np.tile(np.arange(systems), (_PERMUTATIONS, 1))
    orders = np.random.default_rng(seed).permuted(unpermuted, axis=1)
    extreme = int(np.count_nonzero(_as_strong(first, second, orders)))
    return (extreme + 1) / (_PERMUTATIONS + 1)  # the observed order is one of the draws


def _as_strong(
    first: _Floats, second: _Floats, orders: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which orders of the second scores (rows) correlate as strongly as the scores do."""
    (observed,) = np.abs(kendall_taus(first[None], second[None]))
    strong: npt.NDArray[np.bool_] = (
        np.abs(kendall_taus(first[None], second[orders])) >= observed - _ROUNDING
    )
    return strong
