"""Sources of judgments and judges, compared by grades and by the order of the same systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.analysis.given_runs import given_runs
from irplatform.evaluation.agreement.of_systems import (
    Agreement,
    agreement,
    indistinct,
    read_sources,
)
from irplatform.evaluation.gain import NDCG
from irplatform.evaluation.measure_names import parse_measures
from irplatform.experiment.arguments import as_names, as_paths
from irplatform.judging.agreement.judge import judge_agreement
from irplatform.judging.judgments import Source
from irplatform.judging.sources import gather
from irplatform.registry.loading import registry
from irplatform.runs import read_run
from irplatform.system.console import notice

if TYPE_CHECKING:
    from irplatform.analysis.given_runs import Runs
    from irplatform.experiment.arguments import Names, Paths
    from irplatform.judging.agreement.judge import JudgeAgreement


def agree_sources(
    folders: Paths,
    *,
    measures: Names = (),
    alone: bool = False,
    samples: int = 10_000,
    seed: int = 42,
) -> Agreement:
    """Compare the orders that sources of judgments give the same systems.

    Each folder is that of a `run`, one per source. Measures are one for all, or one each; by
    default the first of each table. `alone` takes rerankers' own scores. Intervals come from
    `samples` draws of topics. InputError for a folder without scores, or fewer than three common
    systems.

    Examples:
        >>> import irplatform as ir
        >>> for folder, measure in (("runs/experts", "nDCG@20"), ("runs/clicks", "AP")):
        ...     report = ir.run("demo", ["bm25-text", "dlh13"], measures=measure, run_dir=folder)
        >>> found = ir.agree_sources(["runs/experts", "runs/clicks"])
        >>> sorted(found.systems)
        ['bm25', 'bm25-text', 'dlh13']
    """
    folders = as_paths(folders, "folders")
    sources = read_sources(folders, as_names(measures, "measures"), own_scores=alone)
    for message in indistinct(sources):
        notice(message)
    return agreement(sources, samples=samples, seed=seed)


def agree_judges(
    judged: Paths,
    runs: Runs = (),
    *,
    judge: str | None = None,
    against: str | None = None,
    by: str | None = None,
    measure: str = "",
    fitted_on: Names = (),
    width: float | None = None,
    samples: int = 10_000,
    seed: int = 42,
) -> JudgeAgreement:
    r"""Measure a judge against people, or a person against another.

    Args:
        judged: pools, and files of judgments in any form.
        runs: systems whose order both give, at least three; none leaves it out.
        judge: the source to measure; by default the only machine, or the second of two people.
        against: the sources to measure it by; by default people, or the first of two people.
        by: whose judgments those are that name no source: "person:NAME" or "machine:NAME:VERSION".
        measure: of the systems; by default nDCG@20.
        fitted_on: topics that the judge's thresholds or prompts were fitted on, which are left out;
            beyond those that its version names.
        width: a width of the interval of linear kappa, to say how many further judgments it takes.
        samples: draws behind the intervals.
        seed: seed of the draws.

    Raises:
        InputError: a file cannot be read, there is no such judge or several, no document was graded
            by both, or there are fewer than three runs.

    Examples:
        >>> from pathlib import Path
        >>> import irplatform as ir
        >>> for name, grades in (("ann", "0012"), ("bob", "0112")):
        ...     lines = [f"1 0 d{n} {grade}\n" for n, grade in enumerate(grades)]
        ...     written = Path(f"{name}.txt").write_text("".join(lines))
        ...     by = f"person:{name}"
        ...     _ = ir.write_qrels(f"{name}.txt", f"{name}.jsonl", form="json", by=by)
        >>> agreed = ir.agree_judges(["ann.jsonl", "bob.jsonl"])
        >>> agreed.judge, agreed.of_grades.table
        ('bob', [[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    """
    gathered = gather(as_paths(judged, "judged"), Source.parse(by) if by else None)
    inputs = given_runs(runs) if runs else None
    read = (
        {n: inputs.ready.get(p) or read_run(p) for p, n in inputs.names.items()} if inputs else {}
    )
    (name,) = parse_measures([measure or NDCG], registry().measures)
    return judge_agreement(
        gathered,
        read,
        name,
        judge=judge,
        against=against,
        fitted_on=as_names(fitted_on, "fitted_on"),
        width=width,
        samples=samples,
        seed=seed,
    )
