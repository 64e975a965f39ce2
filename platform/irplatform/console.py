"""What the user sees while work goes on: notices and progress, always on stderr.

On a terminal, progress is one line that is painted over: what is being done, and one bar for the
whole command. The display holds the stream that it is painted on and redirects nothing. It stays
on one line, so that it never paints over what libraries write to the terminal. Elsewhere progress
is a line every 15 seconds, so that logs stay short.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from irplatform.errors import for_display
from irplatform.interruptions import raise_lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Advance = Callable[[int], None]

QUIET, NORMAL, VERBOSE = -1, 0, 1
_LINE_INTERVAL = 15.0
"""Seconds between progress lines where stderr is no terminal."""
_QUICKEST = 0.3
"""Seconds between the first paints of the progress line."""
_PATIENCE = 1.0
"""Seconds that nobody needs to be told what they wait for."""
_PAINTS = 150
"""Later the line is painted every N / 150 seconds, N being its age: 800 times in an hour."""
_WIDEST_BAR = 30
_NARROWEST_BAR = 5


@dataclass(eq=False)
class _Work:
    """A piece of work, and how far it is.

    Attributes:
        title: what is done: "training delta". Work without a title or a noun is not named.
        noun: what is counted: "epoch" reads "epoch 4 of 12", where others read "12 of 30".
        total: how much there is to do; None where nobody knows.
        done: how much is done.
        step: how much of `total` the work within it is worth.
        counts: whether the bar moves with it.
        stage: whether the first work within it measures it.
        patience: seconds before it is painted first.
        reports: how far other processes are with a step of it, from 0 to 1, and their words.
    """

    title: str = ""
    noun: str = ""
    total: float | None = None
    done: float = 0
    step: float = 1
    counts: bool = True
    stage: bool = False
    patience: float = 0
    began: float = field(default_factory=time.monotonic)
    reports: dict[str, tuple[str, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.noun and self.total:
            return f"{self.noun} {min(self.done + 1, self.total):,.0f} of {self.total:,.0f}"
        return f"{self.done:,.0f}" + (f" of {self.total:,.0f}" if self.total else "")


class _Display:
    """The work under way, outermost first, and the line on the terminal that shows it."""

    def __init__(self) -> None:
        self.level = NORMAL
        self.speaker = self.subject = ""
        self.report: Callable[[str, Any], None] | None = None
        """In a worker: sends notices and progress to the process that started it."""
        self._lock = threading.RLock()
        self._works: list[_Work] = []
        self._stream: TextIO | None = None
        self._stop = threading.Event()
        self._painted = False
        self._reached = 0.0
        self._shown: list[str] = []
        """What the line said last; it says so between one piece of work and the next."""
        self._last_line = 0.0

    @contextmanager
    def showing(self, work: _Work) -> Iterator[_Work]:
        """Show a piece of work until it is done."""
        with self._lock:
            if not self._works:
                self._reached, self._last_line = 0.0, time.monotonic()
                self._shown = ["starting"]
                self._open(work.patience)
            self._works.append(work)
        try:
            yield work
        finally:
            with self._lock:
                self.share()  # the bar never goes back
                self._works.remove(work)
                if not self._works:
                    self._close()

    def measures_bar(self) -> bool:
        """Whether the bar moves with work that begins now."""
        return not self._works or self._works[-1].stage

    def advance(self, work: _Work, steps: float) -> None:
        """Note that so much more is done."""
        raise_lost()
        with self._lock:
            work.done += steps
        self._tick()

    def take_report(self, sender: str, kind: str, content: Any) -> None:
        """Show what a worker reports: a notice, or how far it is."""
        if kind == "notice":
            self.say(content)
            return
        with self._lock:
            for work in self._works[-1:]:
                work.reports.pop(sender, None)
                if content is not None:
                    work.reports[sender] = content
        self._tick()

    def say(self, message: str) -> None:
        """Write a line, unless it is one that a quiet command keeps to itself."""
        if self.report:
            self.report("notice", message)
        elif self.level > QUIET or "WARNING" in message:
            self.tell(message)

    def tell(self, message: str) -> None:
        """Write a line, whatever the level."""
        width = terminal_width(self._stream or sys.stderr)
        self.write(f"{wrapped(for_display(message), width)}\n")

    def write(self, text: str) -> None:
        """Write to stderr in the place of the progress line, which moves on below."""
        with self._lock, suppress(OSError, ValueError):  # a terminal that was closed stops no run
            stream = self._stream or sys.stderr
            self.clear()
            stream.write(text)
            stream.flush()

    def clear(self) -> None:
        """Take the progress line off the terminal until it is painted next."""
        if self._painted and self._stream is not None:
            self._painted = False
            with suppress(OSError, ValueError):
                self._stream.write("\r\x1b[K")
                self._stream.flush()

    def _open(self, patience: float) -> None:
        stream = sys.stderr
        if self.report is None and self.level > QUIET and terminal_width(stream):
            self._stream, self._stop = stream, threading.Event()
            arguments = (self._stop, patience)
            threading.Thread(target=self._repaint, args=arguments, daemon=True).start()

    def _close(self) -> None:
        self._stop.set()
        self.clear()
        self._stream = None

    def _repaint(self, stop: threading.Event, patience: float) -> None:
        began = time.monotonic()
        while not stop.wait(max(patience, _QUICKEST, (time.monotonic() - began) / _PAINTS)):
            patience = 0
            with self._lock, suppress(OSError, ValueError):
                if not stop.is_set() and self._stream is not None:
                    self._stream.write(f"\r{self._line(self._stream)}\x1b[K")
                    self._stream.flush()
                    self._painted = True

    def _line(self, stream: TextIO) -> str:
        """The progress line, as wide as the terminal at most."""
        from rich.cells import cell_len, set_cell_size

        share = self.share()
        seconds = time.monotonic() - self._works[0].began
        end = f" {_clock(seconds)}"
        if share is not None:
            end = f" {share:4.0%}{end}"
            if len(self._works) == 1 and share > 0.02:
                end += f", {_clock(seconds * (1 - share) / share)} left"
        room = (terminal_width(stream) or 80) - len("^C") - 1 - len(end)
        self._shown = texts = [for_display(text) for text in self.texts() if text] or self._shown
        text = next((t for t in texts if cell_len(t) < room - _NARROWEST_BAR), texts[-1])
        width = min(_WIDEST_BAR, room - cell_len(text) - 1)
        if share is not None and width >= _NARROWEST_BAR:
            full, empty = "━─" if "utf" in (stream.encoding or "").lower() else "#-"
            filled = round(width * share)
            text += f" {full * filled}{empty * (width - filled)}"
        elif cell_len(text) > room:
            text = f"{set_cell_size(text, max(0, room - 2))} …"
        return text + end

    def _tick(self) -> None:
        """Write a line, or send a report, where no line is painted and the last one is old."""
        with self._lock:
            if self._stream is not None or not (self._works and (text := self.texts()[0])):
                return
            now = time.monotonic()
            if now - self._last_line < (_QUICKEST if self.report else _LINE_INTERVAL):
                return
            self._last_line = now
            if self.report:
                self.report("progress", (text, self.share() or 0.0))
            else:
                self.say(f"{text} after {now - self._works[0].began:.0f} s")

    def texts(self) -> list[str]:
        """What is done, and the same in fewer words, where a line is too short for that.

        "training delta: fold 2 of 5, member 3 of 5, epoch 4 of 12"
        """
        title = [work.title for work in self._works if work.title and work.stage][-1:]
        steps = [str(work) for work in self._works if work.noun]
        steps += [text for work in self._works for text, _ in work.reports.values()][-1:]
        measured = [work for work in self._works if work.title and not work.stage][-1:]
        labels = [f"{work.title}: {work}" for work in measured]
        if measured and not title:
            title, labels = [measured[0].title], [str(measured[0])]
        found = []
        for words in ([*steps, *labels], labels or steps):
            parts = (self.subject, *title, ", ".join(text for text in words if text))
            found.append(": ".join(part for part in parts if part))
        return [*found, *labels[-1:]]

    def share(self) -> float | None:
        """How much of the whole is done, from 0 to 1; None where nobody knows."""
        share = 0.0
        for work in reversed([work for work in self._works if work.counts]):
            if not work.total:
                return None
            inner = share + sum(reported for _, reported in work.reports.values())
            share = (work.done + work.step * inner) / work.total
        self._reached = max(self._reached, min(1.0, share))
        return self._reached


_display = _Display()
_told: set[str] = set()
"""What `notice_once` has said."""


def set_level(level: int) -> None:
    """Say less than usual, as much, or more: `QUIET`, `NORMAL` or `VERBOSE`."""
    _display.level = level


def speak_as(name: str) -> None:
    """Say in front of every line who speaks: one of several processes."""
    _display.speaker = name


def say_nothing() -> None:
    """Write nothing more to stderr: of several processes that do the same, one speaks."""
    _display.report = lambda _kind, _content: None
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end


def report_to(report: Callable[[str, Any], None]) -> None:
    """Hand notices and progress to another process, which calls `take_report` with them.

    Args:
        report: sends a kind and its content; it is called from one thread at a time.
    """
    _display.report = report


take_report = _display.take_report
write = _display.write
tell = _display.tell


def end_with(message: str) -> None:
    """Write a last line to the terminal, whatever holds the display."""
    if _display._painted:
        message = f"\r\x1b[K{message}"
    with suppress(OSError, ValueError):
        os.write(2, f"{message}\n".encode())


@contextmanager
def speaking_of(subject: str) -> Iterator[None]:
    """Say in front of every line what it is about, where the same work is done several times."""
    before, _display.subject = _display.subject, subject
    try:
        yield
    finally:
        _display.subject = before


def say(text: str = "") -> None:
    """Print a result for people to stdout; see `errors.for_display`."""
    print(for_display(text), flush=True)


def notice(message: str) -> None:
    """Tell the user something in a line."""
    names = (_display.speaker, _display.subject)
    _display.say(": ".join(part for part in (*names, message) if part))


def notice_once(message: str) -> None:
    """Tell the user something about a file, however often it is read."""
    if message not in _told:
        _told.add(message)
        notice(message)


def detail(message: str) -> None:
    """Tell something that only `--verbose` shows."""
    if _display.level == VERBOSE:
        notice(message)


@contextmanager
def parts(total: float, done: float = 0) -> Iterator[Advance]:
    """Divide work into parts, each a `stage` or so many steps; yields what takes finished steps.

    Args:
        total: of all parts together, in any unit.
        done: how much is done already.
    """
    with _display.showing(_Work(total=total, done=done)) as work:
        yield lambda steps: _display.advance(work, steps)


@contextmanager
def stage(title: str, share: float = 1) -> Iterator[None]:
    """Show a part of the work around it; the first progress within it tells how far it is.

    Args:
        title: what is done: "training delta"; "" takes the label of that progress.
        share: of the total of the parts around it.
    """
    around = next((work for work in reversed(_display._works) if work.counts), None)
    if around is not None:
        around.step = share
    with _display.showing(_Work(title, total=1, stage=True)):
        yield
    if around is not None:
        around.step = 1
        _display.advance(around, share)


@contextmanager
def steps(noun: str, total: int, done: int = 0, *, counts: bool = True) -> Iterator[Advance]:
    """Show work as steps of a kind: "epoch 4 of 12"; yields what takes finished steps.

    Args:
        noun: what a step is.
        total: how many there are.
        done: how many are done already.
        counts: whether the bar moves with them.
    """
    with _display.showing(_Work("", noun, total, done, counts=counts)) as work:
        yield lambda finished: _display.advance(work, finished)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Advance]:
    """Show how far a piece of work is; yields a function that takes the steps just done.

    Args:
        label: what is done: "searching".
        total: how many steps there are; None where nobody knows.
    """
    counts = _display.measures_bar()
    with _display.showing(_Work(label, total=total, counts=counts)) as work:
        yield lambda done: _display.advance(work, done)
    raise_lost()


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Show that something goes on that nobody can measure: "loading torch"."""
    counts = not _display._works
    with _display.showing(_Work(label, stage=True, counts=counts, patience=_PATIENCE)):
        yield


def terminal_width(stream: TextIO | None) -> int | None:
    """The columns of a terminal; None for a stream that is none, or that can move no cursor."""
    with suppress(OSError, ValueError, AttributeError):
        if stream is not None and stream.isatty():
            dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
            return None if dumb else os.get_terminal_size(stream.fileno()).columns or None
    return None


def wrapped(text: str, width: int | None) -> str:
    """A text with line breaks between words where a terminal is narrower; as it is for None."""
    from textwrap import fill

    def line(text: str) -> str:
        return fill(text, width or 0, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(line, text.split("\n"))) if width and len(text) > width else text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
