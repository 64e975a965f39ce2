"""Notices and progress during work, always on stderr.

On a terminal, progress is one line that is painted over: the work, and one bar for the whole
command. Nothing is redirected, so it never paints over what libraries write. Elsewhere progress is
a line every 15 seconds, to keep logs short.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from irplatform.errors import for_display
from irplatform.system.progress import (
    OverallProgress,
    Work,
    clock,
    innermost,
    seconds_left,
    texts_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Advance = Callable[[int], None]

QUIET, NORMAL, VERBOSE = -1, 0, 1
_LINE_INTERVAL = 15.0
"""Seconds between progress lines where stderr is not a terminal."""
_QUICKEST = 0.3
"""Seconds between the first paints of the progress line."""
_PATIENCE = 1.0
"""Seconds that work may take without being shown."""
_PAINTS = 150
"""Later the line is painted every N / 150 seconds, where N is its age: 800 times in an hour."""
_WIDEST_BAR = 30
_FAIR_BAR = 12
_NARROWEST_BAR = 5
LAST, _USUAL, QUICK = 0.9, 0.6, 0.15
"""Share of what is left that work takes: usually the last, any, and followed by much."""


class _Display:
    """The work in progress, outermost first, and the line on the terminal that shows it."""

    def __init__(self) -> None:
        self.level = NORMAL
        self.speaker = self.subject = ""
        self.report: Callable[[str, Any], None] | None = None
        """In a worker: sends notices and progress to the process that started it."""
        self.check: Callable[[], None] = lambda: None
        """Called at each step; raises what should end the work."""
        self._lock = threading.RLock()
        self._works: list[Work] = []
        self._stream: TextIO | None = None
        self._stop = threading.Event()
        self._painted = False
        self._progress = OverallProgress()
        self._texts: list[str] = []
        """The last texts of the line, which stay between one piece of work and the next."""
        self._last_line = 0.0

    @contextmanager
    def showing(self, work: Work) -> Iterator[Advance]:
        """Show a piece of work until it is done; yields a function that takes finished steps."""
        with self._lock:
            if not self._works:
                self._progress, self._last_line = OverallProgress(), time.monotonic()
                self._texts = ["starting"]
                self._open(work.patience)
            self._works.append(work)
        try:
            yield lambda finished: self.advance(work, finished)
        finally:
            with self._lock:
                self.share()  # the bar never goes back
                self._works.remove(work)
                self._progress.end(work, self._works)
                if not self._works:
                    self._close()

    def advance(self, work: Work, steps: float) -> None:
        """Note that so much more is done."""
        self.check()
        with self._lock:
            work.advance(steps)
        self._tick()

    def take_report(self, sender: str, kind: str, content: Any) -> None:
        """Show a worker's report: a notice, or how far it is."""
        if kind == "notice":
            self.say(content)
            return
        with self._lock:
            for work in self._works[-1:]:
                if content is not None:
                    work.reports[sender] = content
                else:
                    work.reports.pop(sender, None)
        self._tick()

    def say(self, message: str) -> None:
        """Write a line; a quiet command writes warnings only."""
        if self.report:
            self.report("notice", message)
        elif self.level > QUIET or "WARNING" in message:
            self.tell(message)

    def tell(self, message: str) -> None:
        """Write a line, whatever the level."""
        width = terminal_width(self._stream or sys.stderr)
        self.write(f"{wrapped(for_display(message), width)}\n")

    def write(self, text: str) -> None:
        """Write to stderr above the progress line."""
        with self._lock, suppress(OSError, ValueError):  # a terminal that was closed stops no run
            stream = self._stream or sys.stderr
            self.clear()
            stream.write(text)
            stream.flush()

    def clear(self) -> None:
        """Remove the progress line until it is painted next."""
        if self._painted and self._stream is not None:
            self._painted = False
            with suppress(OSError, ValueError):
                self._stream.write("\r\x1b[K")
                self._stream.flush()

    def _open(self, patience: float) -> None:
        stream = sys.stderr
        if self.report is None and self.level > QUIET and terminal_width(stream):
            self._stream, self._stop = stream, threading.Event()
            threading.Thread(target=self._repaint, args=(self._stop, patience), daemon=True).start()

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
        end = f" {clock(seconds)}" if share is None else f" {share:4.0%} {clock(seconds)}"
        if share is not None and (remainder := seconds_left(self._works)) is not None:
            end += f", {clock(remainder)} left"
        room = (terminal_width(stream) or 80) - len("^C") - 1 - len(end)
        alone = len(self._works) == 1  # its time stands at the end
        descriptions = texts_of(self._works, self.subject, left=not alone)
        lines = (for_display(text) for text in descriptions if text)
        self._texts = texts = [*lines] or self._texts
        rooms = (room - bar for bar in (_FAIR_BAR, _NARROWEST_BAR))
        text = next((t for most in rooms for t in texts if cell_len(t) < most), texts[-1])
        width = min(_WIDEST_BAR, room - cell_len(text) - 1)
        if share is not None and width >= _NARROWEST_BAR:
            full, empty = "━─" if "utf" in (stream.encoding or "").lower() else "#-"
            filled = round(width * share)
            text += f" {full * filled}{empty * (width - filled)}"
        elif cell_len(text) > room:
            text = f"{set_cell_size(text, max(0, room - 2))} …"
        return text + end

    def _tick(self) -> None:
        """Write a line, or send a report, if no line is painted and the last one is old."""
        with self._lock:
            now = time.monotonic()
            interval = _QUICKEST if self.report else _LINE_INTERVAL
            if self._stream is not None or not self._works or now - self._last_line < interval:
                return
            if not (text := texts_of(self._works, self.subject)[0]):
                return
            self._last_line = now
            if self.report:
                self.report("progress", (text, self.share() or 0.0))
            else:
                self.say(f"{text} after {now - self._works[0].began:.0f} s")

    def share(self) -> float | None:
        """The share of the whole that is done, from 0 to 1; None if unknown."""
        return self._progress.share(self._works)


_display = _Display()
_told: set[str] = set()
"""The messages of `notice_once`."""
_once: list[tuple[str, ...]] = []
"""The words of the lines that are written once, of each block; see `without_repeats`."""
_told_once: set[str] = set()


def set_level(level: int) -> None:
    """Set how much is written: `QUIET`, `NORMAL` or `VERBOSE`."""
    _display.level = level


def set_prefix(name: str) -> None:
    """Begin every line with the name of this process, one of several."""
    _display.speaker = name


def silence() -> None:
    """Write nothing more to stderr, in all but one of several processes that do the same."""
    _display.report = lambda _kind, _content: None
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end


def report_to(report: Callable[[str, Any], None]) -> None:
    """Send notices and progress to another process, which calls `take_report` with them."""
    _display.report = report


def at_each_step(check: Callable[[], None]) -> None:
    """Call a function whenever progress is made; it may raise an error to end the work."""
    _display.check = check


take_report = _display.take_report
write = _display.write
tell = _display.tell


def end_with(message: str) -> None:
    """Write a last line to the terminal, even while another thread holds the display."""
    if _display._painted:
        message = f"\r\x1b[K{message}"
    with suppress(OSError, ValueError):
        os.write(2, f"{message}\n".encode())


@contextmanager
def with_subject(subject: str) -> Iterator[None]:
    """Put a subject before every line of progress: "fold 2 of 5, member 1 of 3".

    It follows the subject of the work around it.
    """
    before = _display.subject
    _display.subject = ": ".join(filter(None, [before, subject]))
    try:
        yield
    finally:
        _display.subject = before


def say(text: str = "") -> None:
    """Print a result for people to stdout; see `errors.for_display`."""
    print(for_display(text), flush=True)


def say_text(text: str = "") -> None:
    """Print sentences to stdout, wrapped between words on a terminal."""
    say(wrapped(text, terminal_width(sys.stdout)))


def notice(message: str) -> None:
    """Write a line to the user."""
    if any(part in message for parts in _once for part in parts):
        if message in _told_once:
            return
        _told_once.add(message)
    called = message.startswith(f"{_display.subject}: ")
    names = (_display.speaker, "" if called else _display.subject)
    _display.say(": ".join(part for part in (*names, message) if part))


@contextmanager
def without_repeats(*of: str) -> Iterator[None]:
    """Write each line of a block once, whatever its subject; `of` limits this to lines with it."""
    if not _once:
        _told_once.clear()
    _once.append(of or ("",))
    try:
        yield
    finally:
        _once.pop()


def notice_once(message: str) -> None:
    """Write a line once, for instance about a file that is read several times."""
    if message not in _told:
        _told.add(message)
        notice(message)


def detail(message: str) -> None:
    """Write a line that is shown where details are asked for."""
    if _display.level == VERBOSE:
        notice(message)


@contextmanager
def quiet() -> Iterator[None]:
    """Write warnings only."""
    before, _display.level = _display.level, QUIET
    try:
        yield
    finally:
        _display.level = before


def sections(total: float, start: float = 0) -> AbstractContextManager[Advance]:
    """Divide work into sections, or some steps; yields a function that takes steps.

    `total` is the size of all sections together, in any unit, `start` how much is done already.
    """
    return _display.showing(Work(total=total, progress=start))


@contextmanager
def section(share: float = 1, title: str = "") -> Iterator[None]:
    """Show a section of the work around it, worth `share` of its total.

    The progress within tells how far it is. Without a title its label is shown.
    """
    around = innermost(_display._works)
    if around is not None:
        around.step, around.within = share, 0
    with _display.showing(Work(title, total=1, section=True)):
        yield
    if around is not None:
        around.step = 1
        _display.advance(around, share)


def steps(
    noun: str, total: int | None, start: int = 0, *, counts: bool = True, part: float = 1
) -> AbstractContextManager[Advance]:
    """Show work as steps of a kind: "epoch 4 of 12"; yields a function that takes finished steps.

    Steps without a noun only move the bar, which `counts` may hold still. For `part` see
    `progress`.
    """
    return _display.showing(Work("", noun, total=total, progress=start, part=part, counts=counts))


@contextmanager
def progress(
    label: str,
    total: int | None = None,
    unit: str = "",
    *,
    part: float = _USUAL,
    once: bool = False,
) -> Iterator[Advance]:
    """Show how far a piece of work is; yields a function that takes the steps just done.

    `unit` is what is counted: "topics". `part` is its part of what the work around it has left of
    its step; `once` marks work for all that follows, which takes that part of all that is left.
    """
    work = Work(label, unit=unit, total=total, part=part, once=once)
    with _display.showing(work) as advance:
        yield advance
    _display.check()


def place(noun: str, number: int, total: int) -> AbstractContextManager[object]:
    """Show which piece of several is underway, from 0: "reranker 2 of 3"; nothing for one."""
    if total < 2:
        return nullcontext()
    return _display.showing(Work("", noun, total=total, progress=number, counts=False, spare=True))


def waiting(label: str) -> AbstractContextManager[object]:
    """Show work that cannot be measured: "loading torch"."""
    counts = not _display._works
    return _display.showing(Work(label, section=True, counts=counts, patience=_PATIENCE))


def terminal_width(stream: TextIO | None) -> int | None:
    """Return the columns of a terminal; None for other streams and dumb terminals."""
    with suppress(OSError, ValueError, AttributeError):
        if stream is not None and stream.isatty():
            dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
            return None if dumb else os.get_terminal_size(stream.fileno()).columns or None
    return None


def wrapped(text: str, width: int | None) -> str:
    """Break a text between words for a terminal of some width; None changes nothing."""
    from textwrap import fill

    if not width or len(text) <= width:
        return text
    lines = text.split("\n")
    return "\n".join(fill(t, width, break_long_words=False, break_on_hyphens=False) for t in lines)
