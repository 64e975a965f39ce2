"""Pools of runs: the documents to judge, chosen from what runs rank, in a folder.

A pool that learns grows in rounds (`next_batch`). Its folder keeps the runs down to the depth that
is pooled, so that it goes on without their files, on another machine, too.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from irplatform.errors import InputError, counted, listing
from irplatform.experiment.arguments import as_path
from irplatform.files.digests import fingerprint
from irplatform.files.writing import atomic_folder, lock_open, refuse_taken
from irplatform.judging.forecast import forecast, in_words
from irplatform.judging.judgments import read_judgments, write_judgments
from irplatform.judging.keywords import PoolOptions
from irplatform.judging.pool_folder import EARLIER, Lines, Pool, read_pool, write_pool
from irplatform.judging.pool_inputs import (
    grades_of,
    judgments_known,
    named_runs,
    pooled_judgments,
    rank_fault,
    run_digest,
)
from irplatform.judging.pool_methods.candidates import candidates
from irplatform.judging.pool_methods.fixed import Choice, by_priority, stratified, whole
from irplatform.judging.pool_methods.learning import most_worth, move_to_front, worth
from irplatform.judging.pool_settings import ADAPTIVE, FRONT, STRATIFIED, WORTH, PoolSettings
from irplatform.run_folder.collection_names import collections_named
from irplatform.runs import read_run, write_run
from irplatform.settings import settings_given, with_keywords
from irplatform.system.console import notice, waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.experiment.arguments import AnyPath
    from irplatform.judging.pool_methods.candidates import Candidates, Grades
    from irplatform.judging.pool_methods.learning import Rows

RUNS = "runs"
"""The folder in a pool with the runs that its next rounds are chosen from."""


@dataclass(frozen=True, eq=False)
class PoolReport:
    """A pool that was made or planned.

    Attributes:
        pool: the pool.
        facts: what it costs and can decide, in numbers.
        sentences: the same in words.
    """

    pool: Pool
    facts: Mapping[str, Any]
    sentences: Sequence[str] = field(repr=False)

    @property
    def folder(self) -> Path:
        """The pool's folder."""
        return self.pool.folder

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def as_json(self) -> dict[str, Any]:
        """Return the same as one JSON object."""
        pool = self.pool
        return {"path": str(pool.folder), "id": pool.id, "method": pool.method, **self.facts}


@with_keywords(PoolOptions, PoolSettings)
def pool_runs(runs: Any, out: AnyPath, **options: Unpack[PoolOptions]) -> PoolReport:
    """Pool runs: choose the documents to judge, and write them to a folder.

    Args:
        runs: TREC runs, folders of `platform run`, `Run` objects, or mappings of topic to document
            to score; or a mapping of name to one.
        out: the folder to create.
        options: method, budget, strata and what is judged already; see `PoolSettings`.

    Returns:
        The pool, and what it costs and can decide.

    Raises:
        InputError: a bad file or setting, runs of several collections, or nothing to judge.

    Examples:
        >>> import irplatform as ir
        >>> one = ir.Run("one", {"41": ir.Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])})
        >>> two = ir.Run("two", {"41": ir.Ranking.of(["b", "d"], [2.0, 1.0])})
        >>> made = ir.pool_runs([one, two], "pool", depth=2)
        >>> sorted(item.document for item in made.pool.items("41"))
        ['a', 'b', 'd']
    """
    settings = settings_given(PoolSettings, "pool", options)
    folder = as_path(out, "out")
    refuse_taken(folder)
    named = named_runs(runs)
    files = [run.path for run in named.values() if run.path is not None]
    for told in filter(None, map(rank_fault, files)):
        notice(told)
    if len(collections := collections_named(files)) > 1:
        raise InputError(f"the runs are of several collections: {listing(collections)}.")
    earlier = judgments_known(settings.judged)
    judged = grades_of(earlier)
    with waiting("pooling"):
        topics = [*candidates([*named.values()], settings.ranks, judged)]
        choices = _chosen(topics, settings)
    if not any(choice.drawn.any() for choice in choices):
        raise InputError("there is nothing to judge: all that can be pooled is judged already.")
    for name, run in named.items():
        if lacking := len(topics) - sum(topic.topic in run.rankings for topic in topics):
            notice(f"WARNING: {name} has no results for {lacking:,} of {len(topics):,} topics.")
    facts = forecast(topics, choices, named, judged, settings)
    pooled = [
        {"name": name, "path": str(run.path or ""), "digest": run_digest(run)}
        for name, run in named.items()
    ]
    kept = pooled_judgments(earlier, topics)
    decides = {
        "method": settings.method,
        "settings": settings.deciding,
        "seed": settings.seed,
        "runs": [[run["name"], run["digest"]] for run in pooled],
        "judged": [[each.topic, each.document, each.grade] for each in kept],
    }
    pool = Pool(
        folder,
        fingerprint(decides),
        settings.method,
        settings.deciding,
        settings.seed,
        pooled,
        [facts["placed"]],
        _lines(topics, choices, settings.seed),
        collections[0] if collections else "",
        len(kept),
    )
    if not settings.plan:
        with atomic_folder(folder) as scratch:
            write_pool(replace(pool, folder=scratch))
            if kept:
                write_judgments(scratch / EARLIER, kept)
            for number, run in enumerate(named.values() if settings.has_rounds else (), start=1):
                write_run(run.top(settings.ranks).renamed("pooled"), _run_file(scratch, number))
    return PoolReport(pool, facts, in_words(facts, settings, len(named)))


def next_batch(pool_folder: AnyPath, judged: Grades) -> int:
    """Add the next round to a pool that learns.

    Args:
        pool_folder: the folder of the pool.
        judged: topic to document to grade, None of documents that nobody could tell.

    Returns:
        The number of documents that were added: 0 if the pool does not learn, its budget is spent,
        or documents are not judged yet.

    Raises:
        InputError: the folder is no pool, or its runs are gone.

    Examples:
        >>> import irplatform as ir
        >>> run = ir.Run("one", {"41": ir.Ranking.of(["a", "b", "c"], [3.0, 2.0, 1.0])})
        >>> made = ir.pool_runs(run, "pool", method="move-to-front", budget=2, batch=1)
        >>> first = made.pool.items("41")[0].document
        >>> first, ir.next_batch("pool", {"41": {first: 1}})
        ('a', 1)
    """
    folder = as_path(pool_folder, "pool_folder")
    read_pool(folder)  # which refuses what is no pool
    with _alone(folder):
        pool = read_pool(folder)
        count = min(pool.settings.get("batch", 0), pool.settings.get("budget", 0) - pool.placed)
        if count <= 0 or unjudged(pool, judged):
            return 0
        topics = _topics_of(pool, judged)
        choices = [*map(whole, _learned(topics, pool.method, count, pool.seed))]
        added = sum(len(choice.rows) for choice in choices)
        if added:
            lines = _lines(topics, choices, pool.seed, len(pool.rounds), before=pool.lines)
            write_pool(replace(pool, lines=lines, rounds=[*pool.rounds, added]))
        return added


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from adding the same round."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            lock_open(handle)
        except BlockingIOError as error:
            raise InputError("another process adds a round to this pool.", path=folder) from error
        except OSError:
            pass  # this file system locks no folders
        yield
    finally:
        os.close(handle)


def unjudged(pool: Pool, judged: Grades) -> int:
    """Return how many documents that have a place are not judged yet."""
    placed = ((topic, item.document) for topic in pool.topics for item in pool.items(topic))
    return sum(document not in judged.get(topic, ()) for topic, document in placed)


def state(pool: Pool, judged: Grades) -> list[str]:
    """Return in plain sentences where a pool that learns stands."""
    if pool.method not in ADAPTIVE:
        return [f"A pool by {pool.method} has no rounds."]
    told = []
    if left := unjudged(pool, judged):
        told.append(f"{counted(left, 'document')} of {pool.placed:,} are not judged yet.")
    if pool.placed >= pool.settings["budget"]:
        told.append(f"All {pool.placed:,} of the budget have a place.")
    if pool.method == WORTH:
        found = worth(_topics_of(pool, judged))
        decided, pairs = found.decided
        told.append(
            f"In {decided:,} of {counted(pairs, 'pair')} of runs the better one is known with a "
            "chance of 95 %."
        )
        scores = {run["name"]: s for run, s in zip(pool.runs, found.scores, strict=True)}
        best = sorted(scores, key=lambda name: -scores[name])
        named = listing((f"{name} {scores[name]:.3f}" for name in best), len(best))
        told.append(f"Expected nDCG of the first {pool.settings['depth']}: {named}.")
    return told


def _topics_of(pool: Pool, judged: Grades) -> list[Candidates]:
    """What can be pooled, from the runs that the pool keeps."""
    runs = [read_run(_run_file(pool.folder, n)) for n in range(1, len(pool.runs) + 1)]
    known = grades_of(read_judgments(pool.folder / EARLIER)) if pool.judged else {}
    for topic, grades in judged.items():
        known[topic] = {**known.get(topic, {}), **grades}
    return [*candidates(runs, pool.settings["depth"], known)]


def _run_file(folder: Path, number: int) -> Path:
    return folder / RUNS / f"{number}.run.gz"


def _chosen(topics: Sequence[Candidates], settings: PoolSettings) -> list[Choice]:
    """The choice of each topic, of methods that learn for the first round."""
    if settings.has_rounds:
        count = min(settings.deciding["batch"], settings.deciding["budget"])
        return [*map(whole, _learned(topics, settings.method, count, settings.seed))]
    if settings.method == STRATIFIED:
        return stratified(topics, settings.read_strata(), settings.budget, settings.seed)
    return by_priority(topics, settings.method, settings.budget, settings.seed)


def _learned(topics: Sequence[Candidates], method: str, count: int, seed: int) -> list[Rows]:
    return {FRONT: move_to_front, WORTH: most_worth}[method](topics, count, seed)


def _lines(
    topics: Sequence[Candidates], choices: Sequence[Choice], *seed: int, before: Lines | None = None
) -> Lines:
    """The lines of a pool; those of a new round are shuffled behind those `before`."""
    names: list[str] = []
    columns: list[tuple[Any, ...]] = []
    for topic, choice in zip(topics, choices, strict=True):
        places = np.zeros(len(choice.rows), dtype=np.int64)
        drawn = np.flatnonzero(choice.drawn)
        places[topic.random(*seed).permutation(drawn)] = np.arange(1, len(drawn) + 1)
        column: tuple[Any, ...] = (topic.documents[choice.rows], choice.strata, places)
        if before is not None and (old := before.of(topic.topic)) is not None:
            places += int(old[2].max())
            column = tuple(map(np.concatenate, zip(old, column, strict=True)))
        if len(column[0]):
            names.append(topic.topic)
            columns.append(column)
    bounds = np.append(0, np.cumsum([len(column[0]) for column in columns]))
    return Lines(names, bounds, *map(np.concatenate, zip(*columns, strict=True)))
