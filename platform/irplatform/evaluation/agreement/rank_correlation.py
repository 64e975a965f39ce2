"""Rank correlations of systems: Kendall's tau-b and AP correlation.

*AP correlation* (Yilmaz, Aslam and Robertson, SIGIR 2008) weighs the head of a ranking: it is the
mean over the systems of the estimated order, but the first, of the share of systems above that are
rightly above, doubled, less 1. Its two orders have different parts; the *symmetric* form is the
mean of both ways. With tied systems it has no value here: what breaks ties by place, as some
programs do, tells how a list happened to be sorted.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, listing

if TYPE_CHECKING:
    from collections.abc import Mapping

_Floats = npt.NDArray[np.float64]

_MOST_ENUMERATED = 8
"""All orders are tried for up to this many systems: 40,320 for eight."""

_PERMUTATIONS = 10_000
"""Random orders tried for more systems."""

_ROUNDING = 1e-12
"""Correlations closer than this are equal."""

_BLOCK = 1 << 24
"""Pairs of systems looked at at once."""


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


def tau_ap(
    truth: Mapping[str, float], estimate: Mapping[str, float], *, symmetric: bool = False
) -> float | None:
    """Return the AP correlation of two sets of scores of the same systems.

    Args:
        truth: system to score.
        estimate: system to score; its order is the one whose head weighs most.
        symmetric: the mean of both ways, in which no order is the truth.

    Returns:
        1 for equal orders, -1 for reversed ones; None if two systems tie in one of them, as all do
        for a judge that gives all systems the same score.

    Raises:
        InputError: the systems differ, or there is one alone.

    Examples:
        >>> tau_ap({"a": 0.3, "b": 0.2, "c": 0.1}, {"c": 5, "a": 9, "b": 7})
        1.0
        >>> tau_ap({"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 1, "b": 1, "c": 1}) is None
        True
    """
    if others := truth.keys() ^ estimate.keys():
        raise InputError(f"one of the two orders lacks systems: {listing(sorted(others))}.")
    if len(truth) < 2:
        raise InputError("a correlation needs at least two systems.")
    rows = [np.array([[scores[n] for n in truth]], np.float64) for scores in (truth, estimate)]
    (value,) = tau_aps(*rows, symmetric=symmetric)
    return None if np.isnan(value) else float(value)


def tau_aps(truth: _Floats, estimate: _Floats, *, symmetric: bool = False) -> _Floats:
    """Compute the AP correlation of many pairs of score lists.

    Args:
        truth: [pairs, systems]; a single row serves all pairs.
        estimate: [pairs, systems].
        symmetric: the mean of both ways.

    Returns:
        One number per pair; NaN if two systems of a row tie.
    """
    pairs, systems = np.broadcast_shapes(truth.shape, estimate.shape)
    both = [np.broadcast_to(scores, (pairs, systems)) for scores in (truth, estimate)]
    rows = max(1, _BLOCK // systems**2)
    blocks = [
        _block(both[0][start : start + rows], both[1][start : start + rows], symmetric)
        for start in range(0, pairs, rows)
    ]
    return np.concatenate(blocks)


def _block(truth: _Floats, estimate: _Floats, symmetric: bool) -> _Floats:
    above = [scores[:, :, None] < scores[:, None, :] for scores in (truth, estimate)]
    ties = np.zeros(len(truth), np.bool_)
    values = []
    for over, under in (above, above[::-1])[: 2 if symmetric else 1]:
        count = under.sum(2)  # of the systems above each one, in the estimated order
        right = (over & under).sum(2)
        shares = np.divide(right, count, out=np.zeros(count.shape), where=count > 0)
        values.append(2 * shares.sum(1) / (truth.shape[1] - 1) - 1)
    for scores in (truth, estimate):
        ties |= (np.diff(np.sort(scores, axis=1), axis=1) == 0).any(1)
    found: _Floats = np.where(ties, np.nan, np.mean(values, axis=0))
    return found


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
