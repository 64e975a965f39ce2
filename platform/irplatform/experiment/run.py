"""`run` is the story of a run: choose, retrieve, rerank, write, score; `train` stops half-way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.evaluation.measures import measures_of
from irplatform.experiment import arguments
from irplatform.experiment.corpus import refuse_broken_corpus
from irplatform.experiment.learning import warning_of_fields
from irplatform.experiment.plan import (
    candidates_of,
    resolve,
    resolve_training,
    search_training_topics,
    training_source_of,
)
from irplatform.experiment.planned import planned_runs
from irplatform.experiment.recorder import Recorder
from irplatform.experiment.settings import RunSettings, one_reranker, settings_of
from irplatform.plugin.hooks import RunEvent
from irplatform.registry.loading import registry
from irplatform.registry.lookup import Registry
from irplatform.reranking.fitting import train as train_system
from irplatform.reranking.rerank import RerankingTask, rerank_with_seeds
from irplatform.reranking.warnings import warning_of_fusion
from irplatform.retrieval.run_as_first_stage import FromRun
from irplatform.runs.folder import alone_in
from irplatform.runs.run import system_of
from irplatform.system.console import parts, stage, waiting
from irplatform.system.devices import settings_kept
from irplatform.system.writing import copy_folder, writable_folder
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.experiment.arguments import AnyPath
    from irplatform.experiment.plan import RunPlan
    from irplatform.reports.run_report import RunReport

_SEARCHING, _RERANKING = 1, 4
"""Shares of the progress bar: of indexing and searching, and of each reranker."""


@settings_kept()
def run(
    settings: RunSettings | AnyPath | None = None, plugins: Registry | None = None, **options: Any
) -> RunReport:
    """Take a collection to scored runs.

    Args:
        settings: what to run, as the options of `platform run`; or a collection.
        plugins: where names are looked up; all that are installed by default.
        options: attributes of `RunSettings`, in its place or to change it.

    Returns:
        The table of the runs' measures and comparisons, as it is printed and written.

    Raises:
        InputError: a wrong name, option or file, nearly always found before anything is written;
            what only training topics can tell is found when the first stage is.
        PlatformError: something failed on the way; what was finished is kept, and the same call
            goes on from there.
    """
    settings = settings_of(settings, options)
    if plugins is not None and not isinstance(plugins, Registry):
        raise InputError(f"{plugins!r} is no registry of plugins; `rerankers=` names rerankers.")
    plugins = plugins or registry()
    reading = f"reading {settings.collection}"
    with waiting(reading):
        resolved = resolve(settings, plugins)
        collection, qrels = resolved.collection, resolved.qrels
        measures = measures_of(collection, settings.measures, plugins.measures, qrels)
    run_dir = writable_folder(settings.run_dir or Path("runs") / collection.id)
    candidate_runs = _candidates_in(run_dir, resolved)
    with alone_in(run_dir):
        with waiting(reading):
            tag, command = settings.tag, settings.command
            recorder = Recorder(
                collection, qrels, measures, plugins.measures, run_dir, tag, command
            )
            planned = planned_runs(resolved, recorder.data, candidate_runs)
        recorder.plan(planned, force=settings.force)
        resolved = resolved.on_device()
        recorder.plan(planned_runs(resolved, recorder.data, candidate_runs), force=settings.force)
        names = [*settings.retrievers, *settings.rerankers]
        event = RunEvent(collection.id, tuple(names), run_dir)
        plugins.announce("run_started", event)

        with parts(_SEARCHING + len(resolved.rerankers) * _RERANKING):
            report = _run(resolved, recorder, candidate_runs)
        results = {system.name: dict(system.measures) for system in report.systems}  # theirs
        plugins.announce("run_finished", replace(event, results=results, runs=recorder.runs))
    return report


def _run(resolved: RunPlan, recorder: Recorder, candidate_runs: Sequence[str]) -> RunReport:
    """Search, rerank and score; the progress bar has a part for each."""
    settings, collection, qrels = resolved.settings, resolved.collection, resolved.qrels
    resources = resolved.resources
    with stage("", _SEARCHING / 3):
        recorder.warn(refuse_broken_corpus(collection, qrels, resources))
    indexing_seconds = dict(resources.stopwatch.seconds)
    with stage("", _SEARCHING / 3):
        candidates = candidates_of(resolved, taken=candidate_runs)
    recorder.candidates = candidates.provenance
    first = candidates.first
    for each in first.retrievals:
        made_with = replace(resources, artifacts=dict(each.artifacts))
        seconds = {**indexing_seconds, **each.seconds}
        recorder.add(each.run, [each.description], made_with, seconds)
        indexing_seconds = {}

    with stage("", _SEARCHING / 3):
        training, fusion = search_training_topics(resolved)
    candidates = candidates.fused(fusion)
    first = candidates.first
    if training is not None:
        learned_on = training.judged_topics
        learns = any(choice.trainable for choice in resolved.learning)
        for warning in (
            warning_of_fusion(candidates.topics, learned_on) if resolved.fuses else "",
            warning_of_fields(candidates.topics, learned_on) if learns else "",
        ):
            if warning:
                resources.notice(warning)
                recorder.warn(warning)
    if len(first.retrievals) > 1:
        made_with = replace(resources, artifacts=first.used)
        recorder.add(first.cut(first.final), first.describe(), made_with, {})
    recorder.first_stage = first.fingerprint

    training_source = training_source_of(resolved, training, fusion)
    task = RerankingTask(candidates, training_source, qrels, settings.interpolate)
    baseline = first.final.name
    for choice in resolved.rerankers:
        with stage("", _RERANKING):
            attempts = rerank_with_seeds(choice, task, resources, settings.seeds)
            recorder.add_reranked(choice.name, attempts, first.describe(), baseline)
    names = [choice.name for choice in resolved.rerankers]
    depth = first.depth
    if isinstance(resolved.source, FromRun):  # which may end earlier
        deepest = max(map(len, first.final.rankings.values()), default=0)
        depth = min(resolved.settings.depth, deepest)
    return recorder.report(baseline, names, depth, candidates.most)


def _candidates_in(run_dir: Path, resolved: RunPlan) -> list[str]:
    """The name of the run that candidates come from, where it lies in the folder that is written.

    Raises:
        InputError: a reranker would write over it.
    """
    source = resolved.source
    if not isinstance(source, FromRun) or source.path.parent.resolve() != run_dir.resolve():
        return []
    name = source.path.stem
    system = system_of(name)
    if system in resolved.settings.rerankers:
        raise InputError(
            f"'{system}' would be written over these candidates. Give another folder with "
            "--run-dir.",
            path=source.path,
        )
    return [name]


@settings_kept()
def train(
    settings: RunSettings | AnyPath | None = None, out: AnyPath | None = None, **options: Any
) -> dict[str, Any]:
    """Train a reranker on the topics of a collection.

    Args:
        settings: `collection` is what it learns from, `rerankers` names one; or a collection.
        out: a folder to copy the checkpoint to; it must not exist.
        options: attributes of `RunSettings`, in its place or to change it.

    Returns:
        The checkpoint's description and its `path`.

    Raises:
        InputError: a wrong name, option or file, or a collection without judgments.
    """
    settings = settings_of(settings, options)
    one_reranker(settings, "train")
    if out is not None:
        out = arguments.path(out, "out")
        if out.exists():
            raise InputError(
                "this exists already; choose another folder for the checkpoint.", path=out
            )
        writable_folder(out)
    with waiting(f"reading {settings.collection}"):
        resolved = resolve_training(settings, registry())
    resolved = resolved.on_device()
    (choice,) = resolved.rerankers
    training, fusion = search_training_topics(resolved)
    training_source = training_source_of(resolved, training, fusion)
    assert training_source.training_set is not None  # `resolve_training` says what to learn from
    pretraining = training_source.pretraining_of(choice)
    checkpoint = train_system(choice, training_source.training_set, resolved.resources, pretraining)
    if out is not None:
        copy_folder(checkpoint.path, out)
    path = out or checkpoint.path
    return {"path": str(path), **Checkpoint.read(path).description}
