"""What the columns of a table without a header hold, as far as that can be told.

Topic, document, rank, score and run name come in this order, with TREC's `Q0` after the topic or
without, and some may be missing. A column that counts 1, 2, 3, … (or 0, 1, 2, …) in each topic is a
rank, wherever it stands; one that counts over the whole file, before topics that come more than
once, is an index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Cells = Sequence[str]
SECOND = re.compile(r"[Qq]0|[01]")
_WHOLE = re.compile(r"-?\d{1,18}(?:\.0*)?")
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
        if not _WHOLE.fullmatch(cell):
            return False
        value = int(cell.partition(".")[0])
        first = value if first is None else first
        if first not in (0, 1) or value != latest.get(topic, first - 1) + 1:
            return False
        latest[topic] = value
    return len(latest) < len(cells)


def _permutes(topics: Cells, cells: Cells) -> bool:
    """Return whether a column counts in each topic, in any order of the lines."""
    pairs = sorted(zip(topics, cells, strict=True), key=lambda pair: number(pair[1]) or 0.0)
    return counts(*zip(*pairs, strict=True))


def rises(topics: Cells, scores: Cells) -> str:
    """Return what shows that numbers rise, and never fall, in the lines of each topic, or ""."""
    latest: dict[str, float] = {}
    pairs, are_whole = 0, True
    for topic, cell in zip(topics, scores, strict=True):
        value = number(cell.replace(",", "."))
        if value is None or value < latest.get(topic, value):
            return ""
        pairs += value > latest.get(topic, value)
        are_whole = are_whole and _WHOLE.fullmatch(cell) is not None
        latest[topic] = value
    if pairs >= (1 if are_whole else _FEWEST):
        return f"the scores rise from line to line in each topic ({', '.join(scores[:3])}, …)"
    return ""


def choose_numbers(topics: Cells, first: Cells, second: Cells) -> tuple[int, int] | None:
    """Return which of two columns of numbers has the ranks and which the scores: (0, 1) or (1, 0).

    None if neither has ranks, or both may have them.
    """
    if counts(topics, second) and not counts(topics, first):
        return None if _permutes(topics, first) else (1, 0)
    if not any(map(_WHOLE.fullmatch, first)) and all(map(is_number, first)):
        return (1, 0) if all(map(_WHOLE.fullmatch, second)) else None
    return (0, 1)


def placed(lines: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the place of each column of lines with equally many cells.

    Raises:
        ValueError: it cannot be told what the columns hold; the message says which.
    """
    columns = [*zip(*lines, strict=True)]
    start = int(_has_index(columns))
    if len(columns) < start + 2:
        raise ValueError("lines have one column")
    at = {"topic": start}
    rest = [*range(start + 1, len(columns))]
    second = {*columns[rest[0]]}
    is_second = len(second) == 1 < len(lines) or not all(map(str.isdecimal, second))
    least = 2 if second.isdisjoint({"Q0", "q0"}) else 1
    if len(rest) > least and is_second and all(map(SECOND.fullmatch, second)):
        at["second"] = rest.pop(0)
    if len(rest) > 1 and _is_rank(columns, start, *rest[:2]):
        at["rank"] = rest.pop(0)
    at["document"] = rest.pop(0)
    if {*columns[at["document"]]} <= {"Q0", "q0"}:
        raise ValueError(f"column {at['document'] + 1} is Q0, after two others")
    return _after_the_document(columns, at, rest)


def _is_rank(columns: Sequence[Cells], topic: int, place: int, following: int) -> bool:
    """Return whether the first column after topics has ranks, and the second one documents."""
    topics, cells, others = columns[topic], columns[place], columns[following]
    once = len({*topics}) == len(topics) and {*cells} <= {"0", "1"}
    numeric = all(map(is_number, others))
    decimals = numeric and not all(map(_WHOLE.fullmatch, others))
    if not once and (not _permutes(topics, cells) or _permutes(topics, others) or decimals):
        return False
    if once or not counts(topics, cells) or (numeric and len(columns) == following + 1):
        raise ValueError(f"columns {place + 1} and {following + 1} may be ranks or documents")
    return True


def _after_the_document(
    columns: Sequence[Cells], at: dict[str, int], rest: Sequence[int]
) -> dict[str, int]:
    """Add the places of rank, score and run name among those after the document."""
    topics = columns[at["topic"]]
    once = len({*topics}) == len(topics)
    numbers = [place for place in rest if 2 * sum(map(is_number, columns[place])) > len(topics)]
    names = [place for place in rest if place not in numbers]
    is_constant = bool(numbers) and len({*columns[numbers[-1]]}) == 1
    several = not once or (numbers[1:] and (len(topics) > 1 or "second" in at))
    if is_constant and several and not names:
        names.append(numbers.pop())  # a run's name that is a number
    if names not in ([], [*rest[-1:]]) or len(numbers) + ("rank" in at) > 2:
        raise ValueError(f"{len(columns)} columns are too many to tell what each holds")
    if names:
        at["tag"] = names[0]
        many = 2 * len({*columns[names[0]]}) > len(topics)
        if many and (len(topics) > 2 or not numbers):
            raise ValueError(f"columns {at['document'] + 1} and {names[0] + 1} may be documents")
    if len(numbers) == 2:
        order = choose_numbers(topics, columns[numbers[0]], columns[numbers[1]])
        ranks = columns[numbers[order[0] if order else 0]]
        sure = "second" in at or {*ranks} in ({"0"}, {"1"}) or _permutes(topics, ranks)
        if order is None or not sure:
            pair = f"columns {numbers[0] + 1} and {numbers[1] + 1}"
            raise ValueError(f"{pair} may be ranks or scores")
        at["rank"], at["score"] = (numbers[place] for place in order)
    elif numbers:
        is_rank = "rank" not in at and counts(topics, columns[numbers[0]])
        if not is_rank and "rank" not in at and _permutes(topics, columns[numbers[0]]):
            raise ValueError(f"column {numbers[0] + 1} may be ranks or scores")
        at["rank" if is_rank else "score"] = numbers[0]
    return at


def _has_index(columns: Sequence[Cells]) -> bool:
    """Return whether the first column numbers the lines, and the second has the topics.

    Raises:
        ValueError: the first column may also be topics with a result each.
    """
    if len(columns) < 3:
        return False
    first, topics, following = columns[:3]
    together = sum(one != other for one, other in pairwise(topics)) < len({*topics})
    if not counts([""] * len(first), first) and not (together and counts(topics, first)):
        return False
    if all(map(SECOND.fullmatch, following)) and len(columns) > 3 + following[0].isdecimal():
        return True
    if all(map(SECOND.fullmatch, topics)) and len(set(topics)) == 1:  # a topic 1, or Q0
        if not topics[0].isdecimal() or (len(columns) > 4 and {*columns[3]} in ({"0"}, {"1"})):
            return False
        sure = len(columns) > 3 and counts(topics, columns[3])
    else:
        once = len(set(topics)) == len(topics)
        pairs = set(zip(topics, following, strict=True))
        decimals = all(map(is_number, following)) and not all(map(_WHOLE.fullmatch, following))
        if once or decimals or len(pairs) < len(first):
            return False
        sure = any(all(map(is_number, column)) for column in columns[3:])
    if not sure:
        raise ValueError("column 1 may number lines or topics")
    return True
