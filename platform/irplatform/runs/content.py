"""The content of a run file as its checks need it, read as columns or line by line.

A file is read as columns. If a line of it is no sound result, or the results of a topic are not
together, it is read again line by line (`scan`), which names lines.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from irplatform import data as ids
from irplatform.errors import InputError
from irplatform.runs.packed import refuse_repeated
from irplatform.runs.parts import parts, strict_table
from irplatform.runs.run import in_32_bits
from irplatform.runs.trec import Problem, scan
from irplatform.system.columns import changes, texts_of
from irplatform.system.reading import blocks_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.runs.parts import Part
    from irplatform.system.columns import Cells, Table

_RANK = re.compile(r"-?[0-9]{1,18}")
_Ranked = tuple[int, float, str, int]
"""Rank, score, document, line."""
_Fault = tuple[int, int, str]
"""Line, column, fault."""


@dataclass
class Content:
    """The content of a run file.

    Attributes:
        unsound: lines that are no results.
        tags: the first line of each run tag.
        counts: number of results per topic.
        documents: the first line of each document, if asked for.
        faults: the lines with each fault of an id, a second column or a rank.
        rank_problems: at most one per topic.
    """

    unsound: list[Problem] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    documents: dict[str, int] = field(default_factory=dict)
    faults: dict[str, list[int]] = field(default_factory=dict)
    rank_problems: list[Problem] = field(default_factory=list)


def read_content(path: Path, *, documents: bool = False) -> Content:
    """Read a run file for its checks.

    Args:
        path: the file.
        documents: keep all document ids.

    Raises:
        InputError: the file cannot be opened.
    """
    try:
        content = _of_columns(path, documents)
    except (InputError, ValueError):
        content = None
    return _by_line(path) if content is None else content


def _by_line(path: Path) -> Content:
    content = Content()
    ranked: dict[str, list[_Ranked]] = {}
    for entry in scan(path):
        if isinstance(entry, Problem):
            content.unsound.append(entry)
            continue
        content.tags.setdefault(entry.tag, entry.line)
        content.counts[entry.topic] += 1
        content.documents.setdefault(entry.document, entry.line)
        results = ranked.setdefault(entry.topic, [])
        faults = [_id_fault("topic", entry.topic), _id_fault("document", entry.document)]
        faults.append("" if entry.second == "Q0" else _second_fault(entry.second))
        if _RANK.fullmatch(entry.rank):
            results.append((int(entry.rank), entry.score, entry.document, entry.line))
        else:
            faults.append("the rank is not a whole number")
        for fault in filter(None, faults):
            content.faults.setdefault(fault, []).append(entry.line)
    for topic, results in ranked.items():
        ordered = sorted(results, key=lambda result: result[0])
        found = (_rank_problem(topic, *pair) for pair in pairwise(ordered))
        if problem := next(filter(None, found), None):
            content.rank_problems.append(problem)
    return content


def _of_columns(path: Path, documents: bool) -> Content | None:
    """Read a file of sound lines, topic after topic; None for another file."""
    content = Content()
    faults: list[_Fault] = []
    lines = 0
    for part in parts(_tables(path, content, faults), _results):
        topics = texts_of(np.array(part.topics))
        if len(set(topics)) < len(topics) or not content.counts.keys().isdisjoint(topics):
            return None
        content.counts.update(dict(zip(topics, np.diff(part.bounds).tolist(), strict=True)))
        cells, _, ranks = part.columns
        numbers = np.repeat(np.arange(len(topics)), np.diff(part.bounds))
        refuse_repeated(part.bounds, numbers, cells)
        content.rank_problems += _rank_problems(topics, numbers, part, lines)
        if documents:
            for line, document in enumerate(texts_of(cells), start=lines + 1):
                content.documents.setdefault(document, line)
        lines += len(ranks)
    for line, _, fault in sorted(faults):
        content.faults.setdefault(fault, []).append(line)
    return content


def _results(table: Table) -> tuple[Cells, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    ranks = table.whole_numbers(3)
    scores = table.numbers(4)
    if ranks is None or not np.isfinite(in_32_bits(scores)).all():
        raise ValueError("a rank or score that is not one")
    return table.column(2), scores, ranks


def _tables(path: Path, content: Content, faults: list[_Fault]) -> Iterator[Table]:
    """Yield blocks of sound lines; note their tags, and the faults of their ids."""
    lines = 1
    for block in blocks_of_lines(path):
        table = strict_table(block)
        if table is None:
            raise ValueError("a line without six columns")
        if not table.is_plain:
            block.decode()
        for line in changes(table.column(5)).tolist():
            content.tags.setdefault(table.cell(line, 5).decode(), line + lines)
        faults += _faults(table, lines)
        yield table
        lines += len(table)


def _faults(table: Table, first: int) -> Iterator[_Fault]:
    """Yield faults of ids and second columns, without order; the first line has this number."""
    for start, end in pairwise([*changes(table.column(1)).tolist(), len(table)]):
        if (second := table.cell(start, 1)) != b"Q0":
            fault = _second_fault(second.decode())
            yield from ((line + first, 2, fault) for line in range(start, end))
    for what, column in (("topic", 0), ("document", 2)):
        cells = table.column(column)
        if table.is_plain and cells.dtype != object:
            continue  # no such id can have a fault
        for line, name in enumerate(texts_of(cells), start=first):
            if fault := _id_fault(what, name):
                yield line, column // 2, fault


def _id_fault(what: str, name: str) -> str:
    fault = ids.fault(name)
    return f"the id of a {what} {fault}" if fault else ""


def _second_fault(second: str) -> str:
    return f"the second column is '{second}', not 'Q0'"


def _rank_problems(
    topics: list[str], numbers: npt.NDArray[np.intp], part: Part, lines: int
) -> Iterator[Problem]:
    """Yield the first problem of each topic of a part, which begins after some lines."""
    cells, scores, ranks = part.columns
    order = np.arange(len(ranks))
    within = numbers[1:] == numbers[:-1]
    if (within & (ranks[1:] < ranks[:-1])).any():
        order = np.lexsort((ranks, numbers))
        cells, scores, ranks = cells[order], scores[order], ranks[order]
    short = scores.astype(np.float32)
    close = np.flatnonzero(within & (short[1:] == short[:-1]))
    suspect = (ranks[1:] == ranks[:-1]) | (scores[1:] > scores[:-1])
    suspect[close[cells[close + 1] > cells[close]]] = True
    places = np.flatnonzero(suspect & within)
    for place in places[np.unique(numbers[places], return_index=True)[1]].tolist():
        pair = [
            (int(ranks[at]), float(scores[at]), cells[at].decode(), lines + 1 + int(order[at]))
            for at in (place, place + 1)
        ]
        if problem := _rank_problem(topics[numbers[place]], pair[0], pair[1]):
            yield problem


def _rank_problem(topic: str, first: _Ranked, second: _Ranked) -> Problem | None:
    """The problem of two results with neighbouring ranks that are not an order, or another one."""
    (upper, score, document, _), (lower, other_score, other, line) = first, second
    if lower == upper:
        fault = f"rank {lower} comes twice"
    elif other_score > score:
        fault = f"rank {lower} has a higher score than rank {upper}"
    elif other > document and other_score == score:
        fault = (
            f"ranks {upper} and {lower} have the same score, and of such documents the one "
            "whose id comes last is scored first"
        )
    elif other > document and np.float32(other_score) == np.float32(score):
        fault = (
            f"ranks {upper} and {lower} have the same score in 32 bits. trec_eval 10 keeps "
            "their order; older releases read 32 bits, and reverse it"
        )
    else:
        return None
    message = f"topic '{topic}': {fault}. trec_eval ignores ranks and orders by score."
    return Problem("warning", message, line)
