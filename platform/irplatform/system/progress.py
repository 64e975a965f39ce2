"""Pieces of work within one another: the share that is done, seconds left, and words.

Work that begins takes a part of what the work around it has left of its step. So the share grows
with every measured piece, even if the rest is unknown. Work that is done once for all that follows,
such as training word vectors, takes a part of all that is left.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SECONDS_TO_LEARN = 3.0
_SHARE_TO_LEARN = 0.02
"""How long work must have gone on, and how far it must have come, before the rest is estimated."""
_TIME = re.compile(r" \(about \d+ \w+ left\)")


@dataclass(eq=False)
class Work:
    """A piece of work, and how far it is.

    Attributes:
        title: "training delta". Work without a title or a noun is not named.
        noun: what a step is: "epoch" reads "epoch 4 of 12".
        unit: what is counted: "topics" reads "12 of 30 topics".
        total: how much there is to do; None if unknown.
        progress: how much is done.
        part: its part of what the work around it has left of its step, from 0 to 1.
        once: it is done for all that follows, and takes that part of all that is left.
        counts: the whole grows with it.
        spare: a narrow line leaves it out first.
        section: it has a title alone, and the work within it tells how far it is.
        patience: seconds before it is painted first.
        step: how much of `total` the work within it is worth.
        within: how much of that step is done, from 0 to 1, by work within it that has ended.
        advanced: when steps were done last.
        reports: how far other processes are with a step of it, from 0 to 1, and their words.
    """

    title: str = ""
    noun: str = ""
    unit: str = ""
    total: float | None = None
    progress: float = 0
    part: float = 1
    once: bool = False
    counts: bool = True
    spare: bool = False
    section: bool = False
    patience: float = 0
    step: float = 1
    within: float = 0
    began: float = field(default_factory=time.monotonic)
    advanced: float = 0
    reports: dict[str, tuple[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began_with = self.progress

    def __str__(self) -> str:
        of = f" of {self.total:,.0f}" if self.total else ""
        if self.noun:
            number = self.progress + 1 if self.total is None else min(self.progress + 1, self.total)
            return f"{self.noun} {number:,.0f}{of}"
        if self.title and self.total is None and not self.progress:
            return self.title
        count = f"{self.progress:,.0f}{of}{self.unit and ' '}{self.unit}"
        return f"{self.title}: {count}" if self.title else count

    def advance(self, steps: float) -> None:
        """Note that more steps are done."""
        self.progress += steps
        self.within = 0
        self.advanced = time.monotonic()

    def seconds_left(self) -> float | None:
        """Estimate the seconds that are left by the steps so far; None if these are too few."""
        if not self.total or self.section or not (self.title or self.noun):  # its parts differ
            return None
        now, steps = time.monotonic(), self.progress - self.began_with
        if now - self.began < _SECONDS_TO_LEARN or steps < _SHARE_TO_LEARN * self.total:
            return None
        estimate = (self.advanced - self.began) * (self.total - self.progress) / steps
        return max(0.0, estimate - (now - self.advanced))


class OverallProgress:
    """The share of the whole that is done; it never becomes less."""

    def __init__(self) -> None:
        self._reached = 0.0
        self._rest = 1.0
        """How much of the whole is not for work that was done once."""

    def share(self, works: Sequence[Work]) -> float | None:
        """Return the share that is done, from 0 to 1; None if unknown."""
        once = next((n for n, work in enumerate(works) if work.once and n), len(works))
        if (share := _share(works[:once])) is None:
            return None
        share = 1 - self._rest * (1 - share)
        for work in works[once : once + 1]:
            share += (1 - share) * work.part * (_share(works[once:]) or 0.0)
        self._reached = max(self._reached, share)
        return self._reached

    def end(self, ended: Work, works: Sequence[Work]) -> None:
        """Note that a piece of work has ended."""
        if ended.once and works and not any(work.once for work in works):
            self._rest *= 1 - ended.part
        elif ended.counts and (around := innermost(works)):
            around.within += (1 - around.within) * ended.part


def innermost(works: Sequence[Work]) -> Work | None:
    """Return the innermost work that the whole grows with."""
    return next((work for work in reversed(works) if work.counts), None)


def _share(works: Sequence[Work]) -> float | None:
    counting = [work for work in works if work.counts]
    if not counting or not counting[0].total:
        return None
    share = 0.0
    inner = sum(share for work in works for _, share in work.reports.values())
    for work in reversed(counting):
        of_step = work.within + (1 - work.within) * inner
        share = (work.progress + work.step * of_step) / work.total if work.total else 0.0
        inner = work.part * min(1.0, share)
    return min(1.0, share)


def texts_of(works: Sequence[Work], subject: str = "", *, left: bool = True) -> list[str]:
    """Return descriptions of the work, from the longest to the shortest, for lines of any width.

    "training delta: fold 2 of 5, member 3 of 5, epoch 4 of 12 (about 40 s left)". The time is that
    of the outermost work of which enough is done; it is told if `left` is set.
    """
    title = [work.title for work in works if work.title and work.section][-1:]
    said: list[str] = []
    spare: list[str] = []
    last: Work | None = None
    silent = not left
    for work in works:
        if reported := [text for text, _ in work.reports.values()][:1]:
            said, last = [*said, *reported], None
        elif work.noun or (work.title and not work.section):
            said, last = [*said, str(work)], work
            spare += [str(work)] * work.spare
            if not silent and (seconds := work.seconds_left()) is not None:
                said[-1] += f" (about {_duration(seconds)} left)"
                silent = True

    def lines(parts: Sequence[str]) -> list[str]:
        long = ": ".join(text for text in (subject, *title, ", ".join(parts)) if text)
        brief = re.sub(r"(?<=\d) of (?=\d)", "/", long)
        return [*dict.fromkeys([long, brief, _TIME.sub("", brief)])]

    descriptions = lines(said)[:2] if spare else []
    said = [text for text in said if text not in spare] or said
    variants = [said, *([said[:-1]] if len(said) > 1 and last and last.noun else [])]
    variants += [said[number:] for number in range(1, len(said))]
    return [
        *descriptions,
        *(line for parts in variants for line in lines(parts)),
        *said[-1:],
        *title,
    ]


def seconds_left(works: Sequence[Work]) -> float | None:
    """Estimate the seconds that are left; None for several pieces of work or too little of one."""
    return works[0].seconds_left() if len(works) == 1 else None


def clock(seconds: float) -> str:
    """Hours, minutes and seconds: "0:01:40"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


@dataclass
class Stopwatch:
    """Seconds per phase of a command. Phases lie within phases, and no second counts twice."""

    seconds: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the time of a block to a phase, less the time of phases within it."""
        started, within = self.clock(), sum(self.seconds.values())
        yield
        inner = sum(self.seconds.values()) - within
        spent = self.clock() - started - inner
        self.seconds[phase] = self.seconds.get(phase, 0.0) + spent

    def since(self, before: Mapping[str, float]) -> dict[str, float]:
        """Return the seconds per phase since `seconds` was as given."""
        return {
            phase: spent - before.get(phase, 0.0)
            for phase, spent in self.seconds.items()
            if spent > before.get(phase, 0.0)
        }


def added(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Return the sum of two spans' seconds per phase."""
    phases = dict.fromkeys([*first, *second])
    return {phase: first.get(phase, 0.0) + second.get(phase, 0.0) for phase in phases}
