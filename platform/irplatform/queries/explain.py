"""`explain`: why a reranker puts documents of a topic where it does.

It finds or trains the system that `run` would rank the topic with (a fold's own in
cross-validation), and asks one of its members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from irplatform.errors import InputError, unknown
from irplatform.experiment.arguments import as_names
from irplatform.experiment.experiment_file import settings_of
from irplatform.experiment.keywords import ExplainOptions
from irplatform.experiment.plan import RunPlan, plan_run
from irplatform.experiment.resources import refuse_broken_corpus
from irplatform.experiment.run import (
    choose_fusion,
    learning_plan,
    retrieve,
    retrieve_training,
)
from irplatform.experiment.run_settings import label_and_name, one_reranker
from irplatform.experiment.settings import DeclaredSettings
from irplatform.files.cache import nothing_made
from irplatform.plugin.rerankers import Reranker
from irplatform.registry.loading import registry
from irplatform.reranking.explain import explain_documents, explanations, refuse_member
from irplatform.reranking.rerank import fit, resources_with, training_per_topics
from irplatform.reranking.warnings import warnings_of
from irplatform.settings import with_keywords
from irplatform.spelling import command
from irplatform.system.arithmetic import settings_kept
from irplatform.system.console import quiet
from irplatform.training.checkpoints import Checkpoint
from irplatform.workers.distribution import use_workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.experiment.arguments import AnyCollection, AnySystem, Names
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import LearningPlan
    from irplatform.retrieval.candidates import Candidates
    from irplatform.system.console import Advance


@with_keywords(ExplainOptions, DeclaredSettings)
@settings_kept()
def explain(
    collection: RunSettings | AnyCollection,
    topic: str,
    documents: Names,
    *,
    reranker: AnySystem[Reranker] | None = None,
    member: int | None = None,
    **options: Unpack[ExplainOptions],
) -> dict[str, Any]:
    """Explain a reranker's scores of some documents.

    Args:
        collection: a name, a path, an ir_datasets id or a `Collection`; or `RunSettings` with one
            reranker.
        topic: the id of a topic of the collection.
        documents: ids of documents; they need not have been retrieved.
        reranker: a name, a class or an object.
        member: the member of the system to ask, from 1; None takes the one nearest to the mean.
        options: the options of `platform explain`; see `RunSettings`.

    Returns:
        `topic`, the system, and for each document its title, grade, ranks and scores, and the
            `explanation` of the reranker, as JSON.

    Raises:
        InputError: a wrong name or option, or a reranker that does not explain its scores.

    Examples:
        >>> import irplatform as ir
        >>> hit = ir.search("demo", topic="41", depth=1)["hits"][0]
        >>> told = ir.explain("demo", "41", hit["id"], reranker="lexical", members=1)
        >>> [document["title"] for document in told["documents"]] == [hit["title"]]
        True
    """
    settings = settings_of(collection, options, rerankers=reranker)
    plugins = registry()
    _refuse_unexplained(settings, plugins)
    plan = plan_run(settings, plugins)
    (choice,) = plan.rerankers
    if member is not None:
        refuse_member(member, choice, _most_members(choice, settings))
    doc_ids = list(dict.fromkeys(as_names(documents, "documents")))
    topics = {entry.id: entry for entry in plan.collection.topics}
    if topic not in topics:
        raise unknown("topic", topic, topics, of=f"'{plan.collection.id}'")
    with use_workers(settings.workers):
        plan = plan.on_device()
        refuse_broken_corpus(plan.collection, plan.qrels, plan.resources)
        _refuse_unknown(doc_ids, topic, plan)
        candidates, learning = _learning(plan)
        resources = resources_with(learning, choice, plan.resources)
        for warning in warnings_of(choice, candidates.topics, learning):
            resources.notice(warning)
        training_set = next(
            learned
            for learned, scored in training_per_topics(choice, candidates, learning, resources)
            if any(entry.id == topic for entry in scored)
        )
        system = fit(choice, learning, training_set, resources)
    explained_topic, weight = topics[topic], settings.interpolate
    explanation = explain_documents(
        system, explained_topic, doc_ids, candidates, weight, resources, member
    )
    return {
        "collection": plan.collection.id,
        "reranker": choice.name,
        "topic": {
            "id": topic,
            "query": explained_topic.query,
            "fields": {
                name: value if isinstance(value, str) else list(value)
                for name, value in explained_topic.fields.items()
            },
        },
        **explanation,
    }


@settings_kept()
def explanations_at_hand(
    settings: RunSettings,
    label: str,
    doc_ids: Mapping[str, Sequence[str]],
    advance: Advance = lambda _: None,
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Explain documents of many topics with systems that the cache has; nothing is made.

    Args:
        settings: those of the run.
        label: the reranker's name in the run.
        doc_ids: topic id to ids of documents of the collection.
        advance: is called with the number of documents explained since the last call.

    Returns:
        Topic id to document id to the explanation by the system's first member; empty if the
            reranker does not explain its scores.

    Raises:
        PlatformError: something is not in the cache.
    """
    plugins = registry()
    if not explains(label_and_name(_called(label, settings))[1], plugins):
        return {}
    with nothing_made():
        with quiet():  # what the run told when it was made
            plan = plan_run(settings, plugins).on_device()
        choice = next(reranker for reranker in plan.rerankers if reranker.name == label)
        candidates, learning = _learning(plan)
        resources = resources_with(learning, choice, plan.resources)
        per_topic = {}
        for learned, scored in training_per_topics(choice, candidates, learning, resources):
            topics = [topic for topic in scored if doc_ids.get(topic.id)]
            if not topics:
                continue
            member = fit(choice, learning, learned, resources).members[0]
            for topic in topics:
                documents = resources.documents(doc_ids[topic.id])
                per_document = explanations(choice.registration, member, topic, documents)
                per_topic[topic.id] = dict(zip(documents.ids, per_document, strict=True))
                advance(len(per_document))
    return per_topic


def _called(label: str, settings: RunSettings) -> str:
    """The reranker with a label, as settings name it."""
    texts = {label_and_name(text)[0]: text for text in settings.rerankers}
    if label not in texts:
        raise unknown("reranker", label, texts, of="this run")
    return texts[label]


def _learning(plan: RunPlan) -> tuple[Candidates, LearningPlan]:
    """The candidates of a plan, and what its rerankers learn from."""
    candidates = retrieve(plan)
    training = retrieve_training(plan)
    fusion = choose_fusion(plan, training)
    return candidates.fused(fusion), learning_plan(plan, training, fusion)


def _most_members(choice: ChosenReranker, settings: RunSettings) -> int:
    """The most members that the system can have, before it is trained or read."""
    if not choice.trainable:
        return 1
    if settings.checkpoint is None:
        return choice.members
    return Checkpoint.read(settings.checkpoint, of=choice.registration.name).members


def explains(name: str, plugins: Registry) -> bool:
    """Return whether a reranker explains its scores."""
    return plugins.reranker(name).system.explain is not Reranker.explain


def _refuse_unexplained(settings: RunSettings, plugins: Registry) -> None:
    """Refuse a reranker that does not explain scores, before anything is trained."""
    _, name = label_and_name(one_reranker(settings, "explain"))
    if not explains(name, plugins):
        names = sorted(
            registration.name
            for registration in plugins.rerankers.values()
            if not registration.broken and registration.system.explain is not Reranker.explain
        )
        raise InputError(
            f"reranker '{name}' does not explain its scores. Those that do: {', '.join(names)}."
        )


def _refuse_unknown(doc_ids: Sequence[str], topic: str, plan: RunPlan) -> None:
    contains = plan.resources.index().contains
    for doc_id in doc_ids:
        if not contains(doc_id):
            raise InputError(
                f"'{plan.collection.id}' has no document '{doc_id}'. Ids are shown by "
                f"{command('search', collection=plan.settings.collection, topic=topic)}."
            )
