"""How long work will take, from what it took on this machine before."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.files.costs import Cost, Work

_RECENT = 5
"""Records that count, the latest ones."""
_NEAR = 1.25
"""Amounts of work that differ by less than this factor are alike."""
_APART = 2.0
"""The factor by which an estimate may be wrong where no record is of such work."""
_STARTING = 5.0
"""Processor seconds of work, at most, that may not grow with its amount: imports, starting Java."""


@dataclass(frozen=True)
class Estimate:
    """An estimate of processor seconds, with a range.

    Attributes:
        processor: processor seconds.
        low: the lower end of the range.
        high: the upper end.
        seconds: seconds on the clock.
        bytes: what will be left on the disk.
        memory: the most memory, in bytes, of the processes that did such work.
        needs: the kinds of artifacts that such work used.
    """

    processor: float
    low: float
    high: float
    seconds: float = 0.0
    bytes: int = 0
    memory: int = 0
    needs: tuple[str, ...] = ()


def estimate(work: Work, costs: Sequence[Cost]) -> Estimate | None:
    """Estimate what work will take; None if none like it was done here.

    Work of the same system counts, that with the same options and about the same amount first.
    Otherwise the nearest amounts count. What of their seconds grows with the amount is not known:
    between none of the first five and all, the estimate is the geometric mean.
    """
    kind = [cost for cost in costs if cost.work.kind == work.kind]
    same = [cost for cost in kind if cost.work.name == work.name]
    of_variant = [cost for cost in same if cost.work.variant == work.variant]
    alike = [cost for cost in of_variant if _is_near(cost.work.amount, work.amount)]
    if work.kind == "other":  # of other collections rather than of another kind of run
        same = [cost for cost in kind if cost.work.variant == work.variant] or same
    if not (records := alike or _of_nearest_amount(of_variant or same, max(work.amount, 1e-9))):
        return None
    records = records[-_RECENT:]
    factors = [work.amount / max(cost.work.amount, 1e-9) for cost in records]
    ends = [_scaled(cost, factor) for cost, factor in zip(records, factors, strict=True)]
    times = [cost.processor for cost in records] if alike else [sqrt(a * b) for a, b in ends]
    growth = [new / max(cost.processor, 1e-9) for cost, new in zip(records, times, strict=True)]
    clock = [cost.seconds * factor for cost, factor in zip(records, growth, strict=True)]
    sizes = [cost.bytes * factor for cost, factor in zip(records, factors, strict=True)]
    low, high = (times, times) if alike else zip(*map(sorted, ends), strict=True)
    apart = 1.0 if alike else _APART
    return Estimate(
        processor=median(times),
        low=min(low) / apart,
        high=max(high) * apart,
        seconds=median(clock),
        bytes=round(median(sizes)),
        memory=max(cost.memory for cost in records),
        needs=tuple(dict.fromkeys(kind for cost in records for kind in cost.needs)),
    )


def _scaled(cost: Cost, factor: float) -> tuple[float, float]:
    """Seconds for another amount, if all of the work grows with it and if its start does not."""
    start = min(cost.processor, _STARTING)
    return cost.processor * factor, start + (cost.processor - start) * factor


def _of_nearest_amount(costs: Sequence[Cost], amount: float) -> list[Cost]:
    """The records whose amount is near to the one that is nearest to this amount."""
    if not costs:
        return []
    amounts = [max(cost.work.amount, 1e-9) for cost in costs]
    nearest = min(amounts, key=lambda other: max(other / amount, amount / other))
    return [cost for cost in costs if _is_near(cost.work.amount, nearest)]


def added(estimates: Iterable[Estimate]) -> Estimate:
    """Return the estimate of all work together."""
    parts = [*estimates]
    return Estimate(
        processor=sum(one.processor for one in parts),
        low=sum(one.low for one in parts),
        high=sum(one.high for one in parts),
        seconds=sum(one.seconds for one in parts),
        bytes=sum(one.bytes for one in parts),
        memory=max((one.memory for one in parts), default=0),
    )


def _is_near(one: float, other: float) -> bool:
    return one <= other * _NEAR and other <= one * _NEAR
