"""Functions that numba compiles; imported where numba is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop that releases the GIL and checks no bounds; numba keeps the code.

    It is kept while the file of the function is unchanged, whatever changes in other files, so what
    a function calls belongs to its own file.
    """
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # there is no folder that numba may write to
        return numba.njit(**options)(function)
