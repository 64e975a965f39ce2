"""Runs that exist already, compared over topics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.analysis.evaluate import read_judged_runs
from irplatform.analysis.given_runs import given_runs
from irplatform.comparison.compare import compare as compare_over_topics
from irplatform.evaluation.scoring import evaluate as evaluate_run
from irplatform.registry.loading import registry
from irplatform.reports.comparison_report import ComparisonReport
from irplatform.runs import read_run
from irplatform.spelling import option
from irplatform.system.console import notice, waiting

if TYPE_CHECKING:
    from irplatform.analysis.evaluate import JudgedRuns
    from irplatform.analysis.given_runs import Runs
    from irplatform.comparison.tests import Correction, Test
    from irplatform.evaluation.topics import TopicFilter
    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnyQrels, Names

_MOST_RESULTS = 2_000_000
"""More results take minutes to score again and again."""


def compare(
    runs: Runs,
    *,
    collection: AnyCollection | None = None,
    qrels: AnyQrels | None = None,
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
    ignore_identical_ids: bool = False,
    different_documents: bool = False,
) -> ComparisonReport:
    """Compare runs over the topics of a collection or of other judgments.

    Args:
        runs: TREC runs or `Run` objects, at least two, or a mapping of name to one; a folder, or
            the report that `run` returned, stands for the runs of its last table. In one of several
            first stages each reranked run is compared with its own first stage.
        collection: whose judgments, measures and topics to use; by default the one that the runs'
            metadata name.
        qrels: a file of judgments, instead of a collection, ordinary or sampled; or a mapping of
            topic to document to grade.
        sampled_qrels: a file of sampled judgments, beside the others or alone.
        measures: names; empty takes those that the runs were reported by, or else the
            collection's, or the usual ones.
        names: a name for each run, in their order; empty takes the files' names.
        baseline: the name of the run that others are compared with; by default the first,
            or that of a run's row in a matrix.
        all_pairs: compare every two runs.
        test: "t-test", "randomization", "wilcoxon" or "bootstrap".
        correction: "holm", "bonferroni", "benjamini-hochberg" or "none".
        group_by: a field of the collection's topics, or "query-length".
        topics: which of the judged topics count; by default all.
        bounds: condensed lists, and bounds for unjudged and tied documents; by default if the runs
            have two million results at most.
        seed: of the draws of tests and rank intervals.
        ignore_identical_ids: see `evaluate`.
        different_documents: compare runs whose metadata record different documents, too.

    Returns:
        The comparison. It shows itself in a notebook, and gives frames and plots.

    Raises:
        InputError: a bad name or file, no judgments, fewer than two runs, runs of different
            documents, or a run of a folder's last table is gone.

    Examples:
        >>> import irplatform as ir
        >>> one = ir.Run("one", {t: ir.Ranking.of(["a", "b"], [2.0, 1.0]) for t in "123"})
        >>> other = ir.Run("other", {t: ir.Ranking.of(["b", "a"], [2.0, 1.0]) for t in "123"})
        >>> comparison = ir.compare([one, other], qrels={t: {"b": 1} for t in "123"}, measures="RR")
        >>> comparison.pairs[0].difference, comparison.pairs[0].wins
        (0.5, 3)
    """
    given = given_runs(runs, names)
    judged = read_judged_runs(
        given,
        collection,
        qrels,
        sampled_qrels=sampled_qrels,
        measures=measures,
        topics=topics,
        as_reported=True,
        ignore_identical_ids=ignore_identical_ids,
        different_documents=different_documents,
    )
    return compare_judged(
        judged,
        baseline=baseline,
        all_pairs=all_pairs,
        test=test,
        correction=correction,
        group_by=group_by,
        bounds=bounds,
        seed=seed,
        title=str(qrels or sampled_qrels) if isinstance(qrels, Path | str | None) else "",
    )


def compare_judged(
    judged: JudgedRuns, *, bounds: bool | None = None, title: str = "", **options: Any
) -> ComparisonReport:
    """Compare runs that are read, with their judgments.

    Args:
        judged: runs, judgments and collection.
        bounds: see `compare`.
        title: what names the judgments if there is no collection.
        options: other arguments of `comparison.compare`.
    """
    named_runs = {judged.names[path]: run for path, run in judged.runs.items()}
    source = judged.collection
    if bounds is None:
        results = sum(
            len(ranking) for run in named_runs.values() for ranking in run.rankings.values()
        )
        bounds = results <= _MOST_RESULTS
        if not bounds:
            notice(
                f"{results:,} results: bounds for unjudged documents are left out "
                f"({option('bounds', True)})"
            )
    extra, judgments = registry().measures, judged.judgments
    alone = {
        name: evaluate_run(
            judgments.qrels,
            read_run(path),
            judgments.measures,
            extra=extra,
            sampled=judgments.sampled,
        )
        for name, path in judged.given.alone().items()
    }
    single = options.get("baseline") is not None or options.get("all_pairs")
    with waiting("comparing runs"):
        comparison = compare_over_topics(
            judgments,
            named_runs,
            topics=source.topics if source else (),
            extra=extra,
            collection=source.title if source else title,
            note=source.note if source else "",
            bounds=bounds,
            matrix=None if single else judged.given.matrix,
            mixtures=judged.given.mixtures(),
            alone=alone,
            **options,
        )
    comparison = judged.given.with_ceilings(comparison)
    comparison = replace(comparison, notes=(*judged.notes, *comparison.notes))
    return ComparisonReport.of(comparison)
