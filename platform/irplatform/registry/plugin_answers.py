"""Checks of what plugins return: JSON for fingerprints and metadata, numbers for scores."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.data import TextPair
from irplatform.errors import PluginError, in_a_line, one_line, quoted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Answer = TypeVar("Answer")

_NUMBERS = "biuf"
"""Kinds of numpy's types that are numbers."""


def json_mapping(title: str, method: str, answer: object) -> dict[str, object]:
    """Return a method's answer as a table; PluginError if JSON cannot hold it."""
    if not isinstance(answer, Mapping):
        raise PluginError(
            f"{title} returned {type(answer).__name__} from {method}; a mapping is needed, as JSON."
        )
    table = dict(answer)
    try:
        json.dumps(table, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise PluginError(
            f"{title} returned a value from {method} that is not JSON: {in_a_line(error)}."
        ) from error
    return table


def text_pairs(title: str, answer: object) -> tuple[TextPair, ...]:
    """Return pairs of texts that a system learns from; PluginError for anything else."""
    pairs = tuple(answer) if isinstance(answer, Iterable) else (answer,)
    for pair in pairs:
        if not isinstance(pair, TextPair) or not all(
            isinstance(part, str) for part in (pair.query, pair.text, pair.group)
        ):
            raise PluginError(
                f"{title} returned {quoted(pair)} as one of the pairs that it reads; a TextPair of "
                "texts is needed."
            )
    return pairs


def of_type(title: str, method: str, answer: object, kind: type[Answer], needed: str) -> Answer:
    """Return a method's answer; PluginError, with `needed` in words, if it has another type."""
    if not isinstance(answer, kind):
        raise PluginError(f"{title} returned {type(answer).__name__} from {method}; {needed}.")
    return answer


def text_answer(title: str, method: str, answer: object) -> str:
    """Return a method's answer, a text, in one line."""
    return one_line(of_type(title, method, answer, str, "text is needed, '' for nothing"))


def numbers(
    title: str, topic: str, values: object, kind: type[np.floating[Any]]
) -> npt.NDArray[Any]:
    """Return a topic's scores or features as an array.

    Raises:
        PluginError: they are not numbers; numpy would read numbers from text.
    """
    import numpy as np  # slow, and most commands compute nothing

    if inspect.iscoroutine(values):
        values.close()  # or Python warns that nobody awaited it
        raise PluginError(f"{title} is `async`: write a method with `def`, which returns a list.")
    try:
        if inspect.isgenerator(values):
            raise TypeError("a generator; return a list of numbers")
        array = np.asarray(values)
        if array.dtype.kind not in _NUMBERS:
            for value in np.asarray(values, dtype=object).ravel().tolist():
                missing = value is None and array.ndim > 0  # which numpy would read as nan
                if missing or isinstance(value, str | bytes | complex):
                    raise TypeError(f"{quoted(value)} is not a number")
        with np.errstate(over="ignore"):  # callers check for infinity
            return array.astype(kind, copy=False)
    except Exception as error:  # such as a tensor with gradients, or a huge number
        raise PluginError(
            f"{title} returned no numbers for topic {topic}: {in_a_line(error)}."
        ) from error
