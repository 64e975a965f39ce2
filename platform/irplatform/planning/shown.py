"""A forecast as a table and sentences."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from irplatform.errors import listing
from irplatform.reports.columns import Table, as_text
from irplatform.system.console import say, terminal_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.planning.forecast import Forecast, Step

_MINUTE, _HOUR = 60, 3600


def print_forecast(forecast: Forecast) -> None:
    """Print the steps and what they take together."""
    width = terminal_width(sys.stdout)
    say(as_text(table_of(forecast), width))
    say()
    for sentence in sentences(forecast):
        say(wrapped(sentence, width))


def table_of(forecast: Forecast) -> Table:
    """Return the steps as a table; those of no time, such as standing files, are counted alone."""
    rows = [_row(step) for step in forecast.steps]
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
    left = step.estimate.bytes
    return step.what, step.of, f"{step.estimate.processor:,.1f}", size(left) if left else ""


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
