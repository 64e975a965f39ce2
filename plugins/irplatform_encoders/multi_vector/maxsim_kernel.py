"""MaxSim compiled by numba, which keeps the code for later processes."""
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_TO_FLOAT32 = np.float32(2.0**112)
"""Between the exponents of a number of 16 bits and of the same bits as one of 32."""


def _compiled(function: Callable[..., Any]) -> Any:
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # there is no folder that numba may write to
        return numba.njit(**options)(function)


@_compiled
def maxsim(
    query: Any, numbers: Any, begins: Any, tokens: Any, scales: Any, scale_begins: Any, scores: Any
) -> None:
    """Fill `scores` as `maxsim.with_numpy` does; releases the GIL.

    Args:
        query: float32 [width, tokens of the query].
        numbers: all that is stored, as float32, as uint16 with the bits of float16, or as int8.
        begins: where each text's vectors begin in `numbers`.
        tokens: vectors of each text, 1 or more.
        scales: all that is stored, as float32; only int8 has scales.
        scale_begins: where each text's scales begin in `scales`.
        scores: float64 [texts].
    """
    width, count = query.shape
    longest = np.max(tokens)
    rows = np.empty((longest, width), np.float32)
    products = np.empty((longest, count), np.float32)
    best = np.empty(count, np.float32)
    for text in range(len(begins)):
        size = tokens[text]
        values = numbers[begins[text] : begins[text] + size * width]
        _to_float32(values, rows[:size].reshape(size * width))
        np.dot(rows[:size], query, products[:size])
        best[:] = -np.inf
        for token in range(size):
            scale = np.float32(1)
            if values.itemsize == 1:
                scale = scales[scale_begins[text] + token]
            for place in range(count):
                product = products[token, place] * scale
                best[place] = max(best[place], product)
        total = np.float64(0)
        for place in range(count):
            total += np.float64(best[place])
        scores[text] = total


@_compiled
def _to_float32(values: Any, rows: Any) -> None:
    if values.itemsize != 2:
        for place in range(len(values)):
            rows[place] = np.float32(values[place])
        return
    bits = rows.view(np.uint32)
    for place in range(len(values)):
        bits[place] = (np.uint32(values[place]) & np.uint32(0x7FFF)) << np.uint32(13)
    for place in range(len(values)):
        rows[place] *= _TO_FLOAT32
    for place in range(len(values)):
        bits[place] |= (np.uint32(values[place]) & np.uint32(0x8000)) << np.uint32(16)
