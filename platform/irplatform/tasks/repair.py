"""Repairs of run files: a corrected copy, with the reason of every change.

Repaired are encoding, line ends, columns, documents that come twice, order and ranks, the number of
results, the tag, ids in another spelling; lines that fit no rule of the task are left out. Order
comes from the scores, without these from the ranks, and without these from the lines. What a run
lacks cannot be made up: topics without results, lines without a score.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from irplatform import data as ids
from irplatform.errors import InputError, counted, listing
from irplatform.files.reading import blank_lines
from irplatform.runs.bioasq import holds_json
from irplatform.runs.ids import pmid_of, whole_number
from irplatform.runs.trec import Problem
from irplatform.spelling import option
from irplatform.tasks.lines import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.runs.results import Order
    from irplatform.tasks.catalogue.rules import Task
    from irplatform.tasks.lines import Row

_AROUND = re.compile(r"""^(?:b["']|np\.\w+\()?["'<(\[]*|["'>)\]]*$""")
"""Quotes and brackets around an id."""
_ADDRESS = re.compile(r"\S*/([^/?#]*[^\W\d][^/?#]*)/?(?:[?#]\S*)?")
"""An address or path that ends in a name with letters: a number may be that of anything."""
_ENDING = re.compile(r"\.(?:n?xml|txt|json)$", re.IGNORECASE)
_OBJECT = re.compile(
    r"""\{.*?["']?\b(?:pmid|nct_?id|doc_?(?:no|id)|_?id)["']?\s*[:=]\s*["']?([^"',}\s]+).*\}""",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN = re.compile(r"[!-~]{1,99}")
"""An id in which there can be no fault."""
_OTHER_TOPIC = "topic that the task does not have"
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
    order: Order | None = None,
    keep_lines: bool = False,
) -> Repair:
    """Repair a run by the rules of a task; the file itself stays as it is.

    Args:
        path: the run.
        task: the task.
        topics: ids of its topics, if known.
        has_document: says if the collection has a document; others are left out.
        tag: the new run tag; by default the most frequent one, in letters that the task takes.
        order: what decides where scores and ranks contradict each other, or cannot be told apart.
        keep_lines: keep what a diff shows.

    Raises:
        InputError: the file cannot be opened; its columns cannot be told; or scores and ranks
            contradict each other, and `order` does not say which of them holds.
    """
    rows = read_rows(path, order=order, keep_lines=keep_lines)
    topic_form = re.compile(task.rules.topic_pattern) if task.rules.topic_pattern else None
    for row in _sound_rows(rows):
        _mend_topic(row, topics, topic_form)
    form = re.compile(task.rules.documents or r"\S+")
    for row in _sound_rows(rows):
        _mend_document(row, form, has_document)
    by_topic: dict[str, list[Row]] = {}
    for row in _sound_rows(rows):
        by_topic.setdefault(row.topic, []).append(row)
    if order is None:
        _refuse_contradictions(by_topic.values(), path)
    new_tag = tag or _tag(rows, task)
    for results in by_topic.values():
        ranking = _ranking(results, task.rules.depth, order)
        ranks = [row.rank for row in ranking if row.rank is not None]
        contradicted = ranks != sorted(ranks)
        for rank, row in enumerate(ranking, start=1):
            if row.rank != rank:
                row.reasons += ("rank, from the score" if contradicted else "rank",)
            if row.tag != new_tag:
                row.reasons += ("tag" if row.tag else "no tag",)
            row.new_rank = rank
    changed: dict[str, list[int]] = {}
    of_others = holds_json(path) or any(row.left_out == "header" for row in rows)
    blank = [] if of_others else blank_lines(path)
    left_out: dict[str, list[int]] = {"empty line": blank} if blank else {}
    for row in rows:
        group, reasons = (left_out, [row.left_out]) if row.left_out else (changed, row.reasons)
        for reason in dict.fromkeys(reasons):
            group.setdefault(reason, []).append(row.line)
    content = io.BytesIO()
    for results in by_topic.values():
        for row in sorted(_sound_rows(results), key=lambda row: row.new_rank):
            content.write(f"{row.text(new_tag)}\n".encode())
    lines = tuple(_diff(rows, new_tag)) if keep_lines else ()
    faults = tuple(_lost_topics(rows))
    return Repair(content.getvalue(), changed, left_out, lines, faults=faults)


def _lost_topics(rows: Sequence[Row]) -> Iterator[Problem]:
    """Yield an error if the copy has no document of topics of which the file has some."""
    remainder = {row.topic for row in _sound_rows(rows)}
    lost = {row.topic for row in rows if row.left_out not in ("", _OTHER_TOPIC)} - remainder - {""}
    if lost:
        topics = f"{counted(len(lost), 'topic')} ({listing(sorted(lost))})"
        yield Problem("error", f"all documents of {topics} are left out.")


def diff_lines(repair: Repair, before: Path, after: Path) -> Iterator[str]:
    """Yield the lines of a diff, with the reason of each change."""
    yield f"--- {before}\n+++ {after}\n"
    for number, line, corrected, reason in repair.lines:
        yield f"@@ line {number}: {reason} @@\n-{line}\n"
        if corrected is not None:
            yield f"+{corrected}\n"


def _sound_rows(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if not row.left_out)


def _mend_topic(row: Row, topics: Collection[str], form: re.Pattern[str] | None) -> None:
    def is_one(name: str) -> bool:
        return name in topics if topics else form is not None and form.fullmatch(name) is not None

    has_rule = bool(topics) or form is not None
    if is_one(row.topic) or (not has_rule and _PLAIN.fullmatch(row.topic)):
        return
    bare = row.topic.strip("\"'")
    for name in (bare, str(whole_number(row.topic)), row.topic.upper(), bare.lower()):
        if is_one(name):
            row.topic = name
            row.reasons += ("topic id",)
            return
    if has_rule:
        row.left_out = _OTHER_TOPIC
    elif fault := ids.fault(row.topic):
        row.left_out = f"topic id that {fault}"


def _mend_document(
    row: Row, form: re.Pattern[str], has_document: Callable[[str], bool] | None
) -> None:
    if has_document is None and _PLAIN.fullmatch(row.document) and form.fullmatch(row.document):
        return
    formed = [n for n in _spellings(row.document) if form.fullmatch(n) and not ids.fault(n)]
    name = next((name for name in formed if has_document is None or has_document(name)), None)
    if name is None:
        missing = "document that the collection does not have"
        row.left_out = missing if formed else "document id of another form"
    elif name != row.document:
        row.document = name
        row.reasons += ("document id",)


def _spellings(document: str) -> Iterator[str]:
    """Yield an id as it is written, and as it may be meant."""
    yield document
    inside = _OBJECT.fullmatch(document.strip())
    bare = _AROUND.sub("", inside[1] if inside else document)
    if pmid := pmid_of(bare):
        yield pmid
    address = _ADDRESS.fullmatch(bare)
    bare = _ENDING.sub("", address[1] if address else bare)
    yield from (bare, bare.upper(), bare.lower())


def _refuse_contradictions(topics: Collection[Sequence[Row]], path: Path) -> None:
    """Refuse scores and ranks that contradict each other: nobody but the user knows which hold."""
    contradictions = [pair for rows in topics if (pair := _contradiction(rows))]
    several = [[row for row in rows if row.score is not None] for rows in topics]
    several = [rows for rows in several if len(rows) > 1]
    if contradictions:
        upper, lower = contradictions[0]
        fault = (
            f"scores and ranks contradict each other in {len(contradictions):,} of "
            f"{counted(len(topics), 'topic')}: rank {lower.rank} of topic '{lower.topic}' (line "
            f"{lower.line}) has a higher score than rank {upper.rank} (line {upper.line})"
        )
    elif several and all(
        len({row.score for row in rows}) == 1 < len({row.rank for row in rows}) for rows in several
    ):
        fault = "ranks differ, and all scores of a topic are equal"
    else:
        return
    message = (
        f"{fault}. Say which holds: {option('order', 'scores')}, or {option('order', 'ranks')}."
    )
    raise InputError(message, path=path)


def _contradiction(rows: Sequence[Row]) -> tuple[Row, Row] | None:
    """Two results of a topic, the first with the better rank and the lower score."""
    results = [row for row in rows if row.rank is not None and _is_finite(row)]
    best: dict[str, Row] = {}
    for row in sorted(results, key=lambda row: -(row.score or 0.0)):
        best.setdefault(row.document, row)
    above: list[Row] = []
    for _, group in groupby(best.values(), key=lambda row: row.score):
        tied = [*group]
        upper = min(tied, key=_rank)
        if above and _rank(above[0]) > _rank(upper):
            return upper, above[0]
        above = [max(*above, *tied, key=_rank)] if len(above + tied) > 1 else tied
    return None


def _rank(row: Row) -> int:
    return row.rank or 0


def _is_finite(row: Row) -> bool:
    return row.score is not None and math.isfinite(row.score)


def _ranking(rows: list[Row], depth: int | None, order: Order | None) -> list[Row]:
    """The rows of a topic that are kept, in order; others get the reason."""
    ranks = [row.rank for row in rows if row.rank is not None]
    is_ranked = len(ranks) == len(rows)
    finite = [row for row in rows if _is_finite(row)]
    by_rank = is_ranked and (order == "ranks" or not finite)
    if is_ranked and len(finite) < len(rows) and len({*ranks}) == len(ranks):
        by_rank = by_rank or _contradiction(rows) is None
    for row in rows:
        if order == "ranks" and ranks and row.rank is None:
            row.left_out = "rank that is not a whole number"
        elif row.score is None and not by_rank:
            row.left_out = "score that is not a number"
    by_rank = by_rank or (order == "ranks" and bool(ranks))
    if by_rank:
        ordered = sorted(_sound_rows(rows), key=lambda row: (_rank(row), row.line))
    else:
        ordered = sorted(_sound_rows(rows), key=lambda row: row.document, reverse=True)
        ordered.sort(key=lambda row: -(row.score or 0.0))
    doc_ids: set[str] = set()
    ranking: list[Row] = []
    for row in ordered:
        if row.document in doc_ids:
            row.left_out = "document a second time in its topic"
        elif depth is not None and len(ranking) >= depth:
            row.left_out = f"beyond {counted(depth, 'result')} of its topic"
        else:
            doc_ids.add(row.document)
            ranking.append(row)
    scores = [row.score for row in ranking if row.score is not None and abs(row.score) <= _LARGEST]
    falls = all(before > after for before, after in pairwise(scores))
    if len(scores) < len(ranking) or (by_rank and not falls):
        for place, row in enumerate(ranking):
            row.score_text = str(len(ranking) - place)
            row.reasons += ("score, from the rank" if by_rank else "score beyond 32 bits",)
    return ranking


def _tag(rows: list[Row], task: Task) -> str:
    """The most frequent tag, changed as little as the task asks for."""
    tags = Counter(row.tag for row in _sound_rows(rows) if row.tag)
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
