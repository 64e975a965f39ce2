"""What the user sees while work goes on: notices and progress, always on stderr."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.interruptions import raise_lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_QUIET_INTERVAL = 15.0
"""Seconds between progress lines where stderr is not a terminal."""


_speaker: ContextVar[str] = ContextVar("speaker", default="")
_subject: ContextVar[str] = ContextVar("subject", default="")
_told: set[str] = set()
"""What `notice_once` has said."""


def speak_as(name: str) -> None:
    """Say in front of every line who speaks: one of several processes, which shows no bars."""
    _speaker.set(name)


def say_nothing() -> None:
    """Write nothing more to stderr: of several processes that do the same, one speaks."""
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end


@contextmanager
def speaking_of(subject: str) -> Iterator[None]:
    """Say in front of every line what it is about, where the same work is done several times."""
    before = _subject.set(subject)
    try:
        yield
    finally:
        _subject.reset(before)


def notice(message: str) -> None:
    """Tell the user something in a line."""
    parts = (_speaker.get(), _subject.get(), message)
    print(": ".join(part for part in parts if part), file=sys.stderr, flush=True)


def notice_once(message: str) -> None:
    """Tell the user something about a file, however often it is read."""
    if message not in _told:
        _told.add(message)
        notice(message)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show how far a piece of work is; yields a function that takes the steps just done.

    On a terminal this is a bar. Elsewhere it is a line every 15 seconds, so that logs stay short.
    """
    if sys.stderr.isatty() and not _speaker.get():
        subject = _subject.get()
        with _bar(f"{subject}: {label}" if subject else label, total) as advance:
            yield advance
        raise_lost()
        return
    started = last = time.monotonic()
    done = 0

    def advance_quietly(steps: int) -> None:
        nonlocal done, last
        raise_lost()
        done += steps
        now = time.monotonic()
        if now - last >= _QUIET_INTERVAL:
            last = now
            of = f" of {total:,}" if total else ""
            notice(f"{label}: {done:,}{of} after {now - started:.0f} s")

    yield advance_quietly


@contextmanager
def _bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)

        def advance(steps: int) -> None:
            raise_lost()
            bar.advance(task, steps)

        yield advance
