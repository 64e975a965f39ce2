"""The story of a run: plan, retrieve, learn, rerank, record. `train` stops half-way.

The chapters stand below; `explain` and `tune` use them, too.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from irplatform.errors import InputError
from irplatform.evaluation.judgments import measures_of
from irplatform.experiment.arguments import as_path
from irplatform.experiment.calls import (
    call_of,
    command_text,
    describe_data,
    inputs_of,
    neural_systems,
)
from irplatform.experiment.experiment_file import settings_of
from irplatform.experiment.keywords import RunOptions, TrainOptions
from irplatform.experiment.learning import (
    declared_pretraining,
    pretraining_set,
    training_candidates,
    warning_of_fields,
)
from irplatform.experiment.matrix import naming_experiment, run_matrix
from irplatform.experiment.plan import (
    plan_run,
    plan_training,
    planned_runs,
    refuse_own_candidates,
    show_reading,
)
from irplatform.experiment.recorder import RERANKING, Recorder
from irplatform.experiment.resources import SEARCHING, refuse_broken_corpus
from irplatform.experiment.run_settings import one_reranker
from irplatform.experiment.settings import DeclaredSettings
from irplatform.experiment.topics import chosen_topics
from irplatform.files.costs import Cost, Work, measured, processor_seconds, record
from irplatform.files.writing import copy_folder, writable_folder
from irplatform.plugin.hooks import RunEvent
from irplatform.registry.loading import registry
from irplatform.registry.lookup import Registry
from irplatform.reranking.fitting import train_system
from irplatform.reranking.rerank import rerank_with_seeds
from irplatform.reranking.training_set import LaterTrainingSet, LearningPlan, seeds_of
from irplatform.reranking.warnings import warning_of_fusion
from irplatform.run_folder.campaigns import describe_folder
from irplatform.run_folder.folder import alone_in
from irplatform.run_folder.metadata_model import Data, Method, RunMetadata
from irplatform.settings import with_keywords
from irplatform.spelling import option
from irplatform.system.arithmetic import settings_kept
from irplatform.system.console import notice, place, section, sections, without_repeats
from irplatform.training.checkpoints import Checkpoint
from irplatform.workers.distribution import use_workers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.experiment.arguments import (
        AnyCollection,
        AnyPath,
        AnySystem,
        Collections,
        Systems,
    )
    from irplatform.experiment.plan import RunPlan
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.plugin.rerankers import Reranker
    from irplatform.reports.matrix import MatrixReport
    from irplatform.reports.run_report import RunReport
    from irplatform.reports.system_result import SystemResult
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.retrieval.candidates import Candidates
    from irplatform.retrieval.fusion import Fusion

_DEEP = 10_000
"""Beyond this depth the documents are counted, which opens the index."""


@with_keywords(RunOptions, DeclaredSettings)
@settings_kept()
def run(
    collection: RunSettings | Collections | None = None,
    rerankers: Systems[Reranker] | None = None,
    *,
    plugins: Registry | None = None,
    **options: Unpack[RunOptions],
) -> RunReport | MatrixReport:
    """Take a collection to scored runs.

    Args:
        collection: a name, a path, an ir_datasets id or a `Collection`; or `RunSettings`.
        rerankers: names, classes or objects of rerankers; a mapping of label to one gives them
            labels. Without any, the first stage is the result.
        plugins: where names are looked up; by default all installed plugins.
        options: the options of `platform run`; see `RunSettings`.

    Returns:
        The runs with their scores. It shows itself as a table, and gives frames and comparisons.
        Several collections or first stages make a matrix of them.

    Raises:
        InputError: a wrong name, option or file, nearly always found before anything is
            written; errors of training topics are found after the first stage.
        PlatformError: something failed on the way. Finished runs are kept, and the same call
            goes on from there.

    Examples:
        >>> import irplatform as ir
        >>> class Longest(ir.Reranker):
        ...     '''Ranks longer documents first.'''
        ...     def score(self, topic, documents):
        ...         return [len(document.text) for document in documents]
        >>> report = ir.run("demo", rerankers=["bm25-text", Longest])
        >>> [system.name for system in report.systems]
        ['bm25', 'bm25-text', 'longest']
    """
    began = time.monotonic()
    settings = settings_of(collection, options, rerankers=rerankers)
    if plugins is not None and not isinstance(plugins, Registry):
        raise InputError(f"plugins is {plugins!r}, not a registry; `rerankers=` names rerankers.")
    plugins = plugins or registry()
    with use_workers(settings.workers):
        if settings.is_matrix:
            return run_matrix(settings, plugins, _recorder, run_plan)
        with naming_experiment(settings, plugins):
            plan = plan_run(settings, plugins)
            recorder = _recorder(plan)
        start = Cost(Work("start"), processor_seconds(), time.monotonic() - began)
        report = run_plan(plan, recorder)
        if settings.command:
            record(start)
        return report


@settings_kept()
def run_again(settings: RunSettings, name: str | None = None) -> list[str]:
    """Make the runs of a command, or one of them and those that it starts from.

    Returns:
        The names of the systems that the one run does not need.
    """
    plan = plan_run(settings, registry())
    needed = plan if name is None else plan.needed_for(name)
    run_plan(needed, _recorder(needed))
    return [system for system in plan.systems if system not in needed.systems]


@settings_kept()
def rank_unscored(settings: RunSettings) -> SystemResult:
    """Rank a collection that a command made, without judgments; return the last system."""
    with use_workers(settings.workers):
        plan = plan_run(settings, registry())
        recorder = _recorder(plan)
        recorder.expects_judgments = False
        return run_plan(plan, recorder).systems[-1]


def run_plan(plan: RunPlan, recorder: Recorder) -> RunReport:
    """Carry out a plan; the recorder has its folder."""
    settings = plan.settings
    with alone_in(plan.run_dir), measured(Work("other", plan.collection.id)) as meter:
        # Other runs in the folder are refused before torch is loaded.
        recorder.plan(planned_runs(plan, recorder.data), force=settings.force)
        plan = plan.on_device()
        recorder.plan(planned_runs(plan, recorder.data), force=settings.force)
        with _underway(plan, recorder):
            recorder.warn(refuse_broken_corpus(plan.collection, plan.qrels, plan.resources))
            report = recorder.report(_rank(plan, recorder))
            describe_folder(plan.run_dir, recorder.runs)
            variant = "made" if meter.within else "known"
            meter.work = replace(meter.work, variant=variant)
            return report


def _rank(plan: RunPlan, recorder: Recorder) -> Candidates:
    """Rank the topics with the first stage of a plan, learn, rerank, and record all runs.

    Returns the candidates that were reranked.
    """
    candidates = retrieve(plan)
    recorder.add_retrieved(candidates, plan.resources)
    training = retrieve_training(plan)
    recorder.warn(*warnings_of_training(plan, candidates, training))
    fusion = choose_fusion(plan, training)
    candidates = candidates.fused(fusion)
    recorder.add_fused(candidates, plan.resources)
    learning, seeds = learning_plan(plan, training, fusion), plan.settings.seeds
    for number, choice in enumerate(plan.rerankers):
        runs = rerank_with_seeds(
            choice, candidates, learning, plan.resources, seeds, only=plan.only_seed
        )
        with place("reranker", number, len(plan.rerankers)):
            recorder.add_reranked(choice.name, candidates, runs)
    return candidates


@show_reading
def _recorder(plan: RunPlan) -> Recorder:
    settings, collection, measures = plan.settings, plan.collection, plan.plugins.measures
    names = measures_of(collection, settings.measures, measures, plan.qrels)
    writable_folder(plan.run_dir)
    refuse_own_candidates(plan)
    part = chosen_topics(collection, settings.topics)
    data = Data(inputs=inputs_of(plan))
    if part:
        data = data.having(topics_chosen=part)
    if plan.training is not None:
        judged = plan.training.qrels if plan.training.load_qrels else None
        data = data.having(training_data=describe_data(plan.training, judged))
    return Recorder(
        collection,
        plan.qrels,
        names,
        measures,
        plan.run_dir,
        settings.tag,
        command_text(settings),
        call_of(settings),
        RunMetadata(data=data, method=Method(neural=neural_systems(plan))),
        settings.compress,
    )


@contextmanager
def _underway(plan: RunPlan, recorder: Recorder) -> Iterator[None]:
    """Show one progress bar, and tell plugins when a run starts and ends."""
    names = (*plan.first_stage.retrievers, *plan.settings.labels)
    event = RunEvent(plan.collection.id, names, plan.run_dir)
    plan.plugins.announce("run_started", event)
    with sections(3 * SEARCHING + len(plan.rerankers) * RERANKING), without_repeats("left out"):
        yield
    finished = replace(event, results=recorder.results, runs=recorder.runs)
    plan.plugins.announce("run_finished", finished)


@with_keywords(TrainOptions, DeclaredSettings)
@settings_kept()
def train(
    collection: RunSettings | AnyCollection | None = None,
    reranker: AnySystem[Reranker] | None = None,
    *,
    out: AnyPath | None = None,
    **options: Unpack[TrainOptions],
) -> dict[str, Any]:
    """Train a reranker on the topics of a collection.

    Args:
        collection: the training collection; or `RunSettings` with one reranker.
        reranker: a name, a class or an object.
        out: a folder to copy the checkpoint to; it must not exist.
        options: the options of `platform train`; see `RunSettings`.

    Returns:
        The checkpoint's description and its `path`.

    Raises:
        InputError: a wrong name, option or file, or a collection without judgments.

    Examples:
        >>> import irplatform as ir
        >>> trained = ir.train("demo-train", "mbm", members=1, out="my-mbm")
        >>> trained["path"], trained["topics"]
        ('my-mbm', 40)
    """
    settings = settings_of(collection, options, rerankers=reranker)
    one_reranker(settings, "train")
    if out is not None:
        out = as_path(out, "out")
        if out.exists():
            raise InputError(
                "this exists already; choose another folder for the checkpoint.", path=out
            )
        writable_folder(out)
    plan = plan_training(settings, registry())
    with use_workers(settings.workers):
        plan = plan.on_device()
        (choice,) = plan.rerankers
        training = retrieve_training(plan)
        learning = learning_plan(plan, training, choose_fusion(plan, training))
        assert learning.training_set is not None  # `plan_training` says what to learn from
        pretraining = learning.pretraining_of(choice)
        checkpoint = train_system(choice, learning.training_set, plan.resources, pretraining)
    if out is not None:
        copy_folder(checkpoint.path, out)
    path = out or checkpoint.path
    return {"path": str(path), **Checkpoint.read(path).description}


@section(SEARCHING)
def retrieve(plan: RunPlan) -> Candidates:
    """Search for the topics of a collection that is indexed and whole.

    Raises:
        InputError: the source of candidates does not fit the collection.
    """
    first_stage, depth = plan.first_stage, plan.settings.depth
    if depth > _DEEP and depth > (count := plan.resources.index().count):
        notice(f"{option('depth', depth)} is more than the documents: all {count:,} are looked at")
        first_stage = replace(first_stage, depth=max(count, 1))
    candidates = first_stage.candidates(plan.collection, plan.resources, plan.reserved_names)
    depths = filter(None, (candidates.depth, plan.settings.written_depth))
    return replace(candidates, qrels=plan.qrels or {}, depth=min(depths, default=None))


@section(SEARCHING)
def retrieve_training(plan: RunPlan) -> Candidates | None:
    """Search for the training topics; None if nothing is learned from any.

    Raises:
        InputError: the training collection has other documents.
    """
    training, first_stage = plan.training, plan.first_stage
    if training is None:
        return None
    if training is not plan.collection:
        first_stage = first_stage.for_training(training)
    if first_stage is not plan.first_stage:
        names = ", ".join(first_stage.retrievers)
        notice(f"{training.id}: not in the run; {names} finds candidates of these topics")
    return training_candidates(training, first_stage, plan.resources)


def choose_fusion(plan: RunPlan, training: Candidates | None) -> Fusion:
    """Return the fusion that suits the training topics, or has equal weights."""
    if training is None or not plan.fuses:
        return plan.fusion
    return training.drawn(plan.settings.train_topics, plan.settings.seed).learned_fusion()


def warnings_of_training(
    plan: RunPlan, candidates: Candidates, training: Candidates | None
) -> list[str]:
    """Warn where training topics do not suit the evaluated ones, and return the warnings."""
    if training is None:
        return []
    learned_on = training.drawn(plan.settings.train_topics, plan.settings.seed).judged_topics
    learns = any(choice.trainable for choice in plan.learning)
    fusion = warning_of_fusion(candidates.topics, learned_on) if plan.fuses else ""
    fields = warning_of_fields(candidates.topics, learned_on) if learns else ""
    warnings = [*filter(None, (fusion, fields))]
    for warning in warnings:
        plan.resources.notice(warning)
    return warnings


def learning_plan(plan: RunPlan, training: Candidates | None, fusion: Fusion) -> LearningPlan:
    """Plan what rerankers learn from, pre-training included.

    Raises:
        InputError: pre-training cannot be done with these documents.
    """
    settings = plan.settings
    learned_before = partial(
        pretraining_set,
        collection=plan.collection,
        plugins=plan.plugins,
        retrievers=plan.retrievers,
        resources=plan.resources,
        fusion=fusion,
        queries=settings.pretrain_queries,
    )
    declared = None
    if settings.pretrain is None and plan.learning:
        declared = declared_pretraining(plan.collection, plan.learning, learned_before)
    per_seed: dict[int, TrainingSet] = {}
    if training and plan.learning:
        for seed in seeds_of(settings.seed, settings.seeds if settings.train_topics else 1):
            drawn = training.drawn(settings.train_topics, seed).fused(fusion)
            per_seed[seed] = LaterTrainingSet(drawn, plan.resources)
    return LearningPlan(
        training_set=per_seed.get(settings.seed),
        checkpoint=settings.checkpoint,
        folds=plan.folds,
        pretraining=learned_before(settings.pretrain),
        declared=declared,
        interpolate=settings.interpolate,
        per_seed=per_seed,
    )
