"""From what a run was told to what it works with: systems, collections, and where they learn.

Names are resolved and checked before anything is built; `run`, `explain` and `train` share this,
so that what is explained is what ran.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform import pipeline, teaching
from irplatform.api.settings import RunSettings, resources_for
from irplatform.api.systems import resolve_learning_systems
from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.reranking.lessons import Teacher
from irplatform.retrieval.candidates import source_of
from irplatform.retrieval.fusion import AUTO, Fusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.api.systems import Systems
    from irplatform.collections import Collection, Qrels
    from irplatform.pipeline import Candidates
    from irplatform.registry import Registry
    from irplatform.reranking.lessons import Lessons
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.candidates import CandidateSource
    from irplatform.retrieval.first_stage import RetrieverChoice
    from irplatform.teaching import Studied


@dataclass(frozen=True)
class Asked:
    """What a run was told, resolved and checked.

    Attributes:
        settings: as they were given.
        plugins: where names are looked up.
        collection: what is searched.
        qrels: its judgments, where it has some and is evaluated.
        retrievers: the first stage.
        rerankers: what reranks.
        source: where candidates come from.
        resources: what the harness lends.
        training: the collection to learn from, where something learns from one.
        folds: whether rerankers are cross-validated over the collection's own topics.
    """

    settings: RunSettings
    plugins: Registry
    collection: Collection
    qrels: Qrels | None
    retrievers: Sequence[RetrieverChoice]
    rerankers: Sequence[RerankerChoice]
    source: CandidateSource
    resources: CollectionResources
    training: Collection | None = None
    folds: bool = False

    @property
    def learns(self) -> bool:
        """Whether rerankers, or their weights, have to be learned."""
        return bool(self.rerankers) and self.settings.checkpoint is None

    @property
    def fuses(self) -> bool:
        """Whether weights of several retrievers have to be learned."""
        return len(self.retrievers) > 1 and self.settings.fusion == AUTO


def ask(settings: RunSettings, plugins: Registry) -> Asked:
    """Resolve and check what a run was told.

    Raises:
        InputError: a wrong name, option or file.
    """
    systems = resolve_learning_systems(settings, plugins)
    collection, rerankers = systems.collection, systems.rerankers
    train_on = plugins.collection(settings.train_on) if settings.train_on else None
    qrels = collection.load_qrels() if collection.load_qrels else None
    asked = _asked(settings, plugins, systems, qrels)
    if not (asked.learns or asked.fuses):
        return asked
    training = teaching.find_training(collection, train_on)
    folds = asked.learns and not training and teaching.check_teacher(collection, rerankers, qrels)
    return replace(asked, training=training, folds=folds)


def ask_training(settings: RunSettings, plugins: Registry) -> Asked:
    """Resolve and check what a training was told: its collection is the one to learn from.

    Raises:
        InputError: a wrong name, option or file, or a collection without judgments.
    """
    if settings.checkpoint is not None:
        raise InputError("--checkpoint has no effect: training makes one.")
    systems = resolve_learning_systems(settings, plugins)
    for choice in systems.rerankers:
        if not choice.trainable:
            raise InputError(f"'{choice.name}' does not learn: it needs no training.")
    if systems.collection.load_qrels is None:
        raise InputError(f"'{systems.collection.id}' has no judgments to train on.")
    return replace(_asked(settings, plugins, systems, None), training=systems.collection)


def _asked(
    settings: RunSettings, plugins: Registry, systems: Systems, qrels: Qrels | None
) -> Asked:
    """What was told, but for what to learn from."""
    source = source_of(settings.candidates)
    source.refuse(systems.collection)
    return Asked(
        settings,
        plugins,
        systems.collection,
        qrels,
        systems.retrievers,
        systems.rerankers,
        source,
        resources_for(settings, systems.collection),
    )


def candidates_of(asked: Asked) -> Candidates:
    """Search for the topics of a collection that is indexed and whole.

    Raises:
        InputError: the source of candidates does not fit the collection.
    """
    return pipeline.search(
        asked.collection,
        asked.retrievers,
        asked.settings.depth,
        asked.settings.rerank_depth,
        asked.resources,
        source=asked.source,
        names=asked.settings.rerankers,
    )


def study(asked: Asked) -> tuple[Studied | None, Fusion]:
    """Search for the training topics, and find out from them how to fuse the retrievers.

    Raises:
        InputError: the training collection has other documents.
    """
    training = asked.training
    if training is None or not (
        asked.learns or teaching.same_documents(training, asked.collection)
    ):
        return None, Fusion()
    source = asked.source if training is asked.collection else asked.source.elsewhere()
    if source is not asked.source:
        found_by = ", ".join(asked.settings.retrievers)
        notice(f"{training.id}: the run has not its topics; {found_by} finds their candidates")
    studied = teaching.study(
        training,
        asked.retrievers,
        asked.settings.depth,
        asked.settings.rerank_depth,
        asked.resources,
        source=source,
    )
    return studied, studied.fusion() if asked.fuses else Fusion()


def teacher_of(asked: Asked, studied: Studied | None, fusion: Fusion) -> Teacher:
    """What rerankers learn from, pre-training included.

    Raises:
        InputError: pre-training cannot be done with these documents.
    """
    settings = asked.settings

    def learned_before(name: str | None) -> Lessons | None:
        return teaching.pretraining_lessons(
            name,
            asked.collection,
            asked.plugins,
            asked.retrievers,
            asked.resources,
            fusion,
            queries=settings.pretrain_queries,
        )

    declared = None
    if settings.pretrain is None and asked.learns:
        declared = teaching.declared_pretraining(asked.collection, asked.rerankers)
    lessons = studied.lessons(fusion) if studied and asked.learns else None
    return Teacher(
        lessons,
        settings.checkpoint,
        asked.folds,
        learned_before(settings.pretrain),
        learned_before(declared),
    )
