"""The searched space: a span or a list of values per option, written `NAME[=RANGE]`.

`k1=0.4:2.0` is a span, `mu=100:4000:log` one on a logarithmic scale, `fb_docs=5,10,20` a list. A
name alone takes the declared bounds or values; without near bounds, from a quarter of the present
value to four times it. Numbers are rounded to about a hundredth of their span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems, unknown_option
from irplatform.options import read_value
from irplatform.spelling import option
from irplatform.tuning.option_types import Declared, declarations, in_common

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.retrievers import ChosenRetriever


Value = object
"""A value of an option, as `settings` have it."""
Point = tuple[Value, ...]
"""A value per dimension."""
_FACTOR = 4
_WIDE = 10
"""Bounds beyond this many times the present value are too far away."""
_FORMS = "Write NAME, NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=VALUE,VALUE,…"


def decimals(scale: float) -> int:
    """Return the decimals that separate numbers by about a hundredth of a scale."""
    return -math.floor(math.log10(scale / 100))


@dataclass(frozen=True)
class Span:
    """Numbers from `low` to `high`, both included, perhaps on a logarithmic scale."""

    name: str
    low: float
    high: float
    log: bool = False
    is_integral: bool = False

    @property
    def size(self) -> int | None:
        """The number of whole numbers; None for others."""
        return int(self.high) - int(self.low) + 1 if self.is_integral else None

    def values(self) -> list[Value]:
        """Return both ends."""
        ends = [self.low, self.high]
        return [int(end) for end in ends] if self.is_integral else [*ends]

    def every(self) -> list[Value]:
        """Return all whole numbers; none for others."""
        return list(range(int(self.low), int(self.high) + 1)) if self.is_integral else []

    def at(self, position: float) -> Value:
        """Return the number at a position."""
        low, high = self._ends()
        value = low + position * (high - low)
        if self.log:
            value = math.exp(value)
        if self.is_integral:
            return max(int(self.low), min(int(self.high), round(value)))
        digits = decimals(value if self.log else self.high - self.low)
        return max(self.low, min(self.high, round(value, digits)))

    def position(self, value: Value) -> float:
        """Return the position of a number in [0, 1), clipped to the span."""
        if not isinstance(value, int | float):
            return 0.5
        low, high = self._ends()
        number = min(max(float(value), self.low), self.high)
        place = ((math.log(number) if self.log else number) - low) / (high - low)
        return min(place, math.nextafter(1.0, 0.0))

    def _ends(self) -> tuple[float, float]:
        """The ends as positions 0 and 1; a whole number has half a step on either side."""
        margin = 0.5 if self.is_integral else 0.0
        low, high = self.low - margin, self.high + margin
        if not self.log:
            return low, high
        return math.log(low if low > 0 else self.low), math.log(high)


@dataclass(frozen=True)
class Values:
    """At least two values without an order, such as names or switches."""

    name: str
    choices: tuple[Value, ...]

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.choices)

    def values(self) -> list[Value]:
        """Return all values."""
        return list(self.choices)

    every = values

    def at(self, position: float) -> Value:
        """Return the value at a position."""
        return self.choices[min(int(position * len(self.choices)), len(self.choices) - 1)]

    def position(self, value: Value) -> float:
        """Return the middle of a value's share."""
        at = self.choices.index(value) if value in self.choices else 0
        return (at + 0.5) / len(self.choices)


Dimension: TypeAlias = Span | Values
"""A searched option; positions in [0, 1) stand for its values."""


def read_space(
    plugins: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
    over: Sequence[str],
    said: Sequence[str] | None = None,
    preset: str | None = None,
) -> list[Dimension]:
    """Read the texts of `over`; InputError for a wrong range or option.

    `settings` stay fixed; the user gave those named in `said`, by default all. A `preset` gives
    rerankers other defaults.
    """
    if not over:
        raise InputError(f"name the options to search with {option('over')}. {_FORMS}.")
    first, second = choose_systems(plugins, retrievers, rerankers, settings, preset)
    systems: list[ChosenRetriever | ChosenReranker] = [*first, *second]
    dimensions: list[Dimension] = []
    for text in over:
        name, equals, range_text = text.partition("=")
        options = list(declarations(systems, name))
        if not options:
            raise unknown_option(name, [s.registration for s in systems], plugins)
        if name in settings:
            raise InputError(f"'{name}' is both set and searched; leave out one of them.")
        if name in {dimension.name for dimension in dimensions}:
            raise InputError(f"'{name}' is searched twice; give {option('over', name)} once.")
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
            choose_systems(plugins, retrievers, rerankers, {**settings, name: value}, preset)
        dimensions.append(dimension)
    return dimensions


def _dimension(name: str, range_text: str, declared: Declared) -> Dimension:
    parts = [part.strip() for part in range_text.split(":")]
    if len(parts) == 1:
        return _read_values(name, range_text, declared)
    log = parts[2:] == ["log"]
    if len(parts) > 2 and not log:
        raise InputError(f"the range '{name}={range_text}' cannot be read. {_FORMS}.")
    try:
        low, high = float(parts[0]), float(parts[1])
    except ValueError as error:
        raise InputError(f"the range '{name}={range_text}' has no numbers. {_FORMS}.") from error
    return _span(name, low, high, log=log, integral=declared.is_integral)


def _read_values(name: str, text: str, declared: Declared) -> Values:
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
    if len(declared.literals) > 1:
        return Values(name, declared.literals)
    low, high = declared.low, declared.high
    value = declared.value if isinstance(declared.value, int | float) else 0
    if low is not None and high is not None and not 0 < _WIDE * value < high:
        low, high = _inside_bounds(declared, low, high, scale=high - low)
        return _span(name, low, high, integral=declared.is_integral)
    if isinstance(declared.value, bool) or value <= 0:
        raise InputError(
            f"option '{name}' of '{declared.system}' has no bounds to search between. Write "
            f"{option('over', f'{name}=LOW:HIGH')} or {name}=VALUE,VALUE,…"
        )
    low = max(value / _FACTOR, low or 0)
    high = min(value * _FACTOR, high if high is not None else value * _FACTOR)
    low, high = _inside_bounds(declared, low, high)
    if declared.is_integral:
        low = max(1, round(low))
    return _span(name, low, high, log=True, integral=declared.is_integral)


def _inside_bounds(
    declared: Declared, low: float, high: float, scale: float | None = None
) -> tuple[float, float]:
    """The ends of a range, with excluded bounds moved a rounding step inwards."""
    if declared.above and low == declared.low:
        low = math.floor(low) + 1 if declared.is_integral else _stepped(low, scale or low, 1)
    if declared.below and high == declared.high:
        high = math.ceil(high) - 1 if declared.is_integral else _stepped(high, scale or high, -1)
    return low, high


def _stepped(end: float, scale: float, sign: int) -> float:
    digits = decimals(scale)
    return round(end + sign * 10.0**-digits, digits)


def _span(name: str, low: float, high: float, *, log: bool = False, integral: bool = False) -> Span:
    if not low < high < float("inf") or low == float("-inf"):
        raise InputError(f"the range {name}={low:g}:{high:g} is empty. {_FORMS}.")
    if log and low <= 0:
        raise InputError(f"{name}={low:g}:{high:g}:log needs a lower end above 0.")
    if integral and not (low == int(low) and high == int(high)):
        raise InputError(
            f"option '{name}' takes whole numbers; so must the range {low:g}:{high:g}."
        )
    return Span(name, low, high, log, integral)
