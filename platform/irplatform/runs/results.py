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


class RawResult(NamedTuple):
    """A result as it was given.

    `line` is None where one value is the whole file. A score `is_named` if it was called so.
    """

    line: int | None
    topic: Any
    document: Any
    rank: Any = None
    score: Any = None
    tag: Any = None
    is_named: bool = True


def number(value: Any) -> float | None:
    """Return a number, or one that is written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        return float(value if not isinstance(value, str) or "_" not in value else "")
    except (ValueError, OverflowError):
        return None


def in_order(
    results: Sequence[RawResult], order: Order | None, remedy: str, path: Path | None = None
) -> Sequence[RawResult]:
    """Return results whose numbers are scores, or ranks, by `order`.

    Scores that count 1, 2, 3, … in each topic may be ranks; those that rise, distances.

    Raises:
        InputError: `order` does not say what holds; the message ends in the remedy.
    """
    scores: dict[Any, list[float]] = {}
    for result in results:
        value = s if type(s := result.score) is float else number(s)
        if value is None or result.rank is not None:
            return results
        scores.setdefault(result.topic, []).append(value)
    topics = [numbers for numbers in scores.values() if len(numbers) > 1]
    steps = [other - one for numbers in topics for one, other in pairwise(numbers)]
    if not steps or max(steps) < 0:
        return results
    rises = min(steps) >= 0
    counts = (rises or not all(result.is_named for result in results)) and any(
        all(sorted(numbers) == [*range(start, start + len(numbers))] for numbers in topics)
        for start in (0, 1)
    )
    if counts and order == "ranks":
        return [result._replace(rank=result.score, score=None) for result in results]
    if order is None and (counts or (rises and sum(step > 0 for step in steps) >= _FEWEST)):
        verb = "count 1, 2, 3, …" if counts else "rise"
        examples = ", ".join(str(result.score) for result in results[:3])
        raise InputError(
            f"the numbers of each topic {verb} ({examples}, …): they may be ranks, or distances. "
            f"{remedy}",
            path=path,
        )
    return results


def by_topic(
    results: Iterable[RawResult], noun: str = "score", path: Path | None = None
) -> dict[str, dict[str, float]]:
    """Return topic to document to number, with ids as texts; ranks alone become falling numbers.

    Args:
        results: the results, or judgments.
        noun: what the numbers are called.
        path: the file.

    Raises:
        InputError: an id is neither text nor a whole number; a number is none; a document comes
            twice; or a topic comes as text and as a number.
    """
    results = [*results]
    by_rank = all(result.score is None for result in results) and any(
        result.rank for result in results
    )
    topics: dict[str, dict[str, float]] = {}
    topic_ids: dict[str, Any] = {}
    for line, topic_id, doc_id, rank, score, *_ in results:
        try:
            topic = id_text(topic_id, "a topic")
            document = id_text(doc_id, "a document")
            if topic_id != topic_ids.setdefault(topic, topic_id):
                raise InputError(f"topic {topic} comes as text and as a number. Write ids as text.")
            if document in (scores := topics.setdefault(topic, {})):
                raise InputError(f"document '{document}' comes twice for topic '{topic}'.")
            cell = rank if by_rank else score
            value = _finite(number(cell) if path and isinstance(cell, str) else cell)
            if value is None:
                subject = f"the {'rank' if by_rank else noun} of '{document}' for '{topic}'"
                raise InputError(f"{subject} is {quoted(cell)}; it must be a number.")
            scores[document] = -value if by_rank else value
        except InputError as error:
            raise InputError(error.message, path=path, line=line) from error
    return topics


def _finite(value: Any) -> float | None:
    """A finite number; None for anything else, also for texts."""
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, str | bytes) and math.isfinite(figure := float(value)):
            return figure
    return None
