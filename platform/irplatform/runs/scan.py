"""The lines of a TREC run file, one by one: results, and what makes a line unreadable.

`trec` reads runs in blocks, much faster, and comes here when something is wrong with one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from irplatform.errors import counted
from irplatform.text_files import BARE_RETURN, NUL_BYTE, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLUMNS = "Every line needs: topic Q0 docid rank score tag."
_JSON = f"this is JSON, and no run. {COLUMNS} For answers to BioASQ, name the run behind them."
_JSON_BEGINS = (b"{", b"[")
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Problem:
    """Something wrong with a run file.

    Attributes:
        level: "error" makes the file unreadable or TREC refuse it; a "warning" does not.
        message: what is wrong and what to do.
        line: the line at fault, counted from 1; None where it is the whole file.
        lines: all of them, where the same is wrong with several.
    """

    level: Literal["error", "warning"]
    message: str
    line: int | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A sound line of a run."""

    line: int
    topic: str
    second: str
    document: str
    rank: str
    score: float
    tag: str


def scan(path: Path, *, strict: bool = True) -> Iterator[Result | Problem]:
    """Yield every line of a run file that is not blank: its result, or why it has none.

    Of a file that holds JSON, only the first line is yielded.

    Args:
        path: the file.
        strict: as TREC's check scripts read runs; otherwise as trec_eval 10 does, which passes over
            lines that begin with `#` and over text after the run tag, and reads 64 bits.

    Raises:
        InputError: the file cannot be opened, or its lines end in a carriage return alone.
    """
    seen: dict[str, dict[str, int]] = {}
    for number, raw in numbered_lines(path):
        if b"\0" in raw:
            yield Problem("error", f"this line has a {NUL_BYTE}", number)
            continue
        columns = raw.split()
        if b"\r" in raw.rstrip() and len(columns) != 6:
            yield Problem("error", f"this line has {BARE_RETURN}", number)
            continue
        if columns[0].startswith(b"#"):
            if strict:
                yield Problem(
                    "error",
                    "this line begins with '#': trec_eval 10 passes over it as a comment, but "
                    "TREC's check scripts refuse it. Remove it.",
                    number,
                )
            continue
        if not strict:
            columns = columns[:6]
        if len(columns) != 6 and not seen and raw.lstrip().startswith(_JSON_BEGINS):
            yield Problem("error", _JSON, number)
            return
        if len(columns) != 6:
            yield Problem("error", f"{counted(len(columns), 'column')}. {COLUMNS}", number)
            continue
        try:
            topic, second, document, rank, score_text, tag = (c.decode() for c in columns)
        except UnicodeDecodeError:
            yield Problem("error", "this line is not UTF-8. Convert the file.", number)
            continue
        if fault := _score_fault(score_text, strict):
            yield Problem("error", f"the score '{score_text}' {fault}. {COLUMNS}", number)
            continue
        if (first := seen.setdefault(topic, {}).setdefault(document, number)) != number:
            yield Problem(
                "error",
                f"topic '{topic}' has document '{document}' a second time; the first is in line "
                f"{first}. Keep one of the two.",
                number,
            )
            continue
        yield Result(number, topic, second, document, rank, float(score_text), tag)


def run_errors(path: Path) -> Iterator[Problem]:
    """Find every line that keeps a run file from being read, in the order of the file.

    Raises:
        InputError: see `scan`.
    """
    return (entry for entry in scan(path, strict=False) if isinstance(entry, Problem))


def _score_fault(text: str, strict: bool) -> str:
    try:
        score = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        return "is not a number"
    if not math.isfinite(score):
        return "is not a finite number"
    with np.errstate(over="ignore"):
        if strict and not np.isfinite(np.float32(score)):
            return f"is beyond what a 32-bit float holds ({_LARGEST:.3g})"
    return ""
