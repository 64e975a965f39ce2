"""Answers of plugins, checked where they come in.

Answers about a system go into fingerprints and metadata, which are JSON; other answers would fail
there, far from the plugin. Scores and features are numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.data import TextPair
from irplatform.errors import PluginError, in_a_line, one_line, quoted
from irplatform.plugin.declarations import NamedSystem, PairsFile, Reads, Traits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Answer = TypeVar("Answer")

PRETRAINING = ("mesh", "")
"""What a reranker can be pre-trained on by default."""

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


def checked_traits(who: str, answer: object) -> Traits:
    """What a system says that it is made for.

    Raises:
        PluginError: these are no `Traits`, or one of them has another type.
    """
    traits = of_type(who, "traits", answer, Traits, "irplatform.plugin.Traits are needed")
    for trait in fields(Traits):
        value = getattr(traits, trait.name)
        if isinstance(trait.default, bool | str) and not isinstance(value, type(trait.default)):
            needed = "true or false" if isinstance(trait.default, bool) else "text"
            raise PluginError(f"{who}: {trait.name} of its traits is {value!r}, not {needed}.")
    packages: object = traits.packages
    if isinstance(packages, str) or not all(isinstance(each, str) for each in traits.packages):
        raise PluginError(f"{who}: packages of its traits are {packages!r}, not a tuple of names.")
    if traits.pretraining not in PRETRAINING:
        raise PluginError(
            f"{who}: pretraining of its traits is {traits.pretraining!r}; only 'mesh' can be named."
        )
    return replace(traits, remark=one_line(traits.remark))


def checked_reads(who: str, answer: object) -> Reads:
    """What a system says that it reads.

    Raises:
        PluginError: these are no `Reads`, or a part of them has another type.
    """
    reads = of_type(who, "reads", answer, Reads, "irplatform.plugin.Reads are needed")
    for name, kind in (("files", Path), ("checkpoints", Path), ("systems", NamedSystem)):
        values = getattr(reads, name)
        if not isinstance(values, list | tuple) or not all(isinstance(v, kind) for v in values):
            raise PluginError(
                f"{who} reads {quoted(values)} as its {name}; a tuple of {kind.__name__} is needed."
            )
    if not isinstance(reads.pairs, PairsFile | None):
        raise PluginError(f"{who} reads {quoted(reads.pairs)} as its pairs; a PairsFile is needed.")
    return replace(reads, more=json_mapping(who, "reads", reads.more))


def text_pairs(who: str, answer: object) -> tuple[TextPair, ...]:
    """The pairs of texts that a system said it learns from.

    Raises:
        PluginError: these are no such pairs.
    """
    pairs = tuple(answer) if isinstance(answer, Iterable) else (answer,)
    if strange := [pair for pair in pairs if not isinstance(pair, TextPair)]:
        raise PluginError(
            f"{who} returned {quoted(strange[0])} as one of the pairs that it reads; a "
            "TextPair is needed."
        )
    for pair in pairs:
        if not all(isinstance(part, str) for part in (pair.query, pair.text, pair.group)):
            raise PluginError(
                f"{who} returned {quoted(pair)} as one of the pairs that it reads; its query, text "
                "and group must be text."
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
