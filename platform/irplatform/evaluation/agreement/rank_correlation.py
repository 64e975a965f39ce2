"""Rank correlations of systems: Kendall's tau-b and AP correlation.

*AP correlation* (Yilmaz, Aslam and Robertson, SIGIR 2008) weighs the head of a ranking: it is the
mean over the systems of the estimated order, but the first, of the share of systems above that are
rightly above, doubled, less 1. Its two orders have different parts; where none is the truth, take
the mean of both ways. With tied systems it has no value here: what breaks ties by place, as some
programs do, tells how a list happened to be sorted.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

_MOST_ENUMERATED = 8
"""All orders are tried for up to this many systems: 40,320 for eight."""

_PERMUTATIONS = 10_000
"""Random orders tried for more systems."""

_ROUNDING = 1e-12
"""Correlations closer than this are equal."""


def kendall_taus(first: _Floats, second: _Floats) -> _Floats:
    """Compute Kendall's tau-b of many pairs of score lists.

    Args:
        first: [pairs, systems]; a single row serves all pairs.
        second: [pairs, systems].

    Returns:
        One number per pair; NaN if all scores of a row are equal.
    """
    left, right = np.triu_indices(first.shape[1], k=1)
    first_signs = np.sign(first[:, left] - first[:, right])
    second_signs = np.sign(second[:, left] - second[:, right])
    untied = np.count_nonzero(first_signs, axis=1) * np.count_nonzero(second_signs, axis=1)
    with np.errstate(invalid="ignore"):
        taus: _Floats = np.sum(first_signs * second_signs, axis=1) / np.sqrt(untied)
    return taus


def tau_aps(truth: _Floats, estimate: _Floats) -> _Floats:
    """Compute the AP correlation of many pairs of score lists.

    Args:
        truth: [pairs, systems]; a single row serves all pairs.
        estimate: [pairs, systems]; its order is the one whose head weighs most.

    Returns:
        One number per pair, 1 for equal orders, -1 for reversed ones; NaN if two systems of a row
        tie, as all do for a judge that gives all systems the same score.

    Examples:
        >>> tau_aps(np.array([[0.3, 0.2, 0.1]]), np.array([[9, 7, 5], [5, 7, 9], [1, 1, 1]]))
        array([ 1., -1., nan])
    """
    systems = truth.shape[1]
    better, above = (scores[:, :, None] < scores[:, None, :] for scores in (truth, estimate))
    counts = above.sum(2)  # of the systems above each one, in the estimated order
    shares = (better & above).sum(2) / np.maximum(counts, 1)
    pairs = systems * (systems - 1) / 2
    untied = (better.sum((1, 2)) == pairs) & (counts.sum(1) == pairs)
    taus: _Floats = np.where(untied, 2 * shares.sum(1) / (systems - 1) - 1, np.nan)
    return taus


def permutation_p(first: _Floats, second: _Floats, *, seed: int = 42) -> float:
    """Return the share of orders that correlate as strongly, in either direction.

    Exact for up to eight systems, and for more if none tie; otherwise from 10,000 orders.
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
    (observed,) = np.abs(kendall_taus(first[None], second[None]))
    strong: npt.NDArray[np.bool_] = (
        np.abs(kendall_taus(first[None], second[orders])) >= observed - _ROUNDING
    )
    return strong
