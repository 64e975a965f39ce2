"""How long work will take, from what it took on this machine before."""

from __future__ import annotations

from dataclasses import dataclass
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
    Otherwise seconds grow with the amount, and the range is wider.
    """
    kind = [cost for cost in costs if cost.work.kind == work.kind]
    same = [cost for cost in kind if cost.work.name == work.name]
    of_variant = [cost for cost in same if cost.work.variant == work.variant]
    alike = [cost for cost in of_variant if _is_near(cost.work.amount, work.amount)]
    if work.kind == "other":  # of other collections rather than of another kind of run
        same = [cost for cost in kind if cost.work.variant == work.variant] or same
    if not (chosen := (alike or of_variant or same)[-_RECENT:]):
        return None
    factors = [work.amount / max(cost.work.amount, 1e-9) for cost in chosen]
    taken = [cost.processor * factor for cost, factor in zip(chosen, factors, strict=True)]
    clock = [cost.seconds * factor for cost, factor in zip(chosen, factors, strict=True)]
    left = [cost.bytes * factor for cost, factor in zip(chosen, factors, strict=True)]
    apart = 1.0 if alike else _APART
    return Estimate(
        processor=median(taken),
        low=min(taken) / apart,
        high=max(taken) * apart,
        seconds=median(clock),
        bytes=round(median(left)),
        memory=max(cost.memory for cost in chosen),
        needs=tuple(dict.fromkeys(kind for cost in chosen for kind in cost.needs)),
    )


def added(estimates: Iterable[Estimate]) -> Estimate:
    """Return the estimate of all work together."""
    each = [*estimates]
    return Estimate(
        processor=sum(one.processor for one in each),
        low=sum(one.low for one in each),
        high=sum(one.high for one in each),
        seconds=sum(one.seconds for one in each),
        bytes=sum(one.bytes for one in each),
        memory=max((one.memory for one in each), default=0),
    )


def _is_near(one: float, other: float) -> bool:
    return one <= other * _NEAR and other <= one * _NEAR
