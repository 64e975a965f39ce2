"""`--over NAME[=RANGE]`: from what a user writes to a dimension of the search.

`k1=0.4:2.0` is a span, `mu=100:4000:log` one on a logarithmic scale, `fb_docs=5,10,20` a list of
values. A name alone takes the declared bounds, or all values of a switch or a choice; where bounds
are missing or far away, from a quarter of the present value to four times it, on a logarithmic
scale.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from irplatform.choices import choose_systems, unknown_option
from irplatform.choices.declared import Declared, declarations, in_common
from irplatform.choices.values import read_value
from irplatform.errors import InputError
from irplatform.tuning.space import Dimension, Span, Values, decimals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.registry import Registry
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.retrieval.first_stage import RetrieverChoice

_FACTOR = 4
_WIDE = 10
"""Bounds that go beyond so many times the present value keep out nonsense; they suggest nothing."""
_FORMS = "Write NAME, NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=VALUE,VALUE,…"


def read_space(
    plugins: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
    over: Sequence[str],
    said: Sequence[str] | None = None,
) -> list[Dimension]:
    """Understand all `--over` of a command.

    Args:
        plugins: where names are resolved.
        retrievers: names.
        rerankers: names.
        settings: options that stay as they are.
        over: what the user wrote.
        said: the names in `settings` that are the user's, not the collection's; all by default.

    Raises:
        InputError: an option is unknown, set as well or searched twice, or a range is at fault.
    """
    if not over:
        raise InputError(f"say with --over which options to search. {_FORMS}.")
    first, second = choose_systems(plugins, retrievers, rerankers, settings)
    systems: list[RetrieverChoice | RerankerChoice] = [*first, *second]
    dimensions: list[Dimension] = []
    for text in over:
        name, equals, range_text = text.partition("=")
        options = list(declarations(systems, name))
        if not options:
            raise unknown_option(name, [s.registration for s in systems], plugins)
        if name in settings:
            raise InputError(f"'{name}' is both set and searched; leave out one of them.")
        if name in {dimension.name for dimension in dimensions}:
            raise InputError(f"'{name}' is searched twice; give --over {name} once.")
        for other in settings if said is None else said:
            if same := in_common(systems, name, other):
                raise InputError(
                    f"'{name}' is searched and '{other}' is set: both are {same}; leave out one."
                )
        for earlier in dimensions:
            if same := in_common(systems, name, earlier.name):
                raise InputError(f"'{earlier.name}' and '{name}' are both {same}; search it once.")
        dimension = (
            _dimension(name, range_text, options[0]) if equals else _declared(name, options[0])
        )
        for value in dimension.values():
            choose_systems(plugins, retrievers, rerankers, {**settings, name: value})
        dimensions.append(dimension)
    return dimensions


def _dimension(name: str, range_text: str, declared: Declared) -> Dimension:
    parts = [part.strip() for part in range_text.split(":")]
    if len(parts) == 1:
        return _listed(name, range_text, declared)
    log = parts[2:] == ["log"]
    if len(parts) > 2 and not log:
        raise InputError(f"the range '{name}={range_text}' cannot be read. {_FORMS}.")
    try:
        low, high = float(parts[0]), float(parts[1])
    except ValueError as error:
        raise InputError(f"the range '{name}={range_text}' has no numbers. {_FORMS}.") from error
    return _span(name, low, high, log=log, whole=declared.whole)


def _listed(name: str, text: str, declared: Declared) -> Values:
    values = read_value(f"[{text}]")
    if not isinstance(values, list) or (
        declared.text and not all(isinstance(value, str | list | dict) for value in values)
    ):
        values = [read_value(part.strip(), text=declared.text) for part in text.split(",")]
    if declared.number and any(isinstance(value, bool) for value in values):
        raise InputError(f"option '{name}' takes numbers; '{text}' has true or false among them.")
    distinct = [value for at, value in enumerate(values) if value not in values[:at]]
    if len(distinct) < 2 or "" in distinct:
        raise InputError(f"'{name}={text}' needs at least two different values. {_FORMS}.")
    return Values(name, tuple(distinct))


def _declared(name: str, declared: Declared) -> Dimension:
    """The range that an option's declaration suggests."""
    if len(declared.literals) > 1:
        return Values(name, declared.literals)
    low, high = declared.low, declared.high
    value = declared.value if isinstance(declared.value, int | float) else 0
    if low is not None and high is not None and not 0 < _WIDE * value < high:
        low, high = _inside_bounds(declared, low, high, scale=high - low)
        return _span(name, low, high, whole=declared.whole)
    if isinstance(declared.value, bool) or value <= 0:
        raise InputError(
            f"option '{name}' of '{declared.system}' has no bounds to search between. Write "
            f"--over {name}=LOW:HIGH or {name}=VALUE,VALUE,…"
        )
    low = max(value / _FACTOR, low or 0)
    high = min(value * _FACTOR, high if high is not None else value * _FACTOR)
    low, high = _inside_bounds(declared, low, high)
    if declared.whole:
        low = max(1, round(low))
    return _span(name, low, high, log=True, whole=declared.whole)


def _inside_bounds(
    declared: Declared, low: float, high: float, scale: float | None = None
) -> tuple[float, float]:
    """The ends of a range, those that the option does not take a rounding step further in.

    Numbers are rounded to a hundredth of `scale`; without one, of each end itself.
    """
    if declared.above and low == declared.low:
        low = math.floor(low) + 1 if declared.whole else _stepped(low, scale or low, 1)
    if declared.below and high == declared.high:
        high = math.ceil(high) - 1 if declared.whole else _stepped(high, scale or high, -1)
    return low, high


def _stepped(end: float, scale: float, sign: int) -> float:
    digits = decimals(scale)
    return round(end + sign * 10.0**-digits, digits)


def _span(name: str, low: float, high: float, *, log: bool = False, whole: bool = False) -> Span:
    if not low < high < float("inf") or low == float("-inf"):
        raise InputError(f"the range {name}={low:g}:{high:g} is empty. {_FORMS}.")
    if log and low <= 0:
        raise InputError(f"{name}={low:g}:{high:g}:log needs a lower end above 0.")
    if whole and not (low == int(low) and high == int(high)):
        raise InputError(
            f"option '{name}' takes whole numbers; so must the range {low:g}:{high:g}."
        )
    return Span(name, low, high, log, whole)
