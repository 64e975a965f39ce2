"""`platform fuse`: one run from several."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.cli.output import json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.runs import Run


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The run to write.")
@click.option("--tag", default="fused", show_default=True, help="Its last column.")
@click.option(
    "--by",
    type=click.Choice(["ranks", "scores"]),
    default="ranks",
    show_default=True,
    help="Reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009), or the sum of standardized "
    "scores (Montague and Aslam, CIKM 2001).",
)
@click.option(
    "--k", type=int, default=None, help="How little the first ranks stand out.  [default: 60]"
)
@click.option(
    "--weights",
    metavar="W,W…",
    default=None,
    help="How much each run counts, in their order: 4,1; one of 0 is left out.  "
    "[default: all the same]",
)
@click.option("--depth", default=1000, show_default=True, help="Documents per topic.")
@json_option
def fuse(
    runs: tuple[Path, ...],
    out: Path,
    tag: str,
    by: str,
    k: int | None,
    weights: str | None,
    depth: int,
    as_json: bool,
) -> None:
    """Fuse TREC runs, by their ranks or by their scores."""
    from irplatform.errors import InputError, check_least
    from irplatform.runs import read_run
    from irplatform.runs.checks import check_tag
    from irplatform.runs.fuse import reciprocal_rank_fusion, score_fusion
    from irplatform.runs.metadata import write_run_with_metadata
    from irplatform.storage import writable_file

    check_tag(tag)
    if len(runs) < 2:
        raise InputError("at least two runs are needed.")
    if by == "scores" and k is not None:
        raise InputError("--k has no effect with --by scores: it belongs to ranks.")
    check_least("k", 1 if k is None else k, 1)
    check_least("depth", depth, 1)
    if same := next((path for path in runs if _same_file(path, out)), None):
        raise InputError(f"--out {out} is the run {same}, which is fused; name another file.")
    for one, other in combinations(runs, 2):
        if _same_file(one, other):
            raise InputError(f"{other} is the run {one}: name each once; --weights lets it count.")
    writable_file(out)
    weighed = dict(zip(runs, _weights(weights, len(runs)), strict=True))
    read = {path: read_run(path) for path in runs}
    metadata = _metadata(tag, by, k or 60, depth, weighed)
    # A run that does not count brings no documents either.
    counted = {path: run for path, run in read.items() if weighed[path]}
    _compare_topics(counted)
    shares = [weighed[path] for path in counted]
    if by == "scores":
        fused = score_fusion([*counted.values()], name=tag, depth=depth, weights=shares)
    else:
        fused = reciprocal_rank_fusion(
            [*counted.values()], name=tag, k=k or 60, depth=depth, weights=shares
        )
    write_run_with_metadata(fused, out, metadata)
    if as_json:
        print_json({"path": str(out), "topics": len(fused.rankings), "runs": len(counted)})
    else:
        topics = f"{len(fused.rankings):,} topic{'' if len(fused.rankings) == 1 else 's'}"
        click.echo(f"{out}: {topics} from {len(counted)} run{'' if len(counted) == 1 else 's'}")


def _metadata(
    tag: str, by: str, k: int, depth: int, weights: Mapping[Path, float]
) -> dict[str, object]:
    """What the metadata of a fused run say: which runs, and how much each counts."""
    from irplatform.runs.lines import readable_again
    from irplatform.runs.metadata import run_metadata
    from irplatform.storage import file_digest

    fused = [
        {"run": str(path), "sha256": file_digest(readable_again(path)), "weight": weight}
        for path, weight in weights.items()
    ]
    step = {"name": "fuse", "method": by, "depth": depth, "fuses": fused}
    return run_metadata(
        tag=tag,
        command=("platform", *sys.argv[1:]),
        data={},
        method={"retrieval": [{**step, **({"k": k} if by == "ranks" else {})}]},
        timings={},
    )


def _weights(given: str | None, runs: int) -> list[float]:
    """What `--weights` says: one number a run, the largest 1.

    Raises:
        InputError: it does not.
    """
    from math import isfinite

    from irplatform.errors import InputError

    if given is None:
        return [1.0] * runs
    try:
        weights = [float(part) for part in given.split(",")]
    except ValueError as error:
        raise InputError(
            f"--weights takes numbers with commas between them, as 4,1, not '{given}'."
        ) from error
    if len(weights) != runs:
        raise InputError(f"--weights has {len(weights)} numbers for {runs} runs; one each.")
    if not any(weights) or not all(isfinite(w) and w >= 0 for w in weights):
        raise InputError(f"--weights must be 0 or more, and one of them more than 0: '{given}'.")
    return [weight / max(weights) for weight in weights]


def _compare_topics(runs: Mapping[Path, Run]) -> None:
    """Warn where runs are not about the same topics.

    Raises:
        InputError: two of them have no topic in common.
    """
    from irplatform.console import notice
    from irplatform.errors import InputError

    for (first, one), (second, other) in combinations(runs.items(), 2):
        if not one.rankings.keys() & other.rankings.keys():
            raise InputError(
                f"no topic in common: {first} has {len(one.rankings):,} topics, {second} "
                f"{len(other.rankings):,} others. Are these runs of one collection?"
            )
    covered = [run.rankings.keys() for run in runs.values()]
    topics, shared = frozenset().union(*covered), frozenset(covered[0]).intersection(*covered)
    if len(shared) < len(topics):
        counts = ", ".join(f"{path} {len(run.rankings):,}" for path, run in runs.items())
        notice(
            f"WARNING: the runs are not about the same topics: {len(shared):,} of {len(topics):,} "
            f"are in all of them ({counts}); the others are fused from the runs that have them."
        )


def _same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, however they are spelled."""
    return first.exists() and second.exists() and first.samefile(second)
