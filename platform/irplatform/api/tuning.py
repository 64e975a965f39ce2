"""A search for options on training topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform import pipeline, training_topics
from irplatform.api.arguments import names
from irplatform.api.settings import TuneSettings, resources_for, settings_of
from irplatform.api.systems import resolve_systems
from irplatform.choices import choose_systems, refuse_idle_plan
from irplatform.console import notice, waiting
from irplatform.devices import settings_kept
from irplatform.errors import InputError
from irplatform.evaluation.gain import NDCG, NDCG_OF_LEVELS
from irplatform.evaluation.judgments import of_collection
from irplatform.registry import registry
from irplatform.reranking.evaluated_topics import warning_of_tuning
from irplatform.retrieval.fusion import Fusion
from irplatform.tuning import (
    Plan,
    TunedSystem,
    TuneReport,
    read_space,
    usable_topics,
)
from irplatform.tuning import tune as run_tuning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.api.arguments import AnyPath, Names
    from irplatform.api.settings import RunSettings
    from irplatform.api.systems import Systems
    from irplatform.collections import Collection
    from irplatform.plugin import Topic
    from irplatform.registry import Registry
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import RetrieverChoice
    from irplatform.tuning.space import Dimension


@settings_kept()
def tune(settings: RunSettings | AnyPath, tuning: TuneSettings | Names) -> TuneReport:
    """Choose options of retrievers, or of a reranker, on training topics.

    The topics are those of the collection's training partner, since its own are for testing.

    Args:
        settings: the systems, or a collection; `settings` stay as they are, `measures` has one
            name at most.
        tuning: what is searched, and how; or options with their ranges.

    Raises:
        InputError: a wrong name, option, range or file, no topics to tune on, or several
            rerankers.
    """
    settings = settings_of(settings)
    if not isinstance(tuning, TuneSettings):
        tuning = TuneSettings(names(tuning, "tuning"))
    if len(settings.rerankers) > 1:
        raise InputError(
            f"{', '.join(settings.rerankers)}: one reranker is tuned at a time; name one."
        )
    plugins = registry()
    with waiting(f"reading {settings.collection}"):
        systems = resolve_systems(settings, plugins).expanded()
    training_topics.check_repetitions(settings.seeds, settings.members, systems.rerankers)
    collection = systems.collection
    refuse_idle_plan(systems.retrievers, systems.rerankers, _names(tuning.over))
    fixed = {**systems.given, **_expansion(systems.retrievers)}
    system_settings = {**fixed, **_one_plan(settings.retrievers, tuning.over)}
    dimensions = read_space(
        plugins,
        settings.retrievers,
        settings.rerankers,
        system_settings,
        tuning.over,
        list(systems.told),
    )
    train_on = [plugins.collection(name) for name in tuning.train_on]
    tuning_collection = training_topics.topics_to_tune_on(
        collection, train_on, itself=tuning.on_these_topics
    )
    _check_fit(
        [*tuning_collection.load_topics(), *collection.load_topics()],
        systems,
        system_settings,
        dimensions,
    )
    system = _tuned_system(settings, tuning, plugins, systems, tuning_collection, system_settings)
    pipeline.refuse_broken_corpus(tuning_collection, system.judgments.qrels, system.resources)
    for choice in system.retrieving():
        choice.about(system.topics, system.resources)
    if tuning_collection.id != collection.id and (
        warning := warning_of_tuning(collection.load_topics(), system.topics)
    ):
        notice(warning)
    return run_tuning(
        system,
        dimensions,
        Plan(tuning.trials, tuning.refine, tuning.folds, settings.seed),
        label=tuning_collection.id,
        collection=collection.id,
        fixed=fixed,
        command=settings.command,
    )


_OF_JUDGMENTS = ("NumQ", "NumRel")
"""Measures that are the same for all runs."""


def _names(over: Sequence[str]) -> list[str]:
    """The options that `--over` names, without their ranges."""
    return [option.partition("=")[0] for option in over]


def _tuned_system(
    settings: RunSettings,
    tuning: TuneSettings,
    plugins: Registry,
    systems: Systems,
    tuning_collection: Collection,
    system_settings: Mapping[str, object],
) -> TunedSystem:
    """What is tuned, over the topics of the collection that is used for it.

    Raises:
        InputError: there are no judgments, a wrong measure, or too few topics.
    """
    usual = NDCG_OF_LEVELS if NDCG_OF_LEVELS in tuning_collection.measures else NDCG
    measures = settings.measures or (usual,)
    for measure in measures:
        if measure.strip().partition("(")[0] in _OF_JUDGMENTS:
            raise InputError(
                f"no option changes '{measure}', which counts topics or their relevant documents. "
                "Tune by another measure."
            )
    judgments = of_collection(tuning_collection, measures, plugins.measures)
    topics = usable_topics(tuning_collection.load_topics(), judgments, tuning.topics, settings.seed)
    resources = resources_for(settings, tuning_collection, systems.retrievers)
    return TunedSystem(
        plugins=plugins,
        retrievers=settings.retrievers,
        rerankers=settings.rerankers,
        settings=system_settings,
        topics=topics,
        judgments=judgments,
        depth=settings.depth,
        rerank_depth=settings.rerank_depth,
        interpolate=settings.interpolate,
        resources=resources,
        members=settings.members,
        declared=_declared_pretraining(tuning_collection, systems, resources, settings),
        sampled=tuning_collection.sampled_qrels,
        fusion=settings.fusion,
    )


def _check_fit(
    topics: Sequence[Topic],
    systems: Systems,
    system_settings: Mapping[str, object],
    dimensions: Sequence[Dimension],
) -> None:
    """See that retrievers' options fit topics, whatever is tried, and that systems can be used."""
    for reranker in systems.rerankers:
        reranker.check()
        reranker.check_training()
    first = [choice.name for choice in systems.retrievers]
    second = [choice.name for choice in systems.rerankers]
    for trial in ({}, *({d.name: value} for d in dimensions for value in d.values())):
        retrievers, _ = choose_systems(registry(), first, second, {**system_settings, **trial})
        for choice in retrievers:
            choice.check_topics(topics)
            choice.describe()


def _declared_pretraining(
    collection: Collection, systems: Systems, resources: CollectionResources, settings: RunSettings
) -> TrainingSet | None:
    """What a reranker learns from before, as in a run where nobody says."""

    def learned_before(name: str) -> TrainingSet | None:
        return training_topics.pretraining_set(
            name,
            collection,
            registry(),
            systems.retrievers,
            resources,
            Fusion(),
            queries=settings.pretrain_queries,
        )

    return training_topics.declared_pretraining(collection, systems.rerankers, learned_before)


def _expansion(retrievers: Sequence[RetrieverChoice]) -> Mapping[str, object]:
    """As settings, what retrievers expand queries with: rerankers may ask for it, as in a run."""
    expansions = {choice.name: getattr(choice.options, "expand", ()) for choice in retrievers}
    return {f"{name}.expand": list(bases) for name, bases in expansions.items() if bases}


def _one_plan(retrievers: Sequence[str], over: Sequence[str]) -> Mapping[str, object]:
    """Settings that let every topic be searched with the plan that is tried.

    Otherwise topics that the default plan was chosen on would have weights of their own with the
    defaults, and with no other trial.
    """
    return {
        f"{name}.plan.held_out": False
        for name in retrievers
        if any(option.startswith((f"{name}.plan.", "plan.")) for option in over)
    }
