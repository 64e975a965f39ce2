"""Runs that exist already, compared over topics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from irplatform.analysis.evaluate import read_judged_runs
from irplatform.analysis.given_runs import given_runs
from irplatform.analysis.keywords import CompareOptions
from irplatform.analysis.settings import AnalysisSettings
from irplatform.comparison.compare import compare as compare_over_topics
from irplatform.errors import InputError
from irplatform.evaluation.scoring import evaluation_of, evaluations_of
from irplatform.registry.loading import registry
from irplatform.reports.comparison import ComparisonReport
from irplatform.runs import Run, read_run
from irplatform.settings import settings_given, with_keywords
from irplatform.spelling import option
from irplatform.system.console import notice, progress, waiting

if TYPE_CHECKING:
    from irplatform.analysis.evaluate import JudgedRuns
    from irplatform.analysis.given_runs import Runs

_MOST_RESULTS = 2_000_000
"""More results take minutes to score again and again."""


@with_keywords(CompareOptions, AnalysisSettings)
def compare(runs: Runs, **options: Unpack[CompareOptions]) -> ComparisonReport:
    """Compare runs over the topics of a collection or of other judgments.

    Args:
        runs: TREC runs or `Run` objects, at least two, or a mapping of name to one; a folder, or
            the report that `run` returned, stands for the runs of its last table. In one of several
            first stages each reranked run is compared with its own first stage.
        options: judgments, measures, tests, groups and names; see `AnalysisSettings`.

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
    settings = settings_given(AnalysisSettings, "compare", options)
    judged = read_judged_runs(given_runs(runs, settings.names), settings, compared=True)
    source = settings.qrels or settings.sampled_qrels
    is_file = isinstance(settings.qrels, Path | str | None)
    return compare_judged(judged, settings, title=str(source) if source and is_file else "")


def compare_judged(
    judged: JudgedRuns, settings: AnalysisSettings, *, title: str = ""
) -> ComparisonReport:
    """Compare runs that are read, with their judgments.

    Args:
        judged: runs, judgments and collection.
        settings: baseline, tests, groups and bounds.
        title: what names the judgments if there is no collection.
    """
    named_runs = {judged.names[path]: run for path, run in judged.runs.items()}
    source = judged.collection
    stored = {judged.names[path]: scores for path, scores in judged.published.items()}
    bounds, baseline = settings.bounds, settings.baseline
    if stored and bounds:
        raise InputError(
            "published results have no bounds: their run files are cut short. Leave out "
            f"{option('bounds', True)}."
        )
    if stored:
        bounds = False
        named_runs = {n: Run(n, {}) if n in stored else run for n, run in named_runs.items()}
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
    alone, paths_alone = {}, judged.inputs.alone()
    with progress("scoring rerankers alone", len(paths_alone), "runs") as advance:
        for name, path in paths_alone.items():
            run = judged.as_read.get(path) or read_run(path)
            alone[name] = evaluation_of(judgments, run, judgments.measures, extra)
            advance(1)
    alone |= {judged.names[path]: scores for path, scores in judged.published_alone.items()}
    single = settings.baseline is not None or settings.all_pairs
    mixtures = judged.inputs.mixtures()
    evaluations = None
    if stored:
        own_runs = {name: run for name, run in named_runs.items() if name not in stored}
        scored = evaluations_of(judgments, own_runs, judgments.measures, extra)
        evaluations = {name: stored.get(name) or scored[name] for name in named_runs}
        if not single:  # one's own reranker rather than the first stage beside it
            weighted = (n for n in own_runs if n in mixtures and not mixtures[n].has_no_weight)
            reranked = (name for name in weighted if mixtures[name].first_stage)
            baseline = next(reranked, next(iter(own_runs), None))
    with waiting("comparing runs"):
        comparison = compare_over_topics(
            judgments,
            named_runs,
            topics=source.topics if source else (),
            extra=extra,
            collection=source.title if source else title,
            note=source.note if source else "",
            bounds=bounds,
            matrix=None if single else judged.inputs.matrix,
            evaluations=evaluations,
            mixtures=mixtures,
            alone=alone,
            baseline=baseline,
            all_pairs=settings.all_pairs,
            test=settings.test,
            correction=settings.correction,
            group_by=settings.group_by,
            seed=settings.seed,
        )
    comparison = judged.inputs.with_ceilings(comparison)
    comparison = replace(comparison, notes=(*judged.notes, *comparison.notes))
    return ComparisonReport.of(comparison)
