"""Sources of judgments, compared by the order that each gives the same systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.agreement.of_systems import (
    Agreement,
    agreement,
    indistinct,
    read_sources,
)
from irplatform.experiment.arguments import as_names, as_paths
from irplatform.system.console import notice

if TYPE_CHECKING:
    from irplatform.experiment.arguments import Names, Paths


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
