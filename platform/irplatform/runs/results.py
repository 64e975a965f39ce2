"""Results as files and programs give them, and whether their numbers are scores or ranks.

Numbers that count, or rise from result to result, in every topic may be ranks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from irplatform.errors import InputError, quoted
from irplatform.runs.run import id_text

if TYPE_CHECKING:
    from pathlib import Path

Cells = Sequence[str]
Order = Literal["scores", "ranks"]
WHOLE = re.compile(r"-?\d{1,18}(?:\.0*)?")
_FEWEST = 4
"""Rising pairs of numbers with decimals that are no accident."""


def number(text: str) -> float | None:
    """Return a number, also infinite or nan; None for anything else."""
    try:
        return float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        return None


def is_number(text: str) -> bool:
    """Return whether a text is a number, also with a decimal comma."""
    return number(text.replace(",", ".", 1)) is not None


def counts(topics: Cells, cells: Cells) -> bool:
    """Return whether a column counts from 0 or 1 in each topic, and some topic has two lines."""
    latest: dict[str, int] = {}
    first = None
    for topic, cell in zip(topics, cells, strict=True):
        if not WHOLE.fullmatch(cell):
            return False
        value = int(cell.partition(".")[0])
        first = value if first is None else first
        if first not in (0, 1) or value != latest.get(topic, first - 1) + 1:
            return False
        latest[topic] = value
    return len(latest) < len(cells)


def permutes(topics: Cells, cells: Cells) -> bool:
    """Return whether a column counts in each topic, in any order of the lines."""
    if not all(map(WHOLE.fullmatch, cells)):
        return False
    pairs = sorted(zip(topics, cells, strict=True), key=lambda pair: number(pair[1]) or 0.0)
    return bool(pairs) and counts(*zip(*pairs, strict=True))


def rises(topics: Cells, scores: Cells, fewest: int = 1) -> str:
    """Return what shows that numbers rise, and never fall, in the lines of each topic, or "".

    `fewest` pairs of whole numbers that rise are no accident.
    """
    latest: dict[str, float] = {}
    pairs, whole = 0, True
    for topic, cell in zip(topics, scores, strict=True):
        value = number(cell.replace(",", "."))
        if value is None or value < latest.get(topic, value):
            return ""
        pairs += value > latest.get(topic, value)
        whole = whole and WHOLE.fullmatch(cell) is not None
        latest[topic] = value
    if pairs >= (fewest if whole else _FEWEST):
        return f"the scores rise from line to line in each topic ({', '.join(scores[:3])}, …)"
    return ""


class Found(NamedTuple):
    """A result as it was given.

    `line` is None where one value is the whole file. A score is `named` if it was called so.
    """

    line: int | None
    topic: Any
    document: Any
    rank: Any = None
    score: Any = None
    tag: Any = None
    named: bool = True


def in_order(
    found: Sequence[Found], order: Order | None, remedy: str, path: Path | None = None
) -> Sequence[Found]:
    """Return results whose numbers are scores, or ranks, by `order`.

    Raises:
        InputError: the scores may be ranks or distances, and `order` does not say what holds; the
            message ends in the remedy.
    """
    if any(each.rank is not None or number(str(each.score)) is None for each in found):
        return found
    topics, scores = [str(each.topic) for each in found], [str(each.score) for each in found]
    falls = all(
        one.topic != other.topic or float(one.score) > float(other.score)
        for one, other in pairwise(found)
    )
    unnamed = not all(each.named for each in found)
    doubt = rises(topics, scores, _FEWEST)
    if counts(topics, scores) or (unnamed and not falls and permutes(topics, scores)):
        if order == "ranks":
            return [each._replace(rank=each.score, score=None) for each in found]
        doubt = f"the numbers of each topic count 1, 2, 3, … ({', '.join(scores[:3])}, …)"
    if doubt and order is None:
        raise InputError(f"{doubt}: they may be ranks, or distances. {remedy}", path=path)
    return found


def by_topic(
    found: Iterable[Found], noun: str = "score", path: Path | None = None
) -> dict[str, dict[str, float]]:
    """Return topic to document to number, with ids as texts; ranks alone become falling numbers.

    Args:
        found: the results, or judgments.
        noun: what the numbers are called.
        path: the file.

    Raises:
        InputError: an id is neither text nor a whole number; a number is none; a document comes
            twice; or an id comes as text and as a number.
    """
    found = [*found]
    by_rank = all(each.score is None for each in found) and any(each.rank for each in found)
    topics: dict[str, dict[str, float]] = {}
    given: dict[str, Any] = {}
    for each in found:
        try:
            topic = id_text(each.topic, "a topic")
            document = id_text(each.document, f"a document of topic '{topic}'")
            if each.topic != given.setdefault(topic, each.topic):
                raise InputError(f"topic {topic} comes as text and as a number. Write ids as text.")
            if document in topics.setdefault(topic, {}):
                raise InputError(f"document '{document}' comes twice for topic '{topic}'.")
            value = each.rank if by_rank else each.score
            what = f"the {'rank' if by_rank else noun} of '{document}' for '{topic}'"
            topics[topic][document] = -finite(value, what) if by_rank else finite(value, what)
        except InputError as error:
            raise InputError(error.message, path=path, line=each.line) from error
    return topics


def finite(value: Any, what: str) -> float:
    """Return a number; InputError if a value is none, or not finite."""
    found = math.nan
    with suppress(TypeError, ValueError, OverflowError):
        found = math.nan if isinstance(value, str | bytes) else float(value)
    if not math.isfinite(found):
        raise InputError(f"{what} is {quoted(value)}; it must be a number.")
    return found
