"""`run` is the story of a run: choose, retrieve, rerank, write, score; `train` stops half-way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform import pipeline, teaching
from irplatform.api.asking import ask, candidates_of, study, teacher_of
from irplatform.api.settings import RunSettings, resources_for
from irplatform.choices import choose_systems, expanded_for, with_expansion_of
from irplatform.errors import InputError
from irplatform.evaluation import measures_of
from irplatform.plugin import RunEvent
from irplatform.registry import Registry, registry
from irplatform.reranking.fitting import pretrain
from irplatform.reranking.fitting import train as train_system
from irplatform.results import Recorder
from irplatform.retrieval.candidates import source_of
from irplatform.retrieval.fusion import AUTO, Fusion
from irplatform.storage import copy_folder, writable_folder
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from irplatform.reports.run_report import RunReport


def run(settings: RunSettings, plugins: Registry | None = None) -> RunReport:
    """Take a collection to scored runs.

    Raises:
        InputError: a wrong name, option or file; nothing has been written then.
        PlatformError: something failed on the way; what was finished is kept, and the same call
            goes on from there.
    """
    plugins = plugins or registry()
    asked = ask(settings, plugins)
    collection, qrels, resources = asked.collection, asked.qrels, asked.resources
    measures = measures_of(collection, settings.measures, plugins.measures)
    run_dir = writable_folder(settings.run_dir or Path("runs") / collection.id)
    recorder = Recorder(
        collection, qrels, measures, plugins.measures, run_dir, settings.tag, settings.command
    )
    names = [*settings.retrievers, *settings.rerankers]
    plugins.announce("run_started", RunEvent(collection.id, tuple(names), run_dir))

    pipeline.refuse_broken_corpus(collection, qrels, resources)
    indexed = dict(resources.seconds)
    candidates = candidates_of(asked)
    recorder.candidates = candidates.provenance
    first = candidates.first
    for found, made, seconds in zip(first.runs, first.descriptions, first.seconds, strict=True):
        recorder.add(found, [made], resources, {**indexed, **seconds})
        indexed = {}

    studied, fusion = study(asked)
    candidates = candidates.fused(fusion)
    first = candidates.first
    if len(first.runs) > 1:
        recorder.add(first.final, first.describe(), resources, {})

    teacher = teacher_of(asked, studied, fusion)
    baseline = first.final.name
    for choice in asked.rerankers:
        attempts = pipeline.rerank_with_seeds(
            choice, candidates, qrels, teacher, settings.interpolate, resources, settings.seeds
        )
        recorder.add_reranked(choice.name, attempts, first.describe(), baseline)

    report = recorder.report(baseline, [choice.name for choice in asked.rerankers])
    results = {system.name: system.measures for system in report.systems}
    plugins.announce("run_finished", RunEvent(collection.id, tuple(names), run_dir, results))
    return report


def train(settings: RunSettings, out: Path | None = None) -> dict[str, Any]:
    """Train a reranker on the topics of a collection.

    Args:
        settings: `collection` is what it learns from; `rerankers` names one.
        out: a folder to copy the checkpoint to; it must not exist.

    Returns:
        The checkpoint's description and its `path`.

    Raises:
        InputError: a wrong name, option or file, or a collection without judgments.
    """
    plugins = registry()
    collection = plugins.collection(settings.collection)
    given = with_expansion_of(collection, plugins, settings.retrievers, settings.settings)
    retrievers, (choice,) = choose_systems(
        plugins, settings.retrievers, settings.rerankers, given, settings.preset, settings.members
    )
    if not choice.trainable:
        raise InputError(f"'{choice.name}' does not learn: it needs no training.")
    teaching.check_pretraining(settings.pretrain, None, [choice], plugins)
    choice.describe()  # what it depends on and cannot have is refused before any work
    if out is not None:
        if out.exists():
            raise InputError(
                "this exists already; choose another folder for the checkpoint.", path=out
            )
        writable_folder(out)
    pipeline.refuse_silent_downloads(collection, settings.collection)
    retrievers = expanded_for([choice], retrievers, collection, given)
    if collection.load_qrels is None:
        raise InputError(f"'{collection.id}' has no judgments to train on.")
    source = source_of(settings.candidates)
    source.refuse(collection)
    resources = resources_for(settings, collection)
    studied = teaching.study(
        collection, retrievers, settings.depth, settings.rerank_depth, resources, source=source
    )
    fusion = studied.fusion() if settings.fusion == AUTO else Fusion()
    lessons = studied.lessons(fusion)
    pretraining = teaching.pretraining_lessons(
        settings.pretrain or teaching.declared_pretraining(collection, [choice]),
        collection,
        plugins,
        retrievers,
        resources,
        fusion,
        queries=settings.pretrain_queries,
    )
    start = pretrain(choice, pretraining, resources) if pretraining else None
    built = train_system(choice, lessons, resources, start=start)
    if out is not None:
        copy_folder(built.path, out)
    path = out or built.path
    return {"path": str(path), **Checkpoint.read(path).description}
