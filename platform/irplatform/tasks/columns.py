"""What the columns of a table without a header hold, as far as that can be told.

Topic, document, rank, score and run name come in this order, with TREC's `Q0` after the topic or
without, and some may be missing. A column that counts 1, 2, 3, … (or 0, 1, 2, …) in each topic is a
rank, wherever it stands; one that counts over the whole file, before topics that come more than
once, is an index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Cells = Sequence[str]
SECOND = re.compile(r"[Qq]?[01]")
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


def rises(topics: Cells, scores: Cells) -> str:
    """Return what shows that numbers rise from line to line in each topic, or ""."""
    latest: dict[str, float] = {}
    pairs, whole = 0, True
    for topic, cell in zip(topics, scores, strict=True):
        value = number(cell.replace(",", "."))
        if value is None or not value > latest.get(topic, float("-inf")):
            return ""
        pairs += topic in latest
        whole = whole and _WHOLE.fullmatch(cell) is not None
        latest[topic] = value
    if pairs >= (1 if whole else _FEWEST):
        return f"the scores rise from line to line in each topic ({', '.join(scores[:3])}, …)"
    return ""


def choose_numbers(topics: Cells, first: Cells, second: Cells) -> tuple[int, int] | None:
    """Return which of two columns of numbers has the ranks and which the scores: (0, 1) or (1, 0).

    None if neither has ranks.
    """
    if counts(topics, second):
        return (0, 1) if counts(topics, first) else (1, 0)
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
    topics, at = columns[start], {"topic": start}
    rest = [*range(start + 1, len(columns))]
    second = {*columns[rest[0]]}
    is_second = len(second) == 1 or not all(map(str.isdecimal, second))
    if len(rest) > 2 and is_second and all(map(SECOND.fullmatch, second)):
        at["second"] = rest.pop(0)
    if len(rest) > 1 and counts(topics, columns[rest[0]]) and not counts(topics, columns[rest[1]]):
        if len(rest) == 2 and all(map(is_number, columns[rest[1]])):
            raise ValueError(f"columns {rest[0] + 1} and {rest[1] + 1} may be ranks or documents")
        at["rank"] = rest.pop(0)
    at["document"] = rest.pop(0)
    numbers = [place for place in rest if 2 * sum(map(is_number, columns[place])) > len(lines)]
    names = [place for place in rest if place not in numbers]
    if not names and len(numbers) > 1 and len(set(columns[numbers[-1]])) == 1 < len(lines):
        names.append(numbers.pop())  # a run's name that is a number
    if len(names) > 1 or len(numbers) + ("rank" in at) > 2:
        raise ValueError(f"{len(columns)} columns are too many to tell what each holds")
    if names:
        at["tag"] = names[0]
        if len(lines) > 2 and 2 * len(set(columns[names[0]])) > len(lines):
            raise ValueError(f"columns {at['document'] + 1} and {names[0] + 1} may be documents")
    if len(numbers) == 2:
        order = choose_numbers(topics, columns[numbers[0]], columns[numbers[1]])
        once = len({*topics}) == len(lines) and {*columns[numbers[0]]} - {"0", "1"}
        if order is None or (once and "second" not in at):
            raise ValueError(
                f"columns {numbers[0] + 1} and {numbers[1] + 1} may be ranks or scores"
            )
        at["rank"], at["score"] = (numbers[place] for place in order)
    elif numbers:
        is_rank = "rank" not in at and counts(topics, columns[numbers[0]])
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
    if not counts([""] * len(first), first) and not counts(topics, first):
        return False
    if all(map(SECOND.fullmatch, following)) and len(columns) > 4:
        return True
    if all(map(SECOND.fullmatch, topics)) and len(set(topics)) == 1:  # a topic 1, or Q0
        if not topics[0].isdecimal() or len(columns) < 4 or len(set(columns[3])) == 1:
            return False
        sure = counts(topics, columns[3])
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
