"""One run made of several, by a given method or by one that judged topics choose."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from irplatform.analysis.differing import differences_told
from irplatform.analysis.fuse_settings import FuseSettings
from irplatform.analysis.keywords import FuseOptions
from irplatform.errors import InputError, counted, listing
from irplatform.evaluation.judgments import of_collection
from irplatform.evaluation.qrels import read_qrels
from irplatform.experiment.arguments import as_path, as_paths, collection_name
from irplatform.experiment.calls import describe_data, expression, plain_value
from irplatform.files.code_digests import our_digest
from irplatform.files.digests import file_digest
from irplatform.files.reading import readable_again
from irplatform.files.writing import same_file, writable_file
from irplatform.registry.loading import registry
from irplatform.retrieval.fusion_learning import choose_method, tried_methods
from irplatform.run_folder.metadata_files import (
    read_metadata,
    run_metadata,
    write_run_with_metadata,
)
from irplatform.run_folder.metadata_model import Method, Step
from irplatform.run_folder.resuming import refuse_other_run
from irplatform.runs import read_run
from irplatform.runs.fuse import fuse_weighted
from irplatform.runs.fusion import fusion_method
from irplatform.runs.fusion.ranks import Ranks
from irplatform.runs.names import check_tag
from irplatform.settings import settings_given, with_keywords
from irplatform.spelling import option
from irplatform.system.console import notice, waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.experiment.arguments import AnyCollection, AnyPath, Paths
    from irplatform.retrieval.fusion_learning import FusionChoice
    from irplatform.run_folder.metadata_model import RunMetadata
    from irplatform.runs import Run
    from irplatform.runs.fusion.method import FusionMethod
    from irplatform.runs.fusion.norms import Norm


@with_keywords(FuseOptions, FuseSettings)
def fuse_runs(
    paths: Paths, out: AnyPath, *, command: Sequence[str] = (), **options: Unpack[FuseOptions]
) -> dict[str, Any]:
    """Fuse run files, and write the fused run with its metadata.

    Args:
        paths: TREC runs, at least two.
        out: the run file to write.
        command: the command line, for the metadata; by default the call in Python.
        options: the method or what chooses it, depth and tag; see `FuseSettings`.

    Returns:
        `path`, how many `topics` and `runs` it is made of, the `method`, and with `train_on` what
        was `learned`.

    Raises:
        InputError: a run cannot be read, is named twice or would be overwritten, `out` was made
            with other settings, runs are of different collections, fewer than two topics are
            judged, or a weight, tag or number is wrong.

    Examples:
        >>> import irplatform as ir
        >>> ir.write_run(ir.Run("one", {"41": ir.Ranking.of(["a", "b"], [2.0, 1.0])}), "one.run")
        >>> ir.write_run(ir.Run("two", {"41": ir.Ranking.of(["b", "c"], [2.0, 1.0])}), "two.run")
        >>> made = ir.fuse_runs(["one.run", "two.run"], "fused.run")
        >>> made["topics"], made["runs"]
        (1, 2)
        >>> ir.read_run("fused.run").rankings["41"].doc_ids
        ('b', 'a', 'c')
    """
    settings = settings_given(FuseSettings, "fuse", options)
    by, norm, k, train_on = settings.by, settings.norm, settings.k, settings.train_on
    tag, depth = settings.tag, settings.depth
    check_tag(tag)
    paths, out = as_paths(paths, "paths"), as_path(out, "out")
    train_paths = as_paths(settings.train_runs, "train_runs")
    if len(paths) < 2:
        raise InputError("at least two runs are needed.")
    if train_paths and train_on is None:
        raise InputError(
            f"{option('train_runs')} needs {option('train_on')}, the judgments of their topics."
        )
    if train_paths and len(train_paths) != len(paths):
        raise InputError(
            f"{option('train_runs')} names {counted(len(train_paths), 'run')} for {len(paths)} "
            "runs; one each, in the same order."
        )
    _refuse_same_files([*paths, *train_paths], out)
    writable_file(out)
    method = fusion_method(by or Ranks.name, norm=norm, k=k)
    runs = {path: read_run(path) for path in paths}
    for together in (paths, train_paths):  # these are over topics of their own
        for note in differences_told({str(path): path for path in together}):
            notice(note)
    choice = None
    if train_on is not None:
        methods = [method] if k is not None or (by and norm) else _methods(by, norm)
        judged = [read_run(path) for path in train_paths] or [*runs.values()]
        choice = _learned(dict(zip(train_paths or paths, judged, strict=True)), methods, train_on)
        method = choice.method
    shares = _shares(settings.weights if choice is None else method.weights, len(paths))
    share_of = dict(zip(paths, shares, strict=True))
    request = {
        **{name: value for name, value in (("by", by), ("norm", norm), ("k", k)) if value},
        "train_on": plain_value("train_on", train_on and collection_name(train_on)),
        "train_runs": [str(path.absolute()) for path in train_paths],
    }
    metadata = _metadata(tag, method, depth, share_of, request, choice, command)
    if not settings.force:
        refuse_other_run(out, metadata.method.settings or {}, f"Name another {option('out')}")
    weighted_runs = {path: run for path, run in runs.items() if share_of[path]}
    if choice is None or train_paths:
        _compare_topics(weighted_runs)
        fused = fuse_weighted([*runs.values()], replace(method, weights=tuple(shares)), tag, depth)
    else:
        _compare_topics(runs)
        fused = choice.fuse([*runs.values()], tag, depth)
    write_run_with_metadata(fused, out, metadata)
    facts = {"path": str(out), "topics": len(fused.rankings), "runs": len(weighted_runs)}
    facts["method"] = _described(method, method.weights or shares)
    if choice is not None:
        facts["learned"] = _lesson(choice, train_paths or paths)
    return facts


def _methods(by: str | None, norm: Norm | None) -> list[FusionMethod]:
    return [
        method
        for method in tried_methods()
        if by in (None, method.name) and norm in (None, method.parameters.get("norm"))
    ]


def _learned(
    runs: Mapping[Path, Run], methods: Sequence[FusionMethod], train_on: AnyCollection
) -> FusionChoice:
    name = collection_name(train_on)
    if Path(name).is_file() and Path(name).suffix != ".toml":
        judgments = read_qrels(Path(name))
    else:
        collection = registry().collection(name)
        judgments = of_collection(collection, (), registry().measures).qrels
        _refuse_other_topics(runs, describe_data(collection, judgments))
    with waiting(f"choosing a fusion on topics of {name}"):
        choice = choose_method([*runs.values()], judgments, methods)
    if choice is None:
        raise InputError(
            f"fewer than two topics of the runs have a relevant document in '{name}'. For runs of "
            "other topics, give those of the same systems over its topics with "
            f"{option('train_runs')}."
        )
    return choice


def _refuse_other_topics(paths: Iterable[Path], data: Mapping[str, Any]) -> None:
    """Refuse runs whose metadata name other topics: these may have the same numbers."""
    for path in paths:
        recorded = read_metadata(path).data.test_collection
        parts = ("name", "topics", "qrels")
        if recorded and all(getattr(recorded, part) != data[part] for part in parts):
            raise InputError(
                f"this is a run of '{recorded.name}', and its topics are not those of "
                f"{option('train_on')}, '{data['name']}'. Give runs of the same systems over the "
                f"latter with {option('train_runs')}.",
                path=path,
            )


def _described(method: FusionMethod, shares: Sequence[float]) -> dict[str, Any]:
    """A method as JSON, with the options that count."""
    return {"by": method.name, **method.parameters, "weights": list(shares)}


def _lesson(choice: FusionChoice, paths: Sequence[Path | str]) -> dict[str, Any]:
    gains = {
        "over_equal_ranks": choice.over_plain.as_json(),
        "over_best_run": {"run": str(paths[choice.best_run]), **choice.over_best.as_json()},
    }
    return {
        "topics": choice.topics,
        "folds": len(choice.folds),
        "measure": choice.measure,
        "held_out": {**choice.values, **gains},
    }


def _refuse_same_files(paths: Sequence[Path], out: Path) -> None:
    if same := next((path for path in paths if same_file(path, out)), None):
        raise InputError(
            f"{option('out', out)} is the run {same}, which is fused; name another file."
        )
    for one, other in combinations(paths, 2):
        if same_file(one, other):
            problem = f"{one} is named twice" if one == other else f"{other} is the run {one}"
            raise InputError(f"{problem}: name each once; with {option('weights')} it counts more.")


def _shares(weights: Sequence[float] | None, runs: int) -> list[float]:
    """The weights of the runs, scaled so that the largest is 1."""
    if weights is None:
        return [1.0] * runs
    if len(weights) != runs:
        raise InputError(
            f"{option('weights')} has {counted(len(weights), 'number')} for {runs} runs; one each."
        )
    if not any(weights) or not all(isfinite(w) and w >= 0 for w in weights):
        text = ",".join(f"{weight:g}" for weight in weights)
        raise InputError(
            f"{option('weights')} must be 0 or more, and one of them more than 0: '{text}'."
        )
    return [weight / max(weights) for weight in weights]


def _metadata(
    tag: str,
    method: FusionMethod,
    depth: int,
    weights: Mapping[Path, float],
    request: Mapping[str, Any],
    choice: FusionChoice | None,
    command: Sequence[str],
) -> RunMetadata:
    inputs: list[dict[str, Any]] = [
        {"run": str(path), "sha256": file_digest(readable_again(path)), "weight": weight}
        for path, weight in weights.items()
    ]
    described = _described(method, [*weights.values()])
    step: dict[str, Any] = {"name": "fuse", "method": method.name, "depth": depth, "fuses": inputs}
    step |= method.parameters
    settings: dict[str, Any] = {
        "by": method.name,
        "k": Ranks.k,  # also of methods without one
        "depth": depth,
        "tag": tag,
        "runs": [
            f"{path.name} ({record['sha256'][:12]})"
            for path, record in zip(weights, inputs, strict=True)
        ],
        "weights": list(weights.values()),
    }
    settings |= method.parameters
    if choice is not None:
        sources = [
            {"run": path, "sha256": file_digest(Path(path))} for path in request["train_runs"]
        ]
        by_fold = [
            {**_described(fold_method, fold_method.weights), "topics": sorted(topics)}
            for topics, fold_method in choice.folds
        ]
        step["learned"] = {
            "on": request["train_on"],
            **_lesson(choice, request["train_runs"] or [*weights]),
            **({"from": sources} if sources else {"by_fold": by_fold}),
        }
        settings["train_on"] = request["train_on"]
        settings["train_runs"] = [run["sha256"][:12] for run in sources]
    call = {
        "function": "fuse_runs",
        "settings": {
            "paths": [str(path.absolute()) for path in weights],
            **(described if choice is None else request),
            "depth": depth,
            "tag": tag,
        },
    }
    return run_metadata(
        tag=tag,
        command=shlex.join(command) or expression(call),
        method=Method(retrieval=[Step.model_validate(step)], settings=settings),
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
