"""Runs that exist already, compared over topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.comparison.compare import compare
from irplatform.errors import InputError, counted, listing
from irplatform.experiment.evaluate import read_judged_runs
from irplatform.experiment.settings import as_names, as_paths
from irplatform.registry.loading import registry
from irplatform.runs.folder import run_files
from irplatform.runs.names import names_of
from irplatform.system.console import notice, waiting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.comparison.results import Comparison
    from irplatform.comparison.tests import Correction, Test
    from irplatform.evaluation.topics import TopicFilter
    from irplatform.experiment.evaluate import JudgedRuns
    from irplatform.experiment.settings import AnyPath, Names, Paths

_MOST_RESULTS = 2_000_000
"""More results take minutes to score again and again."""


def compare_runs(
    paths: Paths,
    *,
    collection: AnyPath | None = None,
    qrels: AnyPath | None = None,
    sampled_qrels: AnyPath | None = None,
    measures: Names = (),
    names: Names = (),
    baseline: str | None = None,
    all_pairs: bool = False,
    test: Test = "t-test",
    correction: Correction = "holm",
    group_by: str | None = None,
    topics: TopicFilter | None = None,
    bounds: bool | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare run files over the topics of a collection or of a file of judgments.

    Args:
        paths: TREC runs, at least two; a folder stands for the runs of its last table.
        collection: whose judgments, measures and topics to use.
        qrels: a file of judgments, instead of a collection; ordinary or sampled.
        sampled_qrels: a file of sampled judgments, beside the others or alone.
        measures: names; empty takes the collection's, or the usual ones.
        names: a name for each run, in their order; empty takes the files' names.
        baseline: the name of the run that others are compared with; by default the first.
        all_pairs: compare every two runs.
        test: "t-test", "randomization", "wilcoxon" or "bootstrap".
        correction: "holm", "bonferroni", "benjamini-hochberg" or "none".
        group_by: a field of the collection's topics, or "query-length".
        topics: which of the judged topics count; by default all.
        bounds: condensed lists, and bounds for unjudged and tied documents; by default if the runs
            have two million results at most.
        seed: of the draws of tests and rank intervals.

    Raises:
        InputError: a bad name or file, no judgments, or fewer than two runs.

    Example:
        >>> compare_runs(["bm25.run", "delta.run"], collection="demo")  # doctest: +SKIP
        Comparison(measures=('nDCG@20', ...
    """
    files = run_files(as_paths(paths, "paths"))
    judged = read_judged_runs(
        files, collection, qrels, sampled_qrels=sampled_qrels, measures=measures, topics=topics
    )
    return compare_judged(
        judged,
        names=names,
        baseline=baseline,
        all_pairs=all_pairs,
        test=test,
        correction=correction,
        group_by=group_by,
        bounds=bounds,
        seed=seed,
        title=str(qrels or sampled_qrels),
    )


def compare_judged(
    judged: JudgedRuns,
    *,
    names: Names = (),
    bounds: bool | None = None,
    title: str = "",
    **options: Any,
) -> Comparison:
    """Compare runs that are read, with their judgments.

    Args:
        judged: runs, judgments and collection.
        names: see `compare_runs`, as for `bounds`.
        bounds: see there.
        title: what names the judgments if there is no collection.
        options: other arguments of `compare`.
    """
    named = name_runs([*judged.runs], as_names(names, "names"))
    runs = {named[path]: run for path, run in judged.runs.items()}
    source = judged.collection
    if bounds is None:
        results = sum(len(ranking) for run in runs.values() for ranking in run.rankings.values())
        bounds = results <= _MOST_RESULTS
        if not bounds:
            notice(f"{results:,} results: bounds for unjudged documents are left out (--bounds)")
    with waiting("comparing runs"):
        return compare(
            judged.judgments,
            runs,
            topics=source.topics if source else (),
            extra=registry().measures,
            collection=source.title if source else title,
            note=source.note if source else "",
            bounds=bounds,
            **options,
        )


def name_runs(paths: Sequence[Path], names: Sequence[str] = ()) -> dict[Path, str]:
    """Return the names of runs by path: those given, in their order, or the files' names.

    Raises:
        InputError: there are not as many different names as runs.
    """
    if not names:
        return names_of(paths)
    if len(names) != len(paths) or len({*names}) != len(names) or not all(map(str.strip, names)):
        raise InputError(
            f"--name gives {listing(names)} for {counted(len(paths), 'run')}: give each run a name "
            "of its own, in their order, or none."
        )
    return dict(zip(paths, names, strict=True))
