"""Repairs of run files: a corrected copy, with the reason of every change.

Repaired are encoding, line ends, columns, documents that come twice, order and ranks, the number of
results, the tag, ids in another spelling; lines that fit no rule of the task are left out. What a
run lacks cannot be made up: topics without results, lines without a score.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from irplatform.errors import counted
from irplatform.tasks.lines import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from irplatform.runs.trec import Problem
    from irplatform.tasks.lines import Row
    from irplatform.tasks.model import Task

Order = Literal["scores", "ranks"]
_WRAPPINGS = re.compile(
    r"""^["'<(\[]*(?:https?://\S*/)?(?:(?:pmid|pubmed)\s*[:_-]?\s*)?|(?:\.(?:n?xml|txt|json))?/?["'>)\]]*$""",
    re.IGNORECASE,
)
"""Quotes, brackets, addresses and endings around an id."""
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Repair:
    """A corrected copy of a file, and what was changed.

    Attributes:
        content: the copy.
        changed: kind of change → numbers of the lines.
        left_out: the reason → numbers of the lines that the copy lacks.
        lines: for a diff: number, line, corrected line or None, reasons.
        lost: what was left out within lines that are kept → the number of the line, for each.
        faults: errors of the copy that only a look at both files tells.
    """

    content: bytes
    changed: Mapping[str, list[int]] = field(default_factory=dict)
    left_out: Mapping[str, list[int]] = field(default_factory=dict)
    lines: tuple[tuple[int, str, str | None, str], ...] = ()
    lost: Mapping[str, list[int]] = field(default_factory=dict)
    faults: tuple[Problem, ...] = ()


def repair_run(
    path: Path,
    task: Task,
    *,
    topics: Collection[str] = (),
    has_document: Callable[[str], bool] | None = None,
    tag: str | None = None,
    order: Order = "scores",
    keep_lines: bool = False,
) -> Repair:
    """Repair a run by the rules of a task; the file itself stays as it is.

    Args:
        path: the run.
        task: the task.
        topics: ids of its topics, if known.
        has_document: says if the collection has a document; others are left out.
        tag: the new run tag; by default the most frequent one, in letters that the task takes.
        order: what decides where the two contradict each other.
        keep_lines: keep what a diff shows.

    Raises:
        InputError: the file cannot be opened.
    """
    rows = read_rows(path, keep_lines=keep_lines)
    for row in _kept(rows):
        _mend_topic(row, topics)
    for row in _kept(rows):
        _mend_document(row, task, has_document)
    by_topic: dict[str, list[Row]] = {}
    for row in _kept(rows):
        by_topic.setdefault(row.topic, []).append(row)
    new_tag = tag or _tag(rows, task)
    for held in by_topic.values():
        ranking = _ranking(held, task.rules.depth, order)
        ranks = [row.rank for row in ranking if row.rank is not None]
        contradicted = ranks != sorted(ranks)
        for rank, row in enumerate(ranking, start=1):
            if row.rank != rank:
                row.reasons += ("rank, from the score" if contradicted else "rank",)
            if row.tag != new_tag:
                row.reasons += ("tag" if row.tag else "no tag",)
            row.new_rank = rank
    changed: dict[str, list[int]] = {}
    left_out: dict[str, list[int]] = {}
    for row in rows:
        group, reasons = (left_out, [row.left_out]) if row.left_out else (changed, row.reasons)
        for reason in dict.fromkeys(reasons):
            group.setdefault(reason, []).append(row.line)
    content = io.BytesIO()
    for held in by_topic.values():
        for row in sorted(_kept(held), key=lambda row: row.new_rank):
            content.write(f"{row.text(new_tag)}\n".encode())
    lines = tuple(_diff(rows, new_tag)) if keep_lines else ()
    return Repair(content.getvalue(), changed, left_out, lines)


def diff_lines(repair: Repair, before: Path, after: Path) -> Iterator[str]:
    """Yield the lines of a diff, with the reason of each change."""
    yield f"--- {before}\n+++ {after}\n"
    for number, line, corrected, reason in repair.lines:
        yield f"@@ line {number}: {reason} @@\n-{line}\n"
        if corrected is not None:
            yield f"+{corrected}\n"


def _kept(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if not row.left_out)


def _mend_topic(row: Row, topics: Collection[str]) -> None:
    if not topics or row.topic in topics:
        return
    for name in (row.topic.strip("\"'"), row.topic.lstrip("0"), row.topic.upper()):
        if name in topics:
            row.topic = name
            row.reasons += ("topic id",)
            return
    row.left_out = "topic that the task does not have"


def _mend_document(row: Row, task: Task, has_document: Callable[[str], bool] | None) -> None:
    pattern = task.rules.documents
    if pattern is not None and not re.fullmatch(pattern, row.document):
        bare = _WRAPPINGS.sub("", row.document)
        for name in (bare, bare.upper(), bare.lower()):
            if re.fullmatch(pattern, name):
                row.document = name
                row.reasons += ("document id",)
                break
        else:
            row.left_out = "document id of another form"
            return
    if has_document is not None and not has_document(row.document):
        row.left_out = "document that the collection does not have"


def _ranking(rows: list[Row], depth: int | None, order: Order) -> list[Row]:
    """The rows of a topic that are kept, in order; others get the reason."""
    by_rank = order == "ranks" and all(row.rank is not None for row in rows)
    scored = [row for row in rows if row.score is not None]
    if not scored and all(row.rank is not None for row in rows):
        by_rank, scored = True, rows
    for row in rows:
        if row.score is None and not by_rank:
            row.left_out = "score that is not a number"
    if by_rank:
        ordered = sorted(rows, key=lambda row: (row.rank or 0, row.line))
    else:
        ordered = sorted(scored, key=lambda row: row.document, reverse=True)
        ordered.sort(key=lambda row: -(row.score or 0.0))
    seen: set[str] = set()
    kept: list[Row] = []
    for row in ordered:
        if row.document in seen:
            row.left_out = "document a second time in its topic"
        elif depth is not None and len(kept) >= depth:
            row.left_out = f"beyond {counted(depth, 'result')} of its topic"
        else:
            seen.add(row.document)
            kept.append(row)
    scores = [row.score for row in kept if row.score is not None and abs(row.score) <= _LARGEST]
    falls = all(before > after for before, after in pairwise(scores))
    if len(scores) < len(kept) or (by_rank and not falls):
        for place, row in enumerate(kept):
            row.score_text = str(len(kept) - place)
            row.reasons += ("score, from the rank" if by_rank else "score beyond 32 bits",)
    return kept


def _tag(rows: list[Row], task: Task) -> str:
    """The most frequent tag, changed as little as the task asks for."""
    tags = Counter(row.tag for row in _kept(rows) if row.tag)
    tag = next((tag for tag, _ in tags.most_common(1)), "run")
    pattern = re.compile(task.rules.tag or r"\S+")
    plain = re.sub(r"[^A-Za-z0-9]", "_", tag.encode("ascii", "replace").decode()).strip("_")
    names = (tag, plain, plain.replace("_", ""))
    shorter = (name[:length] for name in names[1:] for length in range(len(name), 0, -1))
    return next((name for name in (*names, *shorter, "run") if pattern.fullmatch(name)), tag)


def _diff(rows: list[Row], tag: str) -> Iterator[tuple[int, str, str | None, str]]:
    for row in rows:
        after = None if row.left_out else row.text(tag)
        if after is None or after.split(" ") != row.raw.split():
            reasons = row.left_out or ", ".join(dict.fromkeys(row.reasons))
            yield row.line, row.raw, after, reasons or "order"
