"""The content of a run file as its checks need it, read as columns or line by line.

A file is read as columns. If a line of it is no sound result, or the results of a topic are not
together, it is read again line by line (`scan`), which names lines.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from irplatform import data as ids
from irplatform.errors import InputError
from irplatform.files.columns import changes, split, texts_of
from irplatform.files.reading import blank_lines, blocks_of_lines
from irplatform.runs.packed import refuse_repeated
from irplatform.runs.parts import gathered, parts, strict_table
from irplatform.runs.run import in_32_bits
from irplatform.runs.trec import Problem, checked_line, scan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.files.columns import Cells, Floats, Table
    from irplatform.runs.parts import Part

    Integers = npt.NDArray[np.int64]

_RANK = re.compile(r"-?[0-9]{1,18}")
_NOT_PLAIN = re.compile(r"-|0.")
_BLANK = "the line is empty, which NIST's present checker and TIRA refuse"
_RANK_FAULT = "the rank is negative or begins with a zero, which NIST's checker refuses"
Spans = list[list[int]]
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
        faults: the lines with each fault of an id, a second column or a rank, and empty lines.
        rank_problems: at most one per topic.
        strange: the first line of each document whose id is not of the task's form.
        ties: by topic, the ranks by score at which runs of equal scores begin and end.
        rising: the first line of each topic whose score is higher than that of the line before.
        unordered: the first line of each topic whose rank is lower than that of the line before.
        from_zero: the first line of each topic with the rank 0.
        lowest: by topic, its lowest rank and the line of it, where that is not 1.
        gaps: by topic, the first rank that does not follow another one, and its line.
    """

    unsound: list[Problem] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    documents: dict[str, int] = field(default_factory=dict)
    faults: dict[str, list[int]] = field(default_factory=dict)
    rank_problems: list[Problem] = field(default_factory=list)
    strange: dict[str, int] = field(default_factory=dict)
    ties: dict[str, Spans] = field(default_factory=dict)
    rising: dict[str, int] = field(default_factory=dict)
    unordered: dict[str, int] = field(default_factory=dict)
    from_zero: dict[str, int] = field(default_factory=dict)
    lowest: dict[str, tuple[int, int]] = field(default_factory=dict)
    gaps: dict[str, tuple[int, int]] = field(default_factory=dict)


def read_content(
    path: Path, *, documents: bool = False, pattern: re.Pattern[str] | None = None
) -> Content:
    """Read a run file for its checks.

    Args:
        path: the file.
        documents: keep all document ids.
        pattern: the form of the ids of documents.

    Raises:
        InputError: the file cannot be opened.
    """
    try:
        content = _of_columns(path, pattern, documents=documents)
        if content is None:
            content = _of_columns(path, pattern, documents=documents, together=False)
    except (InputError, ValueError):
        content = None
    return _by_line(path, pattern) if content is None else content


def _by_line(path: Path, pattern: re.Pattern[str] | None = None) -> Content:
    content = Content()
    latest: dict[str, float] = {}
    ranked: dict[str, list[_Ranked]] = {}
    faults: list[_Fault] = []
    for entry in scan(path):
        if isinstance(entry, Problem):
            content.unsound.append(entry)
            continue
        content.tags.setdefault(entry.tag, entry.line)
        content.counts[entry.topic] += 1
        content.documents.setdefault(entry.document, entry.line)
        if pattern is not None and not pattern.fullmatch(entry.document):
            content.strange.setdefault(entry.document, entry.line)
        if entry.score > latest.get(entry.topic, math.inf):
            content.rising.setdefault(entry.topic, entry.line)
        latest[entry.topic] = entry.score
        results = ranked.setdefault(entry.topic, [])
        line_faults = [_id_fault("topic", entry.topic), _id_fault("document", entry.document)]
        line_faults.append("" if entry.second == "Q0" else _second_fault(entry.second))
        if _RANK.fullmatch(entry.rank):
            results.append((int(entry.rank), entry.score, entry.document, entry.line))
            line_faults.append(_RANK_FAULT if _NOT_PLAIN.match(entry.rank) else "")
        else:
            line_faults.append("the rank is not a whole number")
        faults += [(entry.line, place, fault) for place, fault in enumerate(line_faults) if fault]
    faults += [(line, 0, _BLANK) for line in blank_lines(path)]
    for line, _, fault in sorted(faults):
        content.faults.setdefault(fault, []).append(line)
    for topic, results in ranked.items():
        _note_ranks(content, topic, results)
    return content


def _note_ranks(content: Content, topic: str, results: list[_Ranked]) -> None:
    """Note what the ranks and scores of a topic show."""
    scores = np.array([score for _, score, *_ in results])
    content.ties.update(_ties([topic], np.zeros(len(results), np.intp), scores))
    ordered = sorted(results, key=lambda result: result[0])
    problems = (_rank_problem(topic, *pair) for pair in pairwise(ordered))
    if problem := next(filter(None, problems), None):
        content.rank_problems.append(problem)
    if ordered and ordered[0][0] != 1:
        content.lowest[topic] = (ordered[0][0], ordered[0][-1])
    steps = (after for before, after in pairwise(ordered) if after[0] != before[0] + 1)
    if gap := next(steps, None):
        content.gaps[topic] = (gap[0], gap[-1])
    for before, (rank, *_, line) in zip([None, *results], results, strict=False):
        if rank == 0:
            content.from_zero.setdefault(topic, line)
        if before is not None and rank < before[0]:
            content.unordered.setdefault(topic, line)


def _of_columns(
    path: Path,
    pattern: re.Pattern[str] | None = None,
    *,
    documents: bool,
    together: bool = True,
) -> Content | None:
    """Read a file as columns.

    Args:
        path: the file.
        pattern: the form of the ids of documents.
        documents: keep all document ids.
        together: the lines about a topic are expected together; None if they are not.

    Raises:
        InputError: see `blocks_of_lines`.
        ValueError: it has to be read line by line.
    """
    reading = _Reading(Content(), documents, pattern)
    content = reading.content
    pieces = parts(reading.tables(path), lambda _: reading.columns)
    for part in pieces if together else [gathered(pieces)]:
        topics = texts_of(np.array(part.topics, dtype=object))
        if len(set(topics)) < len(topics) or not content.counts.keys().isdisjoint(topics):
            return None
        lengths = np.diff(part.bounds)
        content.counts.update(dict(zip(topics, lengths.tolist(), strict=True)))
        numbers = np.repeat(np.arange(len(topics)), lengths)
        refuse_repeated(part.bounds, numbers, part.columns[0])
        content.rank_problems += _rank_problems(topics, numbers, part)
        _, scores, ranks, lines = part.columns
        falls = (scores[1:] > scores[:-1], ranks[1:] < ranks[:-1])
        within = numbers[1:] == numbers[:-1]
        places = [np.flatnonzero(fall & within) + 1 for fall in falls]
        for first_lines, at in zip(
            (content.rising, content.unordered, content.from_zero),
            (*places, np.flatnonzero(ranks == 0)),
            strict=True,
        ):
            for place in at[np.unique(numbers[at], return_index=True)[1]].tolist():
                first_lines[topics[numbers[place]]] = int(lines[place])
        content.ties.update(_ties(topics, numbers, scores))
        if places[1].size:
            order = np.lexsort((ranks, numbers))
            ranks, lines = ranks[order], lines[order]
        _note_steps(content, topics, numbers, ranks, lines)
    for line, _, fault in sorted(reading.faults):
        content.faults.setdefault(fault, []).append(line)
    return content


def _note_steps(
    content: Content,
    topics: list[str],
    numbers: npt.NDArray[np.intp],
    ranks: Integers,
    lines: Integers,
) -> None:
    """Note ranks that do not begin at 1 or leave numbers out, of results ordered by rank."""
    follows = numbers[1:] == numbers[:-1]
    starts = np.flatnonzero(~np.insert(follows, 0, False)) if len(numbers) else follows
    for place in starts[ranks[starts] != 1].tolist():
        content.lowest[topics[numbers[place]]] = (int(ranks[place]), int(lines[place]))
    steps = np.flatnonzero(follows & (ranks[1:] != ranks[:-1] + 1)) + 1
    for place in steps[np.unique(numbers[steps], return_index=True)[1]].tolist():
        content.gaps[topics[numbers[place]]] = (int(ranks[place]), int(lines[place]))


class _Reading:
    """A file that is being read as columns.

    Attributes:
        content: what is known of it so far.
        faults: faults of ids and second columns.
        columns: documents, scores, ranks and line numbers of the latest table.
    """

    def __init__(self, content: Content, documents: bool, pattern: re.Pattern[str] | None) -> None:
        self.content = content
        self.faults: list[_Fault] = []
        self.columns: tuple[Cells, Floats, Integers, Integers]
        self._documents = documents
        self._pattern = pattern
        self._all_match = re.compile(rf"(?:(?:{pattern.pattern})\n)*") if pattern else None

    def tables(self, path: Path) -> Iterator[Table]:
        """Yield the sound lines of each block, and note what is wrong with the others."""
        first = 1
        for block in blocks_of_lines(path):
            count = block.count(b"\n") + (not block.endswith(b"\n"))
            start, first = first, first + count
            lines = np.arange(start, first)
            table = strict_table(block)
            scores = None if table is None else _sound_scores(table)
            if table is None or scores is None:
                rows, lines = self._sound_lines(block, start)
                if not rows:
                    continue
                table = split(rows, 6)
                if table is None:
                    raise ValueError("lines that make no table")
                scores = table.numbers(4)
            ranks = table.whole_numbers(3)
            if ranks is None:
                raise ValueError("a rank that is not one")
            documents = table.column(2)
            self.columns = (documents, scores, ranks, lines)
            self._note(table, lines)
            yield table

    def _sound_lines(self, block: bytes, first: int) -> tuple[bytes, Integers]:
        """Return the lines of a block that are results, and their numbers; note the others."""
        rows: list[bytes] = []
        lines: list[int] = []
        for number, raw in enumerate(block.split(b"\n"), start=first):
            if number == 1 and b"\r" in raw.rstrip():
                raise ValueError("a carriage return in the first line")
            if not raw.strip():
                if raw or number < first + block.count(b"\n"):  # not what follows the last one
                    self.faults.append((number, 0, _BLANK))
                continue
            result = checked_line(raw, number, strict=True)
            if isinstance(result, Problem):
                self.content.unsound.append(result)
            else:
                rows.append(b" ".join(raw.split()) + b"\n")
                lines.append(number)
        return b"".join(rows), np.array(lines, np.int64)

    def _note(self, table: Table, lines: Integers) -> None:
        """Note tags, documents and faults of the lines of a table."""
        for place in changes(table.column(5)).tolist():
            self.content.tags.setdefault(table.cell(place, 5).decode(), int(lines[place]))
        if self._documents or self._all_match is not None:
            documents = texts_of(table.column(2))
            if self._documents:
                for line, document in zip(lines.tolist(), documents, strict=True):
                    self.content.documents.setdefault(document, line)
            if self._pattern and self._all_match:
                joined = "\n".join([*documents, ""])
                if not self._all_match.fullmatch(joined):
                    for line, document in zip(lines.tolist(), documents, strict=True):
                        if not self._pattern.fullmatch(document):
                            self.content.strange.setdefault(document, line)
        self.faults += _faults(table, lines.tolist())


def _sound_scores(table: Table) -> Floats | None:
    """The scores of a table of UTF-8; None if there is something else in it."""
    try:
        if not table.is_plain:
            table.data.decode()
        scores = table.numbers(4)
    except ValueError:
        return None
    return scores if np.isfinite(in_32_bits(scores)).all() else None


def _faults(table: Table, lines: list[int]) -> Iterator[_Fault]:
    """Yield faults of ids and second columns of these lines, without order."""
    for start, end in pairwise([*changes(table.column(1)).tolist(), len(table)]):
        if (second := table.cell(start, 1)) != b"Q0":
            fault = _second_fault(second.decode())
            yield from ((line, 2, fault) for line in lines[start:end])
    yield from ((lines[place], 3, _RANK_FAULT) for place in table.with_zeros(3).tolist())
    for kind, column in (("topic", 0), ("document", 2)):
        cells = table.column(column)
        if table.is_plain and cells.dtype != object:
            continue  # no such id can have a fault
        for line, name in zip(lines, texts_of(cells), strict=True):
            if fault := _id_fault(kind, name):
                yield line, column // 2, fault


def _id_fault(kind: str, name: str) -> str:
    fault = ids.fault(name)
    return f"the id of a {kind} {fault}" if fault else ""


def _second_fault(second: str) -> str:
    return f"the second column is '{second}', not 'Q0'"


def _ties(
    topics: list[str], numbers: npt.NDArray[np.intp], scores: Floats
) -> Iterator[tuple[str, Spans]]:
    """Yield the first and last ranks of equal scores of each topic that has some."""
    within = numbers[1:] == numbers[:-1]
    if ((scores[1:] > scores[:-1]) & within).any():
        scores = scores[np.lexsort((-scores, numbers))]
    same = (scores[1:] == scores[:-1]) & within
    begins = np.diff(same.astype(np.int8), prepend=0, append=0)
    first = np.flatnonzero(begins > 0)
    of_topics = numbers[first]
    starts = np.searchsorted(numbers, of_topics) - 1
    spans = np.stack([first - starts, np.flatnonzero(begins < 0) - starts], axis=1)
    tied, cuts = np.unique(of_topics, return_index=True)
    for number, ranks in zip(tied.tolist(), np.split(spans, cuts[1:]), strict=False):
        yield topics[number], ranks.tolist()


def _rank_problems(
    topics: list[str], numbers: npt.NDArray[np.intp], part: Part
) -> Iterator[Problem]:
    """Yield the first problem of each topic of a part."""
    cells, scores, ranks, lines = part.columns
    within = numbers[1:] == numbers[:-1]
    if (within & (ranks[1:] < ranks[:-1])).any():
        order = np.lexsort((ranks, numbers))
        cells, scores, ranks, lines = (column[order] for column in part.columns)
    short = scores.astype(np.float32)
    close = np.flatnonzero(within & (short[1:] == short[:-1]))
    suspect = (ranks[1:] == ranks[:-1]) | (scores[1:] > scores[:-1])
    suspect[close[cells[close + 1] > cells[close]]] = True
    places = np.flatnonzero(suspect & within)
    for place in places[np.unique(numbers[places], return_index=True)[1]].tolist():
        pair = [
            (int(ranks[at]), float(scores[at]), cells[at].decode(), int(lines[at]))
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
