"""From what a run was told to what it works with: systems, collections, and where they learn.

Names are resolved and checked before anything is built; `run`, `explain` and `train` share this,
so that what is explained is what ran.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.errors import InputError, listing
from irplatform.experiment.learning import (
    all_to_learn_from,
    check_cross_validation,
    check_same_documents,
    find_candidates,
    find_training,
    to_fuse_on,
)
from irplatform.experiment.pretraining import declared_pretraining, pretraining_set
from irplatform.experiment.settings import RunSettings, on_device, undecided_resources
from irplatform.experiment.systems import resolve_learning_systems
from irplatform.reranking.candidates import search
from irplatform.reranking.training_set import LearningPlan
from irplatform.retrieval.fusion import AUTO, Fusion
from irplatform.retrieval.run_as_first_stage import source_of
from irplatform.system.console import notice
from irplatform.training.distributed import training_processes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import Collection, Qrels
    from irplatform.experiment.learning import TrainingCandidates
    from irplatform.experiment.systems import Systems
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.candidates import Candidates
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.candidates import CandidateSource
    from irplatform.retrieval.first_stage import ChosenRetriever


_DEEP = 10_000
"""Beyond this depth the documents are counted, which opens the index."""


@dataclass(frozen=True)
class RunPlan:
    """What a run was told, resolved and checked.

    Attributes:
        settings: as they were given.
        plugins: where names are looked up.
        collection: what is searched.
        qrels: its judgments, where it has some and is evaluated.
        retrievers: the first stage.
        rerankers: what reranks.
        source: where candidates come from.
        resources: the harness's resources; their device is to be looked for, see `on_device`.
        training: the collection to learn from, where something learns from one.
        folds: whether rerankers are cross-validated over the collection's own topics.
    """

    settings: RunSettings
    plugins: Registry
    collection: Collection
    qrels: Qrels | None
    retrievers: Sequence[ChosenRetriever]
    rerankers: Sequence[ChosenReranker]
    source: CandidateSource
    resources: CollectionResources
    training: Collection | None = None
    folds: bool = False

    @property
    def learns(self) -> bool:
        """Whether rerankers, or their weights, have to be learned."""
        return bool(self.learning)

    @property
    def learning(self) -> list[ChosenReranker]:
        """The rerankers that are trained, or whose weights are chosen; a checkpoint has both."""
        trains = self.settings.checkpoint is None
        weighs = self.settings.interpolate is None
        return [c for c in self.rerankers if (trains if c.trainable else weighs)]

    def on_device(self) -> RunPlan:
        """The same, ready to compute where the settings say; it may load torch and models.

        Raises:
            InputError: there is no such device, there are too few for a training in several
                processes, or what a reranker learns from beside topics is not there.
        """
        for choice in self.rerankers:
            choice.check_training()
        resources = on_device(self.resources, self.settings, self.retrievers)
        if self.settings.checkpoint is None and any(choice.trainable for choice in self.rerankers):
            training_processes(resources.device)  # not after hours of searching
        return replace(self, resources=resources)

    @property
    def fuses(self) -> bool:
        """Whether weights of several retrievers have to be learned."""
        return len(self.retrievers) > 1 and self.settings.fusion == AUTO


def resolve(settings: RunSettings, plugins: Registry) -> RunPlan:
    """Resolve and check what a run was told.

    Raises:
        InputError: a wrong name, option or file.
    """
    systems = resolve_learning_systems(settings, plugins)
    collection = systems.collection
    train_on = [plugins.collection(name) for name in settings.train_on]
    qrels = (collection.load_qrels() or None) if collection.load_qrels else None
    _refuse_other_judgments(collection, qrels)
    resolved = _resolved(settings, plugins, systems, qrels)
    if not (resolved.learns or resolved.fuses):
        if train_on:
            raise InputError(
                "--train-on has no effect: no reranker learns, and --interpolate says what share "
                "the first stage has."
            )
        return resolved
    training = find_training(collection, train_on)
    if training is not None and resolved.learns:
        check_same_documents(training, collection.corpus)
    elif training is not None:
        training = to_fuse_on(training, collection, named=bool(train_on))
    folds = (
        resolved.learns
        and not training
        and check_cross_validation(collection, resolved.learning, qrels)
    )
    return replace(resolved, training=training, folds=folds)


def _refuse_other_judgments(collection: Collection, qrels: Qrels | None) -> None:
    """Refuse judgments that are of none of the topics: every run would score 0."""
    topics = [topic.id for topic in collection.load_topics()]
    if qrels and topics and qrels.keys().isdisjoint(topics):
        raise InputError(
            f"none of the {len(topics):,} topics of '{collection.id}' ({listing(topics)}) is among "
            f"the {len(qrels):,} judged ones ({listing(qrels)}): its topics and judgments do not "
            "belong together."
        )


def resolve_training(settings: RunSettings, plugins: Registry) -> RunPlan:
    """Resolve and check what a training was told: its collection is the one to learn from.

    With `train_on`, the topics of these collections are learned from as well.

    Raises:
        InputError: a wrong name, option or file, a collection without judgments, or collections
            that cannot be learned from together.
    """
    if settings.checkpoint is not None:
        raise InputError("--checkpoint has no effect: training makes one.")
    systems = resolve_learning_systems(settings, plugins)
    for choice in systems.rerankers:
        if not choice.trainable:
            raise InputError(f"'{choice.name}' does not learn: it needs no training.")
    others = [plugins.collection(name) for name in settings.train_on]
    training = all_to_learn_from([systems.collection, *others])
    return replace(_resolved(settings, plugins, systems, None), training=training)


def _resolved(
    settings: RunSettings, plugins: Registry, systems: Systems, qrels: Qrels | None
) -> RunPlan:
    """What was told, but for what to learn from."""
    source = source_of(settings.candidates)
    source.refuse(systems.collection)
    return RunPlan(
        settings=settings,
        plugins=plugins,
        collection=systems.collection,
        qrels=qrels,
        retrievers=systems.retrievers,
        rerankers=systems.rerankers,
        source=source,
        resources=undecided_resources(settings, systems.collection),
    )


def candidates_of(resolved: RunPlan, taken: Sequence[str] = ()) -> Candidates:
    """Search for the topics of a collection that is indexed and whole.

    Args:
        resolved: what is run.
        taken: names that a run file that is the first stage must not have, beside the rerankers'.

    Raises:
        InputError: the source of candidates does not fit the collection.
    """
    depth = resolved.settings.depth
    if depth > _DEEP and depth > (count := resolved.resources.index().count):
        notice(f"--depth {depth} is more than the documents: all {count:,} are looked at")
        depth = max(count, 1)
    return search(
        resolved.collection,
        resolved.retrievers,
        depth,
        resolved.settings.rerank_depth,
        resolved.resources,
        source=resolved.source,
        names=[*resolved.settings.rerankers, *taken],
    )


def search_training_topics(resolved: RunPlan) -> tuple[TrainingCandidates | None, Fusion]:
    """Search for the training topics, and find out from them how to fuse the retrievers.

    Raises:
        InputError: the training collection has other documents.
    """
    training = resolved.training
    if training is None:
        return None, Fusion()
    source = resolved.source if training is resolved.collection else resolved.source.for_training()
    if source is not resolved.source:
        found_by = ", ".join(resolved.settings.retrievers)
        notice(f"{training.id}: not in the run; {found_by} finds candidates of these topics")
    candidates = find_candidates(
        training,
        resolved.retrievers,
        resolved.settings.depth,
        resolved.settings.rerank_depth,
        resolved.resources,
        source=source,
    )
    return candidates, candidates.fusion() if resolved.fuses else Fusion()


def training_source_of(
    resolved: RunPlan, candidates: TrainingCandidates | None, fusion: Fusion
) -> LearningPlan:
    """What rerankers learn from, pre-training included.

    Raises:
        InputError: pre-training cannot be done with these documents.
    """
    settings = resolved.settings

    def learned_before(name: str | None) -> TrainingSet | None:
        return pretraining_set(
            name,
            resolved.collection,
            resolved.plugins,
            resolved.retrievers,
            resolved.resources,
            fusion,
            queries=settings.pretrain_queries,
        )

    declared = None
    if settings.pretrain is None and resolved.learns:
        declared = declared_pretraining(resolved.collection, resolved.learning, learned_before)
    training_set = None
    if candidates and resolved.learns:
        training_set = candidates.training_set(fusion, resolved.resources).with_validation_apart()
    return LearningPlan(
        training_set=training_set,
        checkpoint=settings.checkpoint,
        folds=resolved.folds,
        pretraining=learned_before(settings.pretrain),
        declared=declared,
    )
