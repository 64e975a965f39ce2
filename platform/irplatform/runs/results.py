"""Results as files and programs give them, and whether their numbers are scores or ranks."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from irplatform.errors import InputError, quoted
from irplatform.runs.run import id_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Order = Literal["scores", "ranks"]
_FEWEST = 4
"""Pairs of numbers that rise, where this is no accident."""


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


def number(value: Any) -> float | None:
    """Return a number, or one that is written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        return float(value if not isinstance(value, str) or "_" not in value else "")
    except (ValueError, OverflowError):
        return None


def in_order(
    found: Sequence[Found], order: Order | None, remedy: str, path: Path | None = None
) -> Sequence[Found]:
    """Return results whose numbers are scores, or ranks, by `order`.

    Scores that count 1, 2, 3, … in each topic may be ranks; those that rise, distances.

    Raises:
        InputError: `order` does not say what holds; the message ends in the remedy.
    """
    held: dict[Any, list[float]] = {}
    for each in found:
        value = s if type(s := each.score) is float else number(s)
        if value is None or each.rank is not None:
            return found
        held.setdefault(each.topic, []).append(value)
    topics = [numbers for numbers in held.values() if len(numbers) > 1]
    steps = [other - one for each in topics for one, other in pairwise(each)]
    if not steps or max(steps) < 0:
        return found
    rises = min(steps) >= 0
    counts = (rises or not all(each.named for each in found)) and any(
        all(sorted(each) == [*range(start, start + len(each))] for each in topics)
        for start in (0, 1)
    )
    if counts and order == "ranks":
        return [each._replace(rank=each.score, score=None) for each in found]
    if order is None and (counts or (rises and sum(step > 0 for step in steps) >= _FEWEST)):
        how = "count 1, 2, 3, …" if counts else "rise"
        some = ", ".join(str(each.score) for each in found[:3])
        raise InputError(
            f"the numbers of each topic {how} ({some}, …): they may be ranks, or distances. "
            f"{remedy}",
            path=path,
        )
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
            twice; or a topic comes as text and as a number.
    """
    found = [*found]
    by_rank = all(each.score is None for each in found) and any(each.rank for each in found)
    topics: dict[str, dict[str, float]] = {}
    given: dict[str, Any] = {}
    for line, topic_id, doc_id, rank, score, *_ in found:
        try:
            topic = id_text(topic_id, "a topic")
            document = id_text(doc_id, "a document")
            if topic_id != given.setdefault(topic, topic_id):
                raise InputError(f"topic {topic} comes as text and as a number. Write ids as text.")
            if document in (scores := topics.setdefault(topic, {})):
                raise InputError(f"document '{document}' comes twice for topic '{topic}'.")
            said = rank if by_rank else score
            value = _finite(number(said) if path and isinstance(said, str) else said)
            if value is None:
                what = f"the {'rank' if by_rank else noun} of '{document}' for '{topic}'"
                raise InputError(f"{what} is {quoted(said)}; it must be a number.")
            scores[document] = -value if by_rank else value
        except InputError as error:
            raise InputError(error.message, path=path, line=line) from error
    return topics


def _finite(value: Any) -> float | None:
    """A finite number; None for anything else, also for texts."""
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, str | bytes) and math.isfinite(found := float(value)):
            return found
    return None
