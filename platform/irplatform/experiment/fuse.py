"""One run made of several, by their ranks or by their scores."""

from __future__ import annotations

import shlex
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from irplatform.errors import InputError, check_least, counted, listing
from irplatform.experiment.arguments import as_path, as_paths
from irplatform.experiment.calls import expression
from irplatform.registry.code_digests import our_digest
from irplatform.runs import read_run
from irplatform.runs.checks import check_tag
from irplatform.runs.fuse import reciprocal_rank_fusion, score_fusion
from irplatform.runs.metadata import run_metadata, write_run_with_metadata
from irplatform.runs.resuming import refuse_other_run
from irplatform.system.console import notice
from irplatform.system.digests import file_digest
from irplatform.system.reading import readable_again
from irplatform.system.writing import same_file, writable_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.experiment.arguments import AnyPath, Paths
    from irplatform.runs import Run


def fuse_runs(
    paths: Paths,
    out: AnyPath,
    *,
    by: Literal["ranks", "scores"] = "ranks",
    k: float | None = None,
    weights: Sequence[float] | None = None,
    depth: int = 1000,
    tag: str = "fused",
    force: bool = False,
    command: Sequence[str] = (),
) -> dict[str, Any]:
    """Fuse run files, and write the fused run with its metadata.

    Args:
        paths: TREC runs, at least two.
        out: the run file to write.
        by: "ranks", reciprocal ones, or "scores", standardized ones.
        k: how little the first ranks stand out, a number above 0; None is 60.
        weights: one per run, 0 or more; by default all count the same. A run of weight 0 adds
            no documents.
        depth: documents per topic.
        tag: the last column.
        force: replace a file that was made with other settings.
        command: how this was asked for, for the metadata.

    Returns:
        `path`, and how many `topics` and `runs` it is made of.

    Raises:
        InputError: a run cannot be read, is named twice or would be overwritten, `out` was made
            with other settings, runs are of different collections, or a weight, tag or number
            is wrong.

    Examples:
        >>> import irplatform as ir
        >>> ir.write_run(ir.Run("one", {"41": ir.Ranking.of(["a", "b"], [2.0, 1.0])}), "one.run")
        >>> ir.write_run(ir.Run("two", {"41": ir.Ranking.of(["b", "c"], [2.0, 1.0])}), "two.run")
        >>> ir.fuse_runs(["one.run", "two.run"], "fused.run")
        {'path': 'fused.run', 'topics': 1, 'runs': 2}
        >>> ir.read_run("fused.run").rankings["41"].doc_ids
        ('b', 'a', 'c')
    """
    check_tag(tag)
    paths, out = as_paths(paths, "paths"), as_path(out, "out")
    if len(paths) < 2:
        raise InputError("at least two runs are needed.")
    if by == "scores" and k is not None:
        raise InputError("--k has no effect with --by scores: it is a parameter of ranks.")
    k = 60 if k is None else k  # the paper's
    if not 0 < k <= 1_000_000:  # beyond, neighbours' scores are the same number of 32 bits
        raise InputError(f"--k is {k:g}; it must be a number above 0, of at most 1,000,000.")
    check_least("depth", depth, 1)
    _refuse_same_files(paths, out)
    writable_file(out)
    share_of = dict(zip(paths, _shares(weights, len(paths)), strict=True))
    runs = {path: read_run(path) for path in paths}
    metadata = _metadata(tag, by, k, depth, share_of, command)
    if not force:
        refuse_other_run(out, metadata["method"]["settings"], "Name another --out")
    weighted_runs = {path: run for path, run in runs.items() if share_of[path]}
    _compare_topics(weighted_runs)
    inputs, shares = [*weighted_runs.values()], [share_of[path] for path in weighted_runs]
    if by == "scores":
        fused = score_fusion(inputs, name=tag, depth=depth, weights=shares)
    else:
        fused = reciprocal_rank_fusion(inputs, name=tag, k=k, depth=depth, weights=shares)
    write_run_with_metadata(fused, out, metadata)
    return {"path": str(out), "topics": len(fused.rankings), "runs": len(weighted_runs)}


def _refuse_same_files(paths: Sequence[Path], out: Path) -> None:
    if same := next((path for path in paths if same_file(path, out)), None):
        raise InputError(f"--out {out} is the run {same}, which is fused; name another file.")
    for one, other in combinations(paths, 2):
        if same_file(one, other):
            which = f"{one} is named twice" if one == other else f"{other} is the run {one}"
            raise InputError(f"{which}: name each once; --weights lets it count.")


def _shares(weights: Sequence[float] | None, runs: int) -> list[float]:
    """The weights of the runs, scaled so that the largest is 1."""
    if weights is None:
        return [1.0] * runs
    if len(weights) != runs:
        raise InputError(
            f"--weights has {counted(len(weights), 'number')} for {runs} runs; one each."
        )
    if not any(weights) or not all(isfinite(w) and w >= 0 for w in weights):
        text = ",".join(f"{weight:g}" for weight in weights)
        raise InputError(f"--weights must be 0 or more, and one of them more than 0: '{text}'.")
    return [weight / max(weights) for weight in weights]


def _metadata(
    tag: str, by: str, k: float, depth: int, weights: Mapping[Path, float], command: Sequence[str]
) -> dict[str, Any]:
    inputs: list[dict[str, Any]] = [
        {"run": str(path), "sha256": file_digest(readable_again(path)), "weight": weight}
        for path, weight in weights.items()
    ]
    step = {"name": "fuse", "method": by, "depth": depth, "fuses": inputs}
    settings = {
        "by": by,
        "k": k,
        "depth": depth,
        "tag": tag,
        "runs": [
            f"{path.name} ({used['sha256'][:12]})"
            for path, used in zip(weights, inputs, strict=True)
        ],
        "weights": list(weights.values()),
    }
    retrieval = [{**step, **({"k": k} if by == "ranks" else {})}]
    method = {"retrieval": retrieval, "settings": settings}
    call = {
        "function": "fuse_runs",
        "settings": {
            "paths": [str(path.absolute()) for path in weights],
            "by": by,
            **({"k": k} if by == "ranks" else {}),
            "weights": list(weights.values()),
            "depth": depth,
            "tag": tag,
        },
    }
    return run_metadata(
        tag=tag,
        command=shlex.join(command) or expression(call),
        data={},
        method=method,
        timings={},
        call=call,
        code=our_digest(),
    )


def _compare_topics(runs: Mapping[Path, Run]) -> None:
    """Warn where runs have different topics; refuse those without a common one."""
    for (first, one), (second, other) in combinations(runs.items(), 2):
        if not one.rankings.keys() & other.rankings.keys():
            raise InputError(
                f"no topic in common: {first} has {counted(len(one.rankings), 'topic')} "
                f"({listing(one.rankings)}), {second} {len(other.rankings):,} "
                f"({listing(other.rankings)}). Are these runs of one collection?"
            )
    covered = [run.rankings.keys() for run in runs.values()]
    topics, shared = frozenset().union(*covered), frozenset(covered[0]).intersection(*covered)
    if len(shared) < len(topics):
        counts = ", ".join(f"{path} {len(run.rankings):,}" for path, run in runs.items())
        notice(
            f"WARNING: the runs are not about the same topics: {len(shared):,} of {len(topics):,} "
            f"are in all of them ({counts}); the others are fused from the runs that have them."
        )
