"""The steps of a run before it begins, as a table and sentences."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from irplatform.errors import listing
from irplatform.planning.estimates import Estimate, added
from irplatform.reports.columns import Table, as_text
from irplatform.system.console import say, terminal_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.files.costs import Work

_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True)
class Step:
    """Something that a run makes, or takes from the cache.

    Attributes:
        what: what is done, in words.
        of: how much, in words.
        work: the work; None if the cache has what comes of it.
        estimate: what it will take; None if that is not known, or nothing is to be done.
        cell: the cell of a matrix that first needs it, such as "demo, bm25+rm3"; "" for all.
    """

    what: str
    of: str = ""
    work: Work | None = None
    estimate: Estimate | None = None
    cell: str = ""


@dataclass(frozen=True)
class Forecast:
    """What a run would do.

    Attributes:
        steps: what it would make, and what it would take from the cache.
        missing: packages that its systems need and that are not installed.
    """

    steps: Sequence[Step]
    missing: Sequence[str] = ()

    @property
    def in_all(self) -> Estimate:
        """What all steps take whose time is known."""
        return added(step.estimate for step in self.steps if step.estimate is not None)

    @property
    def unknown(self) -> list[str]:
        """Steps that this machine has not done before."""
        return [step.what for step in self.steps if step.work and step.estimate is None]

    def print_table(self) -> None:
        """Print the steps, and what they take together."""
        width = terminal_width(sys.stdout)
        say(as_text(table_of(self), width))
        say()
        for sentence in sentences(self):
            say(wrapped(sentence, width))

    def as_json(self) -> dict[str, Any]:
        """Return it as one JSON object; seconds are processor seconds, but for `clock`."""
        total = self.in_all
        return {
            "steps": [
                {
                    "step": step.what,
                    "of": step.of,
                    "in_cache": step.work is None,
                    "seconds": step.estimate and round(step.estimate.processor, 2),
                    "bytes": step.estimate and step.estimate.bytes,
                    **({"cell": step.cell} if step.cell else {}),
                }
                for step in self.steps
            ],
            "seconds": round(total.processor, 2),
            "least": round(total.low, 2),
            "most": round(total.high, 2),
            "clock": round(total.seconds, 2),
            "bytes": total.bytes,
            "memory": total.memory,
            "not_known": self.unknown,
            "missing": [*self.missing],
        }


def table_of(forecast: Forecast) -> Table:
    """Return the steps as a table; those of no time, such as standing files, are counted alone."""
    rows: list[tuple[str, str, str, str]] = []
    for cell, steps in groupby(forecast.steps, key=lambda step: step.cell):
        if cell or rows:
            rows.append((f"{cell or 'all'}:", "", "", ""))
        rows += map(_row, steps)
    return Table.of(("step", "of", "seconds", "disk"), rows, left=2)


def sentences(forecast: Forecast) -> Iterator[str]:
    """Yield what all steps take together, and what is not known."""
    total = forecast.in_all
    if not any(step.work for step in forecast.steps):
        yield "Everything is in the cache."
    elif total.processor:
        disk = f", {size(total.bytes)} of disk" if total.bytes else ""
        memory = f", up to {size(total.memory)} of memory" if total.memory else ""
        yield (
            f"About {duration(total.processor)} of processor time ({duration(total.low)} to "
            f"{duration(total.high)}), {duration(total.seconds)} on the clock{disk}{memory}, by "
            "what such work took on this machine before."
        )
    if unknown := forecast.unknown:
        yield (
            f"How long this takes is not known, since this machine has not done it before: "
            f"{listing(dict.fromkeys(unknown))}."
        )
    if forecast.missing:
        yield f"Not installed, and needed: {listing(forecast.missing)}."


def _row(step: Step) -> tuple[str, str, str, str]:
    if step.work is None:
        return step.what, step.of, "in the cache", ""
    if step.estimate is None:
        return step.what, step.of, "not known", ""
    disk = step.estimate.bytes
    return step.what, step.of, f"{step.estimate.processor:,.1f}", size(disk) if disk else ""


def duration(seconds: float) -> str:
    """Return seconds in words.

    >>> duration(2.34), duration(95), duration(7300)
    ('2.3 s', '1 min 35 s', '2 h 1 min')
    """
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if round(seconds) < _HOUR:
        minutes, rest = divmod(round(seconds), _MINUTE)
        return f"{minutes} min {rest} s"
    hours, rest = divmod(round(seconds / _MINUTE), _MINUTE)
    return f"{hours} h {rest} min"


def size(number: int) -> str:
    """Return bytes in words.

    >>> size(120), size(36_700_000), size(1_340_000_000)
    ('1 kB', '37 MB', '1.3 GB')
    """
    if number >= 1_000_000_000:
        return f"{number / 1e9:.1f} GB"
    if number >= 1_000_000:
        return f"{number / 1e6:.0f} MB"
    return f"{max(round(number / 1e3), 1)} kB"
