"""Rounds of a pool: the documents of each topic that were chosen, in a random order of judging.

A pool that learns grows in rounds. Its folder keeps the runs down to the depth that is pooled, so
that it goes on without their files, on another machine, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import counted
from irplatform.experiment.arguments import as_path, as_qrels
from irplatform.judging.formats import judgments_by
from irplatform.judging.judgments import ADJUDICATED, PERSON, Judgment, Source, read_judgments
from irplatform.judging.pool_folder import EARLIER, Lines, read_pool, write_pool
from irplatform.judging.pool_methods import candidates, choose
from irplatform.judging.sources import gather
from irplatform.runs import read_run
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.experiment.arguments import AnyPath, AnyQrels
    from irplatform.judging.pool_folder import Pool
    from irplatform.judging.pool_methods import Candidates, Grades


def next_batch(pool_folder: AnyPath, judged: AnyPath | Grades) -> int:
    """Add the next round to a pool that learns.

    Args:
        pool_folder: the folder of the pool.
        judged: a file of judgments or a pool; or topic to document to grade, None of documents that
            nobody could tell.

    Returns:
        The number of documents that were added: 0 if the pool does not learn, its budget is spent,
        or documents are not judged yet.

    Raises:
        InputError: the folder is no pool, its runs are gone, or judgments cannot be read.

    Examples:
        >>> import irplatform as ir
        >>> run = ir.Run("one", {"41": ir.Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])})
        >>> made = ir.pool_runs(run, "pool", method="move-to-front", budget=2, batch=1)
        >>> first = made.pool.items("41")[0].document
        >>> first, ir.next_batch("pool", {"41": {first: 1}})
        ('a', 1)
    """
    pool = read_pool(as_path(pool_folder, "pool_folder"))
    count = min(pool.settings.get("batch", 0), pool.settings.get("budget", 0) - pool.placed)
    if count <= 0:
        return 0
    latest = judged if isinstance(judged, Mapping) else grades_of(known_judgments(judged))
    placed = ((topic, item.document) for topic in pool.topics for item in pool.items(topic))
    if remainder := sum(document not in latest.get(topic, ()) for topic, document in placed):
        notice(f"{counted(remainder, 'document')} of {pool.placed:,} are not judged yet.")
        return 0
    grades = grades_of(read_judgments(pool.folder / EARLIER)) if pool.judged else {}
    for topic, topic_grades in latest.items():
        grades.setdefault(topic, {}).update(topic_grades)
    runs = [read_run(run_file(pool.folder, number)) for number in range(len(pool.runs))]
    topics = [*candidates(runs, pool.settings["depth"], grades)]
    more = with_round(pool, topics, count)
    if added := more.placed - pool.placed:
        write_pool(more)
    return added


def run_file(folder: Path, number: int) -> Path:
    """Return the file in a pool's folder of a run that its next rounds are chosen from, from 0."""
    return folder / "runs" / f"{number + 1}.run.gz"


def with_round(
    pool: Pool,
    topics: Sequence[Candidates],
    count: int | None,
    strata: Sequence[tuple[int, float]] = (),
) -> Pool:
    """Return a pool with a round of documents, shuffled, behind those that it has; see `choose`."""
    lines = {}
    seed = (pool.seed, len(pool.rounds)) if pool.rounds else (pool.seed,)
    choices = choose(topics, pool.method, count, pool.seed, strata)
    for topic, choice in zip(topics, choices, strict=True):
        drawn = np.flatnonzero(choice.places)
        choice.places[topic.random(*seed).permutation(drawn)] = np.arange(1, len(drawn) + 1)
        if before := pool.lines.get(topic.topic):
            choice.places[drawn] += before.places.max()
            lines[topic.topic] = Lines(*map(np.concatenate, zip(before, choice, strict=True)))
        elif len(choice.places):
            lines[topic.topic] = choice
    more = replace(pool, lines=lines)
    return replace(more, rounds=[*pool.rounds, more.placed - pool.placed])


def known_judgments(judged: AnyQrels | None) -> list[Judgment]:
    """Return the judgments of a file, a pool or memory; those without a source are a person's.

    Raises:
        InputError: the file cannot be read, or a grade is not a whole number.
    """
    qrels = as_qrels(judged)
    if isinstance(qrels, Path):
        return [*gather([qrels], Source(PERSON, qrels.name)).judgments]
    return judgments_by(Source(PERSON, "earlier"), qrels or {})


def grades_of(judgments: Iterable[Judgment]) -> dict[str, dict[str, float | None]]:
    """Return topic to document to grade: a settled one, else of a person, and the latest."""

    def weight(judgment: Judgment) -> tuple[bool, bool, str]:
        source = judgment.source
        return source.version == ADJUDICATED, source.kind == PERSON, judgment.time

    grades: dict[str, dict[str, float | None]] = {}
    for judgment in sorted(judgments, key=weight):
        grades.setdefault(judgment.topic, {})[judgment.document] = judgment.grade
    return grades
