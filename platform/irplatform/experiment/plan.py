"""The plan of a run: systems, collections, training, and the files to write.

Names are resolved and checked before anything is built. `run`, `explain` and `train` share the
plan, so the system that is explained is the one that ran.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from irplatform.errors import InputError, listing
from irplatform.experiment.learning import (
    all_to_learn_from,
    check_cross_validation,
    check_pretraining,
    check_repetitions,
    check_same_documents,
    check_train_topics,
    find_training,
    to_fuse_on,
)
from irplatform.experiment.resources import undecided_resources, with_device
from irplatform.experiment.run_settings import label_and_name
from irplatform.experiment.systems import refuse_large_downloads, resolve_systems
from irplatform.experiment.topics import topics_folder
from irplatform.files.digests import digest, fingerprint
from irplatform.files.reading import readable_again
from irplatform.reranking.systems import recorded_options, tell_of_other_options
from irplatform.reranking.training_set import seeds_of
from irplatform.retrieval.first_stage import JUDGED, SCORED
from irplatform.retrieval.fusion import AUTO, Fusion
from irplatform.retrieval.retrievers import computing_facts
from irplatform.run_folder.resuming import code_and_content
from irplatform.runs.names import FUSED, alone_name, file_name, retriever_name, seed_of, system_of
from irplatform.settings import flat
from irplatform.spelling import option
from irplatform.system.console import waiting
from irplatform.training.checkpoints import Checkpoint
from irplatform.workers.distribution import cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Qrels
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.experiment.systems import Systems
    from irplatform.registry.dependencies import ChosenSystem
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.first_stage import FirstStage
    from irplatform.retrieval.retrievers import ChosenRetriever

P = ParamSpec("P")
T = TypeVar("T")

_DIGITS = 12
"""Digits of a hash that tell files apart."""


@dataclass(frozen=True)
class RunPlan:
    """The settings of a run, resolved and checked.

    There are judgments (`qrels`) where the run is evaluated, and a `training` collection where
    something learns from one. `folds` says that rerankers are cross-validated over the collection's
    own topics. `fusion` has equal weights. The device of the resources is chosen by `with_device`.
    `only_seed` is that of a plan for one run of several seeds.
    """

    settings: RunSettings
    plugins: Registry
    collection: Collection
    qrels: Qrels | None
    first_stage: FirstStage
    rerankers: Sequence[ChosenReranker]
    resources: CollectionResources
    fusion: Fusion
    training: Collection | None = None
    folds: bool = False
    only_seed: int | None = None

    @property
    def run_dir(self) -> Path:
        """The folder of the runs; those of some topics have their own."""
        topics = self.settings.topics
        usual = Path("runs") / self.collection.id
        return self.settings.run_dir or (usual / topics_folder(topics) if topics else usual)

    @property
    def retrievers(self) -> Sequence[ChosenRetriever]:
        """The retrievers of the first stage."""
        return self.first_stage.choices

    @property
    def reserved_names(self) -> list[str]:
        """Names that a run file used as the first stage must not have."""
        path = self.own_candidates
        return [*self.settings.labels, *([file_name(path)] if path else [])]

    @property
    def own_candidates(self) -> Path | None:
        """The run file that has the candidates, if it is in the folder of the runs."""
        path, folder = self.first_stage.path, Path(os.path.realpath(self.run_dir))
        return path if path is not None and path.parent.resolve() == folder else None

    @property
    def learning(self) -> list[ChosenReranker]:
        """The rerankers that are trained, or whose weights are chosen; a checkpoint has both."""
        trains = self.settings.checkpoint is None
        weighs = self.settings.interpolate is None
        return [c for c in self.rerankers if (trains if c.trainable else weighs)]

    @property
    def fuses(self) -> bool:
        """The weights of several retrievers have to be learned."""
        return len(self.retrievers) > 1 and self.settings.fusion == AUTO

    @property
    def systems(self) -> list[str]:
        """The names of the retrievers and rerankers."""
        return [*(c.name for c in self.retrievers), *(c.name for c in self.rerankers)]

    def needed_for(self, run: str) -> RunPlan:
        """Return the part of the plan that makes one run file: its system, and its first stage."""
        system = system_of(run)
        rerankers = [choice for choice in self.rerankers if choice.name == system]
        alone = [c for c in self.retrievers if run in (c.name, retriever_name(c.name))]
        choices = self.retrievers if rerankers else alone or self.retrievers
        plan = replace(
            self,
            rerankers=rerankers,
            first_stage=replace(self.first_stage, choices=choices),
            only_seed=seed_of(run) if rerankers else None,
        )
        return plan if plan.learning or plan.fuses else replace(plan, training=None, folds=False)

    def on_device(self) -> RunPlan:
        """Return the same plan, ready to compute; this may load torch and models.

        InputError if the device, or a file that a reranker reads, is missing.
        """
        for choice in self.rerankers:
            choice.check_training()
        resources = with_device(self.resources, self.settings, self.retrievers)
        if (machines := cluster()) is not None:
            index = resources.corpus.index_path
            systems: list[ChosenSystem[Any]] = [*self.retrievers, *self.rerankers]
            for system in systems:
                machines.require_files(system.name, [*system.files(), *([index] if index else [])])
        return replace(self, resources=resources)


def show_reading(function: Callable[P, T]) -> Callable[P, T]:
    """Show that the collection is read, while a function of settings or a plan works."""

    @wraps(function)
    def wrapper(*arguments: P.args, **more: P.kwargs) -> T:
        first: Any = arguments[0]
        settings = first.settings if isinstance(first, RunPlan) else first
        with waiting(f"reading {settings.collection}"):
            return function(*arguments, **more)

    return wrapper


@show_reading
def plan_run(settings: RunSettings, plugins: Registry) -> RunPlan:
    """Plan a run.

    Raises:
        InputError: a wrong name, option or file.
    """
    systems = resolve_learning_systems(settings, plugins)
    collection = systems.collection
    train_on = [plugins.collection(name) for name in settings.train_on]
    qrels = collection.qrels or None
    topics = [topic.id for topic in collection.topics]
    if qrels and topics and qrels.keys().isdisjoint(topics):  # every run would score 0
        raise InputError(
            f"none of the {len(topics):,} topics of '{collection.id}' ({listing(topics)}) is among "
            f"the {len(qrels):,} judged ones ({listing(qrels)}): its topics and judgments do not "
            "go together."
        )
    plan = _plan(settings, plugins, systems, qrels)
    if not (plan.learning or plan.fuses):
        training_options = {"train_on": train_on, "train_topics": settings.train_topics}
        for name in (name for name, value in training_options.items() if value):
            raise InputError(
                f"{option(name)} has no effect: no reranker learns, and {option('interpolate')} "
                "says what share the first stage has."
            )
        return plan
    training = find_training(collection, train_on)
    if training is not None and plan.learning:
        check_same_documents(training, collection.corpus)
    elif training is not None:
        training = to_fuse_on(training, collection, named=bool(train_on))
    check_train_topics(settings.train_topics, training, collection)
    folds = (
        bool(plan.learning)
        and not training
        and check_cross_validation(collection, plan.learning, qrels)
    )
    return replace(plan, training=training, folds=folds)


@show_reading
def plan_training(settings: RunSettings, plugins: Registry) -> RunPlan:
    """Plan a training: its collection, with those of `train_on`, is the one to learn from."""
    if settings.checkpoint is not None:
        raise InputError(f"{option('checkpoint')} has no effect: training makes one.")
    systems = resolve_learning_systems(settings, plugins)
    for choice in systems.rerankers:
        if not choice.trainable:
            raise InputError(f"'{choice.name}' does not learn: it needs no training.")
    others = [plugins.collection(name) for name in settings.train_on]
    training = all_to_learn_from([systems.collection, *others])
    check_train_topics(settings.train_topics, training, systems.collection)
    return replace(_plan(settings, plugins, systems, None), training=training)


def resolve_learning_systems(settings: RunSettings, plugins: Registry) -> Systems:
    """Choose systems, some of which may be trained, and check that they can be.

    InputError for an option without effect, or a large download without a question.
    """
    rerankers = [plugins.reranker(label_and_name(text)[1]) for text in settings.rerankers]
    recorded = recorded_options(settings.checkpoint, rerankers)
    systems = resolve_systems(settings, plugins, recorded=recorded)
    check_repetitions(settings.seeds, settings.members, systems.rerankers)
    tell_of_other_options(settings.checkpoint, recorded, systems.rerankers)
    check_pretraining(
        settings.pretrain,
        systems.collection,
        settings.checkpoint,
        systems.rerankers,
        plugins,
        queries=settings.pretrain_queries,
    )
    for choice in systems.rerankers:
        choice.check()
    scored = settings.first_stage.source == SCORED
    refuse_large_downloads(systems.collection, settings.collection, scored=scored)
    systems = systems.expanded()
    for retriever in systems.retrievers:
        retriever.check_topics(list(systems.collection.topics))
        retriever.describe()  # what it depends on and cannot have is refused before any work
    return systems


def _plan(
    settings: RunSettings, plugins: Registry, systems: Systems, qrels: Qrels | None
) -> RunPlan:
    first_stage = replace(settings.first_stage, choices=systems.retrievers)
    first_stage.refuse(systems.collection)
    return RunPlan(
        settings=settings,
        plugins=plugins,
        collection=systems.collection,
        qrels=qrels,
        first_stage=first_stage,
        rerankers=systems.rerankers,
        resources=undecided_resources(settings, systems.collection),
        fusion=Fusion.of(settings.fusion),
    )


def refuse_own_candidates(plan: RunPlan) -> None:
    """Refuse a run file of candidates that a reranker would overwrite."""
    path = plan.own_candidates
    if path and (system := system_of(file_name(path))) in plan.settings.labels:
        raise InputError(
            f"'{system}' would be written over these candidates. Give another folder with "
            f"{option('run_dir')}.",
            path=path,
        )


def planned_runs(plan: RunPlan, data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the run files that a command will write: name to the settings that decide its content.

    They are recorded with each run, so that a later command sees if it would replace a run that was
    made in another way. `data` has the collection's name and fingerprints of its parts.
    """
    settings, first_stage = plan.settings, plan.first_stage
    judged = first_stage.source == JUDGED
    path, source = first_stage.path, first_stage.source
    common: dict[str, Any] = {
        "collection": data["name"],
        "documents": data["documents"],
        "topics": data["topics"],
        "judgments": data["qrels"] if judged else None,
        "tag": settings.tag,
        "depth": None if judged else settings.depth,
        "candidates": file_fingerprint(path) if path else source,
        **({"written-depth": settings.written_depth} if settings.written_depth else {}),
        **({"only topics": list(settings.topics)} if settings.topics else {}),
        **({"identical ids": "left out"} if plan.collection.ignore_identical_ids else {}),
    }
    vectors = {
        "vectors": settings.vectors and file_fingerprint(settings.vectors),
        "vectors-text": [file_fingerprint(path) for path in settings.vectors_text],
    }
    retrieval = {c.name: _of_retriever(c, plan, vectors) for c in plan.retrievers}
    described = {choice.name: choice.describe() for choice in plan.retrievers}
    together: dict[str, Any] = {k: v for options in retrieval.values() for k, v in options.items()}
    judgments = (
        {"judgments": data["qrels"]} if plan.folds else {}
    )  # what is learned depends on them
    fused_by = {"fusion": settings.fusion, **_learned_on(plan, plan.fuses)}
    fused_by |= judgments if plan.fuses else {}
    if first_stage.is_ranked:
        runs = {first_stage.run_name(plan.reserved_names): common}
    else:
        runs = {
            name: {**common, **of_run, **code_and_content({name: described[name]})}
            for name, of_run in retrieval.items()
        }
        if len(retrieval) > 1:
            of_run = {**together, "retrievers": list(retrieval), **fused_by}
            runs[FUSED] = {**common, **of_run, **code_and_content(described)}
    together |= {"retrievers": list(retrieval), **(fused_by if len(retrieval) > 1 else {})}
    for choice in plan.rerankers:
        code = code_and_content({**described, choice.name: choice.describe()})
        learned = judgments if choice in plan.learning else {}
        of_run = {
            **common,
            **together,
            **vectors,
            **_of_reranker(choice, plan),
            **learned,
            **code,
        }
        seeds = seeds_of(settings.seed, settings.seeds if choice.trainable else 1)
        for seed in seeds:
            name = f"{choice.name}-seed{seed}" if len(seeds) > 1 else choice.name
            runs[name] = runs[alone_name(name)] = {**of_run, "seed": seed}
    return runs


def _of_retriever(
    choice: ChosenRetriever, plan: RunPlan, vectors: Mapping[str, Any]
) -> dict[str, Any]:
    registration = choice.registration
    reads_vectors = choice.traits.on_device or "vectors" in registration.option_names()
    return {
        **flat({choice.name: choice.options.model_dump(mode="json")}),
        **computing_facts(choice, plan.resources),
        **(vectors if reads_vectors else {}),
    }


def _of_reranker(choice: ChosenReranker, plan: RunPlan) -> dict[str, Any]:
    settings, resources = plan.settings, plan.resources
    learned: dict[str, Any] = {}
    if choice.trainable and settings.checkpoint is not None:
        description = Checkpoint.read(settings.checkpoint).description
        digits = fingerprint(description)[:_DIGITS]
        learned = {"checkpoint": f"{settings.checkpoint.name} ({digits})"}
    elif choice.trainable:
        learned = {
            "checkpoint": None,
            "members": settings.members,
            "pretrain": settings.pretrain,
            "pretrain-queries": settings.pretrain_queries,
        }
    registered = choice.registration.name
    return {
        **({"reranker": registered} if choice.name != registered else {}),
        **flat({choice.name: choice.options.model_dump(mode="json")}),
        "rerank-depth": settings.rerank_depth,
        "interpolate": "auto" if settings.interpolate is None else settings.interpolate,
        **_learned_on(plan, choice in plan.learning),
        "device": resources.device,
        "model-threads": resources.model_threads,
        **learned,
    }


def _learned_on(plan: RunPlan, learns: bool) -> dict[str, Any]:
    if not learns or plan.training is None:
        return {"train-on": "its own topics" if learns and plan.folds else None}
    number = plan.settings.train_topics
    return {"train-on": plan.training.id, **({"train-topics": number} if number else {})}


def file_fingerprint(path: Path) -> str:
    """Return a file's name with the beginning of its hash."""
    return f"{path.name} ({digest(readable_again(path))[:_DIGITS]})"
