"""`platform tune`: tunes the options of systems on judged topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from pydantic_core import to_jsonable_python

from irplatform.errors import InputError, counted
from irplatform.evaluation.gain import NDCG, NDCG_OF_LEVELS
from irplatform.evaluation.judgments import of_collection
from irplatform.experiment.arguments import as_names
from irplatform.experiment.experiment_file import settings_of
from irplatform.experiment.keywords import TuneOptions
from irplatform.experiment.learning import (
    check_repetitions,
    declared_pretraining,
    pretraining_set,
    topics_to_tune_on,
)
from irplatform.experiment.resources import refuse_broken_corpus, resources_for
from irplatform.experiment.settings import DeclaredSettings
from irplatform.experiment.systems import choose_systems, refuse_idle_plan, resolve_systems
from irplatform.files.digests import fingerprint
from irplatform.files.journals import SUFFIX
from irplatform.files.locks import lock
from irplatform.files.writing import home
from irplatform.registry.loading import registry
from irplatform.reranking.warnings import warning_of_tuning
from irplatform.retrieval.candidates import draw
from irplatform.retrieval.first_stage import JUDGED, RETRIEVED, judged_pools
from irplatform.retrieval.fusion import Fusion
from irplatform.settings import with_keywords
from irplatform.spelling import option
from irplatform.system.arithmetic import arithmetic, settings_kept
from irplatform.system.console import notice, waiting
from irplatform.training.topic_identity import families
from irplatform.tuning.objective import TunedSystem
from irplatform.tuning.option_types import Declared, declarations
from irplatform.tuning.report import Progress, TuneReport
from irplatform.tuning.search import Plan, Trial, Trials, design, search
from irplatform.tuning.settings import TuneSettings
from irplatform.tuning.space import Span, read_space
from irplatform.workers.distribution import use_workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Topic
    from irplatform.evaluation.judgments import Judgments
    from irplatform.experiment.arguments import AnyCollection, AnySystem, Names
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.experiment.systems import Systems
    from irplatform.plugin.rerankers import Reranker
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.retrieval.retrievers import ChosenRetriever
    from irplatform.tuning.space import Dimension


FEWEST_TOPICS = 10
"""A choice on fewer judged topics is chance."""
_FORMAT = 3
_END = 0.06
"""Share of a range that counts as its end."""


@with_keywords(TuneOptions, DeclaredSettings)
@settings_kept()
def tune(
    collection: RunSettings | AnyCollection,
    over: TuneSettings | Names,
    *,
    reranker: AnySystem[Reranker] | None = None,
    trials: int = 30,
    refine: int = 0,
    folds: int = 5,
    topics: int | None = None,
    train_on: Names = (),
    on_these_topics: bool = False,
    **options: Unpack[TuneOptions],
) -> TuneReport:
    """Tune the options of retrievers or of a reranker on the topics of the training partner.

    Args:
        collection: a name, a path or a `Collection`; or `RunSettings`, whose `settings` stay fixed.
        over: options with their ranges, such as `["k1=0.5:2", "b"]`; or `TuneSettings`.
        reranker: whose options are tuned: a name, a class or an object.
        trials: settings to try, beside the defaults.
        refine: further trials around the best ones, for every fold and for the final choice.
        folds: of the estimate.
        topics: how many topics to use, drawn at random; None uses all.
        train_on: collections whose topics to use, in place of the collection's own partner.
        on_these_topics: use the topics of the collection itself.
        options: further options of `platform tune`; see `RunSettings`.

    Raises:
        InputError: a wrong name, option, range or file, no topics to tune on, or several rerankers.

    Examples:
        >>> import irplatform as ir
        >>> report = ir.tune("demo", "b=0.2,0.75", trials=2, folds=2, topics=12)
        >>> sorted(report.chosen)
        ['b']
    """
    settings = settings_of(collection, options, rerankers=reranker)
    tuning = over
    if not isinstance(tuning, TuneSettings):
        limits = trials, refine, folds, topics
        tuning = TuneSettings(as_names(tuning, "over"), *limits, train_on, on_these_topics)  # type: ignore[arg-type]
    if len(settings.rerankers) > 1:
        raise InputError(
            f"{', '.join(settings.rerankers)}: one reranker is tuned at a time; name one."
        )
    if (source := settings.first_stage.source) not in (RETRIEVED, JUDGED):
        raise InputError(
            f"{option('first_stages', source)} has no effect: options are tuned on "
            f"what retrievers find, or on the judged documents ({JUDGED})."
        )
    plugins = registry()
    with waiting(f"reading {settings.collection}"):
        systems = resolve_systems(settings, plugins).expanded()
    check_repetitions(settings.seeds, settings.members, systems.rerankers)
    collection = systems.collection
    searched = [option.partition("=")[0] for option in tuning.over]
    refuse_idle_plan(systems.retrievers, systems.rerankers, searched)
    expansions = {r.name: getattr(r.options, "expand", ()) for r in systems.retrievers}
    expanded = {f"{name}.expand": list(bases) for name, bases in expansions.items() if bases}
    fixed = {**systems.settings, **expanded}
    system_settings = {**fixed, **_one_plan(settings.first_stage.retrievers, tuning.over)}
    dimensions = read_space(
        plugins,
        settings.first_stage.retrievers,
        settings.rerankers,
        system_settings,
        tuning.over,
        list(systems.user_settings),
        settings.preset,
    )
    partners = [plugins.collection(name) for name in tuning.train_on]
    tuning_collection = topics_to_tune_on(collection, partners, itself=tuning.on_these_topics)
    if settings.index is not None and tuning_collection.corpus.same_documents(collection.corpus):
        tuning_collection = replace(tuning_collection, corpus=collection.corpus)
    topics_to_search = [*tuning_collection.topics, *collection.topics]
    _check_fit(topics_to_search, systems, system_settings, dimensions, settings.preset)
    with use_workers(settings.workers):
        arguments = plugins, systems, tuning_collection, system_settings
        system = _tuned_system(settings, tuning, *arguments)
        refuse_broken_corpus(tuning_collection, system.judgments.qrels, system.resources)
        for choice in system.retrieving():
            choice.describe_run(system.topics, system.resources)
        if tuning_collection.id != collection.id and (
            warning := warning_of_tuning(collection.topics, system.topics)
        ):
            notice(warning)
        return tune_system(
            system,
            dimensions,
            Plan(tuning.trials, tuning.refine, tuning.folds, settings.seed),
            label=tuning_collection.id,
            collection=collection.id,
            fixed=fixed,
            command=settings.command,
        )


def _tuned_system(
    settings: RunSettings,
    tuning: TuneSettings,
    plugins: Registry,
    systems: Systems,
    tuning_collection: Collection,
    system_settings: Mapping[str, object],
) -> TunedSystem:
    usual = NDCG_OF_LEVELS if NDCG_OF_LEVELS in tuning_collection.measures else NDCG
    measures = settings.measures or (usual,)
    judgments = of_collection(tuning_collection, measures, plugins.measures)
    topics = usable_topics(tuning_collection.topics, judgments, tuning.topics, settings.seed)
    resources = resources_for(settings, tuning_collection, systems.retrievers)
    judged = settings.first_stage.source == JUDGED
    pools = judged_pools(tuning_collection, resources)[0] if judged else None
    return TunedSystem(
        plugins=plugins,
        retrievers=settings.first_stage.retrievers,
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
        preset=settings.preset,
        pools=pools,
        folds=tuning.folds,
    )


def _check_fit(
    topics: Sequence[Topic],
    systems: Systems,
    system_settings: Mapping[str, object],
    dimensions: Sequence[Dimension],
    preset: str | None,
) -> None:
    """Check that systems can be used, and retrievers' options fit the topics in every trial."""
    for reranker in systems.rerankers:
        reranker.check()
        reranker.check_training()
    first = [choice.name for choice in systems.retrievers]
    second = [f"{system.name}={system.registration.name}" for system in systems.rerankers]
    for trial in ({}, *({d.name: value} for d in dimensions for value in d.values())):
        tried = {**system_settings, **trial}
        retrievers, _ = choose_systems(registry(), first, second, tried, preset)
        for choice in retrievers:
            choice.check_topics(topics)
            choice.describe()


def _declared_pretraining(
    collection: Collection, systems: Systems, resources: CollectionResources, settings: RunSettings
) -> TrainingSet | None:
    def learned_before(name: str) -> TrainingSet | None:
        return pretraining_set(
            name,
            collection,
            registry(),
            systems.retrievers,
            resources,
            Fusion(),
            queries=settings.pretrain_queries,
        )

    return declared_pretraining(collection, systems.rerankers, learned_before)


def _one_plan(retrievers: Sequence[str], over: Sequence[str]) -> Mapping[str, object]:
    """Settings that search every topic with the tried plan.

    The default plan has special weights for the topics that it was chosen on.
    """
    return {
        f"{name}.plan.held_out": False
        for name in retrievers
        if any(option.startswith((f"{name}.plan.", "plan.")) for option in over)
    }


def usable_topics(
    topics: Sequence[Topic], judgments: Judgments, most: int | None, seed: int
) -> list[Topic]:
    """Return the topics that the measure scores, or `most` of them at random.

    Raises:
        InputError: they are too few.
    """
    usable = [topic for topic in topics if judgments.is_scored(topic.id)]
    if most is not None:
        usable = draw(usable, most, seed)
    if (distinct := len(set(families(usable)))) < FEWEST_TOPICS:
        same = distinct == len(usable)
        remark = "" if same else f", of {distinct} different questions or sources"
        are = "is" if len(usable) == 1 else "are"
        raise InputError(
            f"there {are} {counted(len(usable), 'topic')} with a relevant document to tune on"
            f"{remark}; at least {FEWEST_TOPICS} are needed."
        )
    return usable


def tune_system(
    system: TunedSystem,
    dimensions: Sequence[Dimension],
    plan: Plan,
    *,
    label: str,
    collection: str,
    fixed: Mapping[str, object],
    command: Sequence[str] = (),
) -> TuneReport:
    """Search for the best options of a system on its topics.

    The topics are from the collection `label`, the options for `collection`. `fixed` are other
    options that were given.
    """
    if label != collection:
        notice(f"tuning on the topics of '{label}' for '{collection}'")
    names = [dimension.name for dimension in dimensions]
    first, second = choose_systems(
        system.plugins, system.retrievers, system.rerankers, system.settings, system.preset
    )
    declared = {name: _declared([*first, *second], name) for name in names}
    depends_on = {"format": _FORMAT, **system.depends_on(), **arithmetic()}
    journal = home() / "tune" / f"{label}-{fingerprint(depends_on)}{SUFFIX}"
    topics = [topic.id for topic in system.topics]
    journal.parent.mkdir(parents=True, exist_ok=True)
    with lock(journal, wait=True):
        if not system.resources.resume:
            journal.unlink(missing_ok=True)
        trials = Trials(system.describe, system.score, topics, journal)
        trials.finished = Progress(_to_run(trials, dimensions, plan), system.measure)
        values = tuple(declared[name].value for name in names)
        usual = values if None not in values else None
        outcome = search(dimensions, trials, topics, plan, usual, families(system.topics))
    return TuneReport(
        collection,
        label,
        system.measure,
        [*system.retrievers, *system.rerankers],
        names,
        {name: to_jsonable_python(option.value) for name, option in declared.items()},
        fixed,
        outcome,
        [d.name for d in dimensions if _at_end(d, declared[d.name], outcome.choice)],
        command,
    )


def _declared(systems: Sequence[ChosenRetriever | ChosenReranker], name: str) -> Declared:
    """A searched option; InputError if systems disagree on its default."""
    first, *others = declarations(systems, name)
    if other := next(
        (declaration for declaration in others if declaration.value != first.value), None
    ):
        raise InputError(
            f"{option('over', name)}: by default it is {first.value} for {first.system} and "
            f"{other.value} for {other.system}. Name one, as {other.system}.{name}."
        )
    return first


def _at_end(span: Dimension, declared: Declared, choice: Trial) -> bool:
    """Whether a value is at an end of the range that is inside the declared bounds."""
    if not isinstance(span, Span) or span.name not in choice.settings:
        return False
    place = span.position(choice.settings[span.name])
    low = place < _END and (declared.low is None or span.low > declared.low)
    high = place > 1 - _END and (declared.high is None or span.high < declared.high)
    return low or high


def _to_run(trials: Trials, dimensions: Sequence[Dimension], plan: Plan) -> int:
    """The maximum number of new trials."""
    names = [dimension.name for dimension in dimensions]
    points = design(dimensions, plan.trials, plan.seed)
    settings = [{}, *(dict(zip(names, point, strict=True)) for point in points)]
    known_count = sum(trials.has_result(values) for values in settings)
    if known_count:
        notice(f"{known_count:,} of {len(settings):,} trials are in the journal already")
    return len(settings) - known_count + plan.refine * (plan.folds + 1)
