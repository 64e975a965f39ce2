"""Answers of plugins, checked where they come in.

Answers about a system go into fingerprints and metadata, which are JSON; other answers would fail
there, far from the plugin. Scores and features are numbers.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.data import TextPair
from irplatform.errors import PluginError, in_a_line, one_line, quoted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Answer = TypeVar("Answer")

_NUMBERS = "biuf"
"""Kinds of numpy's types."""


def json_mapping(who: str, method: str, answer: object) -> dict[str, object]:
    """An answer, as a table that JSON can hold.

    Args:
        who: the system and its plugin.
        method: the method that gave it.
        answer: the answer.

    Raises:
        PluginError: it is no mapping, or JSON cannot hold it.
    """
    if not isinstance(answer, Mapping):
        raise PluginError(
            f"{who} returned {type(answer).__name__} from {method}; a mapping is needed, as JSON."
        )
    table = dict(answer)
    try:
        json.dumps(table, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise PluginError(
            f"{who} returned from {method} what is not JSON: {in_a_line(error)}."
        ) from error
    return table


def folders(who: str, answer: object) -> tuple[Path, ...]:
    """The checkpoints that a system named.

    Raises:
        PluginError: these are no paths.
    """
    paths = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else [answer]
    if strange := [each for each in paths if not isinstance(each, Path)]:
        raise PluginError(
            f"{who} returned {quoted(strange[0])} from checkpoints; a list of paths "
            "(pathlib.Path) is needed."
        )
    return tuple(paths)


def text_pairs(who: str, answer: object) -> tuple[TextPair, ...]:
    """The pairs of texts that a system said it learns from.

    Raises:
        PluginError: these are no such pairs.
    """
    pairs = tuple(answer) if isinstance(answer, Iterable) else (answer,)
    if strange := [pair for pair in pairs if not isinstance(pair, TextPair)]:
        raise PluginError(
            f"{who} returned {quoted(strange[0])} from pairs_learned; an iterable of TextPair "
            "is needed."
        )
    for pair in pairs:
        if not all(isinstance(part, str) for part in (pair.query, pair.text, pair.group)):
            raise PluginError(
                f"{who} returned {quoted(pair)} from pairs_learned; its query, text and group must "
                "be text."
            )
    return pairs


def of_type(who: str, method: str, answer: object, kind: type[Answer], needed: str) -> Answer:
    """An answer of a type.

    Args:
        who: the system and its plugin.
        method: the method that gave it.
        answer: the answer.
        kind: the type.
        needed: the type in words, as "True or False is needed".

    Raises:
        PluginError: it has another type.
    """
    if not isinstance(answer, kind):
        raise PluginError(f"{who} returned {type(answer).__name__} from {method}; {needed}.")
    return answer


def truth(who: str, method: str, answer: object) -> bool:
    """An answer that is true or false, and not the text "no"; see `of_type`."""
    return of_type(who, method, answer, bool, "True or False is needed")


def text(who: str, method: str, answer: object) -> str:
    """A text, in a line; see `of_type`."""
    return one_line(of_type(who, method, answer, str, "text is needed, '' for nothing"))


def close_coroutine(answer: object) -> bool:
    """Whether an answer is a coroutine, for a function that is async; Python then does not warn.

    Nobody awaits it.
    """
    if not inspect.iscoroutine(answer):
        return False
    answer.close()
    return True


def numbers(who: str, topic: str, values: object, kind: type[np.floating[Any]]) -> npt.NDArray[Any]:
    """What was computed for a topic, as an array of numbers of some kind.

    Raises:
        PluginError: it is something else, such as text, which numpy would read as numbers.
    """
    import numpy as np  # takes a while, and most commands compute nothing

    try:
        array = np.asarray(values)
        if array.dtype.kind not in _NUMBERS:
            for value in np.asarray(values, dtype=object).ravel().tolist():
                missing = value is None and array.ndim > 0  # which numpy would read as nan
                if missing or isinstance(value, str | bytes | complex):
                    raise TypeError(f"{quoted(value)} is no number")
        with np.errstate(over="ignore"):  # who asks looks for infinity
            return array.astype(kind, copy=False)
    except Exception as error:  # of whatever it is: a tensor with gradients, a huge number
        raise PluginError(
            f"{who} returned no numbers for topic {topic}: {in_a_line(error)}."
        ) from error
