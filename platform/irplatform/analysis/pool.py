"""Pools of runs: the documents to judge, chosen from what runs rank, in a folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from irplatform.analysis.given_runs import given_runs
from irplatform.analysis.keywords import PoolOptions
from irplatform.comparison.power import power_of
from irplatform.errors import InputError, counted, listing
from irplatform.experiment.arguments import as_path
from irplatform.files.columns import texts_of
from irplatform.files.digests import digest, fingerprint
from irplatform.files.reading import readable_again
from irplatform.files.writing import atomic_folder, refuse_taken
from irplatform.judging.judgments import write_judgments
from irplatform.judging.pool_folder import EARLIER, Pool, write_pool
from irplatform.judging.pool_methods import candidates
from irplatform.judging.pool_settings import WORTH, PoolSettings
from irplatform.judging.pooling import grades_of, known_judgments, run_file, with_round
from irplatform.run_folder.collection_names import collections_named
from irplatform.runs import read_run, write_run
from irplatform.runs.bioasq import holds_json
from irplatform.runs.content import read_content
from irplatform.runs.trec import run_lines, run_rows
from irplatform.settings import settings_given, with_keywords
from irplatform.spelling import option
from irplatform.system.console import notice, waiting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.analysis.given_runs import Runs
    from irplatform.experiment.arguments import AnyPath
    from irplatform.runs import Run

RATE = 2.0
"""Documents that a person judges in a minute, an assumption."""
MEASURE, DEVIATION = "nDCG@20", 0.17
"""A measure, and the standard deviation of its differences over topics, an assumption: the median
of pairs of systems is 0.15 on NFCorpus (11 systems) and 0.17 on TREC PM 2017 (13)."""


@dataclass(frozen=True, eq=False)
class PoolReport:
    """A pool that was made.

    Attributes:
        pool: the pool.
        facts: its folder and id; documents to judge, now and in all rounds, and the hours that this
            takes; topics, and the difference of two systems that they show four times in five.
    """

    pool: Pool
    facts: Mapping[str, Any]

    def __str__(self) -> str:
        facts = self.facts
        topics = counted(facts["topics"], "topic")
        decides = f"{topics} cannot show a difference of runs."
        if facts["detectable"] and facts["detectable"] <= 1:
            decides = (
                f"With {topics} judged whole, a true difference of {facts['detectable']:.3f} in "
                f"{MEASURE} is found four times in five, if differences vary by {DEVIATION:g} "
                "between topics (assumed). Fewer judgments show less."
            )
        now = f", {facts['placed']:,} of them now" if facts["placed"] < facts["documents"] else ""
        hours = f"{facts['hours']:.1f} hours at {RATE:g} a minute (assumed)"
        return f"{counted(facts['documents'], 'document')} to judge{now}: {hours}.\n{decides}"


@with_keywords(PoolOptions, PoolSettings)
def pool_runs(runs: Runs, out: AnyPath, **options: Unpack[PoolOptions]) -> PoolReport:
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
    inputs = given_runs(runs)
    named_runs = {
        name: inputs.ready.get(path) or read_run(path) for path, name in inputs.names.items()
    }
    if not named_runs:
        raise InputError("name at least one run to pool.")
    if settings.method == WORTH and len(named_runs) < 2:
        raise InputError(f"{option('method', WORTH)} tells runs apart: name at least two.")
    for file in inputs.files.values():
        _tell_ranks(file)
    if len(collections := collections_named(inputs.files.values())) > 1:
        raise InputError(f"the runs are of several collections: {listing(collections)}.")
    earlier = known_judgments(settings.judged)
    decides: dict[str, Any] = {
        "method": settings.method,
        "settings": settings.deciding,
        "seed": settings.seed,
    }
    batch = settings.deciding.get("batch")
    with waiting("pooling"):
        topics = [*candidates([*named_runs.values()], settings.ranks, grades_of(earlier))]
    pooled = [
        {"name": name, "path": str(run.path or ""), "digest": _digest(run)}
        for name, run in named_runs.items()
    ]
    pairs = {(t.topic, document) for t in topics for document in texts_of(t.documents[t.judged])}
    judgments = sorted(
        (judgment for judgment in earlier if (judgment.topic, judgment.document) in pairs),
        key=lambda judgment: (judgment.topic, judgment.document, judgment.source, judgment.time),
    )
    identity = fingerprint(
        {
            **decides,
            "runs": [[run["name"], run["digest"]] for run in pooled],
            "judged": [
                [judgment.topic, judgment.document, judgment.grade] for judgment in judgments
            ],
        }
    )
    if earlier and not judgments:
        notice(
            f"{option('judged')}: no run ranks any of these documents; are they of another "
            "collection?"
        )
    named_collection = collections[0] if collections else ""
    pool = Pool(
        folder, identity, **decides, runs=pooled, collection=named_collection, judged=len(judgments)
    )
    count = min(filter(None, (batch, settings.budget)), default=None)
    pool = with_round(pool, topics, count, settings.read_strata())
    if not pool.placed:
        raise InputError("there is nothing to judge: all that can be pooled is judged already.")
    with atomic_folder(folder) as scratch:
        write_pool(replace(pool, folder=scratch))
        if judgments:
            write_judgments(scratch / EARLIER, judgments)
        for number, run in enumerate(named_runs.values() if batch else ()):
            write_run(run.top(settings.ranks).renamed("pooled"), run_file(scratch, number))
    documents, power = pool.placed, power_of(0, DEVIATION, len(topics))
    if batch and settings.budget:
        documents = min(settings.budget, sum(int((~topic.judged).sum()) for topic in topics))
    facts = {
        "path": str(folder),
        "id": pool.id,
        "documents": documents,
        "placed": pool.placed,
        "hours": documents / RATE / 60,
        "topics": len(topics),
        "detectable": power and power.detectable,
    }
    return PoolReport(pool, facts)


def _tell_ranks(path: Path) -> None:
    """Say where a rank column contradicts the scores."""
    if problems := [] if holds_json(path) else read_content(path).rank_problems:
        notice(
            f"{path}: its ranks contradict its scores in {counted(len(problems), 'topic')}; pooled "
            "is by score, and among equals by id, as it is scored. Line "
            f"{problems[0].line}: {problems[0].message}"
        )


def _digest(run: Run) -> str:
    """The SHA-256 of a run's file, or of the lines that it would have."""
    if run.path is not None:
        return digest(readable_again(run.path))
    lines = [run_lines(topic, run_rows(ranking), "") for topic, ranking in run.rankings.items()]
    return hashlib.sha256(b"".join(lines)).hexdigest()
