"""What work took on this machine, kept for forecasts. Nothing of it leaves the machine.

A record is a line of `costs.jsonl` in the cache folder. Work within work that has a record of its
own counts there alone.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import InputError
from irplatform.files.writing import atomic_write, home

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = "costs.jsonl"
_MOST = 1 << 20
"""Bytes of the file beyond which its older half goes."""
_LEAST = 0.001
"""Processor seconds that are worth a record."""


@dataclass(frozen=True)
class Work:
    """Work that a forecast can name.

    Attributes:
        kind: what is done: "index", "train".
        name: the system that does it, or "".
        amount: how much there is to do, in a unit that the kind decides: documents, topics.
        variant: stands for options that change how long it takes.
    """

    kind: str
    name: str = ""
    amount: float = 1
    variant: str = ""


@dataclass(frozen=True)
class Cost:
    """What work took.

    Attributes:
        work: the work.
        processor: processor seconds, of child processes, too.
        seconds: seconds on the clock.
        bytes: what it left on the disk.
        memory: the most memory of the process so far, in bytes.
        needs: the kinds of artifacts that it used.
    """

    work: Work
    processor: float
    seconds: float
    bytes: int = 0
    memory: int = 0
    needs: tuple[str, ...] = ()


@dataclass
class Meter:
    """Measures work until it ends.

    Attributes:
        work: what is measured; the block may say better what it was.
        bytes: what it left on the disk.
        counts: unset it, and nothing is recorded.
        needs: kinds of artifacts that were used.
        within: processor seconds of work within it.
        within_seconds: the same on the clock.
    """

    work: Work
    bytes: int = 0
    counts: bool = True
    needs: dict[str, None] = field(default_factory=dict)
    within: float = 0.0
    within_seconds: float = 0.0


_meters: ContextVar[tuple[Meter, ...]] = ContextVar("meters", default=())


@contextmanager
def measured(work: Work | None) -> Iterator[Meter]:
    """Measure a block, and record what it took if it ends well; None measures nothing."""
    meter, around = Meter(work or Work("")), _meters.get()
    if work is None:
        yield meter
        return
    token = _meters.set((*around, meter))
    processor, began = processor_seconds(), time.monotonic()
    try:
        yield meter
        total = processor_seconds() - processor
        seconds = time.monotonic() - began
        for outer in around[-1:]:
            outer.within += total
            outer.within_seconds += seconds
        share = total - meter.within
        if meter.counts and share >= _LEAST:
            rest = max(seconds - meter.within_seconds, 0.0)
            needs = (*meter.needs,)
            record(Cost(meter.work, share, rest, meter.bytes, most_memory(), needs))
    finally:
        _meters.reset(token)


def note_use(kind: str) -> None:
    """Note that the work that is measured uses an artifact of a kind."""
    for meter in _meters.get():
        meter.needs[kind] = None


def processor_seconds() -> float:
    """The processor seconds of this process and of its children that have ended."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def most_memory() -> int:
    """The most memory that this process has had, in bytes; 0 where that is not known."""
    with suppress(ImportError):  # Windows
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return 0


def record(cost: Cost) -> None:
    """Add a record. One that cannot be written is missing, and nothing else."""
    path = home() / _FILE
    with suppress(OSError, InputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(orjson.dumps(cost, option=orjson.OPT_APPEND_NEWLINE))
            size = file.tell()
        if size > _MOST:
            lines = path.read_bytes().splitlines(keepends=True)
            with atomic_write(path, "wb") as file:
                file.writelines(lines[len(lines) // 2 :])


def costs() -> list[Cost]:
    """Return the records, the oldest first; a damaged line is left out."""
    try:
        lines = (home() / _FILE).read_bytes().splitlines()
    except OSError:
        return []
    return [cost for line in lines if (cost := _cost(line)) is not None]


def _cost(line: bytes) -> Cost | None:
    try:
        content: dict[str, Any] = orjson.loads(line)
        content["needs"] = tuple(content["needs"])
        return Cost(**{**content, "work": Work(**content["work"])})
    except (ValueError, KeyError, TypeError):
        return None
