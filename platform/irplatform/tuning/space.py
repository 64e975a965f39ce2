"""What is searched: for every option a span of numbers or a list of values.

A dimension maps positions in [0, 1) to values, so that the search knows nothing of types and
scales. Numbers are rounded to about a hundredth of their span: a finer choice would be noise, and
short numbers read well in a TOML file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

Value = object
"""Of an option, as `--set` takes it."""
Point = tuple[Value, ...]
"""A value per dimension."""


def decimals(scale: float) -> int:
    """How many decimals tell numbers apart that differ by about a hundredth of a scale."""
    return -math.floor(math.log10(scale / 100))


@dataclass(frozen=True)
class Span:
    """Numbers between two ends, both included.

    Attributes:
        name: as `--set` takes it.
        low: lower end.
        high: upper end, above the lower one.
        log: equal ratios are equally far apart, not equal differences.
        whole: whole numbers only.
    """

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False

    @property
    def size(self) -> int | None:
        """The number of whole numbers; None for others."""
        return int(self.high) - int(self.low) + 1 if self.whole else None

    def values(self) -> list[Value]:
        """Both ends."""
        ends = [self.low, self.high]
        return [int(end) for end in ends] if self.whole else [*ends]

    def every(self) -> list[Value]:
        """All whole numbers; none of others."""
        return list(range(int(self.low), int(self.high) + 1)) if self.whole else []

    def at(self, position: float) -> Value:
        """The number at a position."""
        low, high = self._ends()
        value = low + position * (high - low)
        if self.log:
            value = math.exp(value)
        if self.whole:
            return max(int(self.low), min(int(self.high), round(value)))
        digits = decimals(value if self.log else self.high - self.low)
        return max(self.low, min(self.high, round(value, digits)))

    def position(self, value: Value) -> float:
        """Where a number lies in [0, 1); the nearest place for one that is outside."""
        if not isinstance(value, int | float):
            return 0.5
        low, high = self._ends()
        number = min(max(float(value), self.low), self.high)
        place = ((math.log(number) if self.log else number) - low) / (high - low)
        return min(place, math.nextafter(1.0, 0.0))

    def _ends(self) -> tuple[float, float]:
        """What positions 0 and 1 stand for; a whole number has half a step on either side."""
        margin = 0.5 if self.whole else 0.0
        low, high = self.low - margin, self.high + margin
        if not self.log:
            return low, high
        return math.log(low if low > 0 else self.low), math.log(high)


@dataclass(frozen=True)
class Values:
    """Values in no order: names, switches, lists.

    Attributes:
        name: as `--set` takes it.
        given: the values, at least two of them, all different.
    """

    name: str
    given: tuple[Value, ...]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.given)

    def values(self) -> list[Value]:
        """All of them."""
        return list(self.given)

    every = values

    def at(self, position: float) -> Value:
        """The value at a position: every one has an equal share."""
        return self.given[min(int(position * len(self.given)), len(self.given) - 1)]

    def position(self, value: Value) -> float:
        """The middle of a value's share."""
        at = self.given.index(value) if value in self.given else 0
        return (at + 0.5) / len(self.given)


Dimension: TypeAlias = Span | Values
"""An option that is searched over: positions in [0, 1) stand for its values."""
