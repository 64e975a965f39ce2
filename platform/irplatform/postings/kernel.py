"""The loops of `search`, compiled by numba, which keeps the code for later processes.

Documents go in blocks whose sums stay in the processor's cache. The best are gathered as keys of 64
bits: the bits of the score, which have the order of non-negative scores, and then the number of the
document, subtracted so that of equal scores the smaller number comes first.
"""
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCK = 1 << 14
"""Documents at a time: 128 KiB of sums."""
_CHUNK = 64
"""Sums that are compared at once."""
_FEWEST = 256
"""Keys that are gathered before the best are kept."""
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)


def _compiled(function: Callable[..., Any]) -> Any:
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # there is no folder that numba may write to
        return numba.njit(**options)(function)


@_compiled
def rank(
    documents: Any, values: Any, latest: Any, saturation: Any, ends: Any, begins: Any, stops: Any,
    weights: Any, limits: Any, depth: Any,
    found: Any, scores: Any, places: Any, counts: Any,
) -> None:  # fmt: skip
    """Fill `found`, `scores` and `counts` as `search_with_numpy` does; releases the GIL."""
    count = len(latest)
    sums = np.zeros(_BLOCK, dtype=np.float64)
    depth = min(depth, count)
    most = max(2 * depth, _FEWEST)
    keys = np.empty(most + _CHUNK + 1, dtype=np.uint64)
    if saturation is None:
        table = np.empty((0, 0), dtype=np.float64)
    else:
        table = np.empty((np.max(np.diff(ends)), len(saturation)), dtype=np.float64)
    for topic in range(len(ends) - 1):
        terms = slice(ends[topic], ends[topic + 1])
        at, stop, weight = begins[terms].copy(), stops[terms], weights[terms]
        if saturation is not None:
            for term in range(len(at)):
                if stop[term] - at[term] > len(saturation):
                    for code in range(len(saturation)):
                        table[term, code] = weight[term] - weight[term] / saturation[code]
        size, least = 0, 0.0
        lengths = stop - at
        for low in range(0, count, _BLOCK):
            high = min(low + _BLOCK, count)
            for term in range(len(at)):
                here = at[term]
                within = documents[here : min(stop[term], here + _BLOCK)]
                at[term] = here + np.searchsorted(within, high)
                part = slice(here, at[term])
                if saturation is not None and lengths[term] > len(saturation):
                    _add_coded(sums, low, documents[part], values[part], table[term])
                else:
                    _add(sums, low, documents[part], values[part], weight[term], saturation)
            size, least = _gather(sums, low, latest, limits[topic], depth, most, keys, size, least)
            sums[:] = 0.0
        _best_first(keys[:size], depth)
        counts[topic] = min(size, depth)
        best = np.sort(keys[: counts[topic]])[::-1]
        for number in range(len(best)):
            found[places[topic] + number] = np.int32(_LOW - (best[number] & _LOW))
            scores[places[topic] + number] = _score(best[number])


@_compiled
def _add(
    sums: Any, low: Any, documents: Any, values: Any, weight: Any, saturation: Any
) -> None:  # fmt: skip
    """Add a term's postings to the sums of a block that begins at a document."""
    for place in range(len(documents)):
        if saturation is None:
            sums[documents[place] - low] += np.float64(weight) * np.float64(values[place])
        else:
            score = weight - weight / saturation[values[place]]
            sums[documents[place] - low] += np.float64(score)


@_compiled
def _add_coded(sums: Any, low: Any, documents: Any, codes: Any, table: Any) -> None:
    """Add a term's postings, given what each code adds."""
    for place in range(len(documents)):
        sums[documents[place] - low] += table[codes[place]]


@_compiled
def _gather(
    sums: Any, low: Any, latest: Any, limit: Any, depth: Any, most: Any, keys: Any,
    size: Any, least: Any,
) -> Any:  # fmt: skip
    """Gather the keys of a block's documents that exceed `least`; the best when there are `most`.

    Returns the number of keys, and the score that documents have to exceed from then on. A sum that
    would be rounded down to it belongs to a later document, and so comes after the others.
    """
    for start in range(0, len(sums), _CHUNK):
        better = 0
        for place in range(start, start + _CHUNK):
            better += sums[place] > least
        if not better:
            continue
        new = size
        for place in range(start, start + _CHUNK):  # a branch would often be mispredicted
            keys[new] = np.uint64(place)
            new += sums[place] > least
        for gathered in range(size, new):
            chosen = np.int64(keys[gathered])
            if latest[low + chosen] <= limit:
                keys[size] = _key(sums[chosen], low + chosen)
                size += 1
        if size >= most:
            _best_first(keys[:size], depth)
            size = depth
            least = np.float64(_score(np.min(keys[:depth])))
    return size, least


@_compiled
def _key(total: Any, document: Any) -> Any:
    bits = np.float32(total).view(np.uint32)
    return (np.uint64(bits) << _HALF) | (_LOW - np.uint64(document))


@_compiled
def _score(key: Any) -> Any:
    return np.uint32(key >> _HALF).view(np.float32)


@_compiled
def _best_first(keys: Any, depth: int) -> None:
    """Bring the largest `depth` keys to the front, in any order (quickselect)."""
    left, right = 0, len(keys) - 1
    while left < right:
        pivot = keys[(left + right) >> 1]
        i, j = left, right
        while i <= j:
            while keys[i] > pivot:
                i += 1
            while keys[j] < pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if depth - 1 <= j:
            right = j
        elif depth - 1 >= i:
            left = i
        else:
            return
