"""Checks that a reranker, a feature group or a retriever keeps its contract."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from irplatform.conformance.behaviour import (
    NEW_PROCESS,
    consistency,
    difference,
    results_of_learning,
    said,
    train_system,
)
from irplatform.conformance.data import DOCUMENTS
from irplatform.conformance.hard_cases import (
    another,
    faults,
    ids_used_again,
    odd_topics,
    results_of_hard_cases,
)
from irplatform.conformance.process import Inquiry
from irplatform.errors import InputError
from irplatform.features.groups import open_groups
from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.plugin.rerankers import Reranker, TrainableReranker
from irplatform.registry.dependencies import ChosenSystem
from irplatform.registry.loading import registry
from irplatform.reranking.explain import explanations
from irplatform.reranking.scoring import (
    checked_scores,
    final_scores,
    rescore_topics,
    score_topics,
)
from irplatform.reranking.sending import can_be_sent
from irplatform.reranking.systems import ChosenReranker
from irplatform.retrieval.retrievers import ChosenRetriever, checked_run
from irplatform.runs import Run

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources as Resources
    from irplatform.conformance.behaviour import Outputs, Results
    from irplatform.conformance.data import CheckData
    from irplatform.conformance.process import TopicCandidates
    from irplatform.data import Topic
    from irplatform.plugin.features import FeatureGroup
    from irplatform.runs import Ranking


_KNOWLEDGE = ("mesh",)
"""Knowledge bases of an expanded run; none is opened."""


def results_of_reranker(choice: ChosenReranker, data: CheckData) -> Results:
    """Check the contract; InputError or PluginError if it cannot be checked."""
    plugin_call, resources = choice.registration.plugin_call, data.resources

    def scores(reranker: Reranker, pairs: TopicCandidates) -> Outputs:
        with data.watch.during("score()"):
            return _scored(choice, reranker, pairs, resources)

    def new_reranker() -> Reranker:
        with data.watch.during("prepare()", networks=True):
            return choice.create(resources)

    def learner() -> TrainableReranker:
        reranker = new_reranker()
        assert isinstance(reranker, TrainableReranker)  # as `choice.trainable` says
        return reranker

    def scores_in_new_process(folder: Path | None) -> Outputs | None:
        if not can_be_sent(choice, resources):
            return None
        question = Inquiry(choice.name, choice.options, data.topics, resources.unopened(), folder)
        return data.process.ask(_scores, question, choice.name, choice.registration.full_title)

    data.watch.look_at(choice)
    choice.check()
    choice.check_training()
    _ = choice.checkpoints(), choice.pairs_learned([topic for topic, _ in data.topics])
    _ = choice.expanding(_KNOWLEDGE), choice.in_pretraining()
    yield "declarations", ""
    if choice.trainable:
        trained = train_system(learner, plugin_call, data)
        yield from results_of_learning(
            trained, learner, plugin_call, scores, data, scores_in_new_process
        )
        member: Reranker = trained
    else:
        member = new_reranker()
        first_scores = scores(member, data.topics)
        change = difference(data.topics, first_scores, scores(new_reranker(), data.topics))
        yield "another instance", said(change, "by another instance")
        answer = None if change else scores_in_new_process(None)
        if answer:
            change = difference(data.topics, first_scores, answer)
            yield "another process", said(change, NEW_PROCESS)
    yield from consistency(lambda topics: scores(member, topics), data.topics)
    expected = scores(member, data.topics)
    yield "score and score_batch", _without_batches(choice, member, data, expected)
    yield "explain", _explanations(choice, member, data, expected)
    yield from _rescored(choice, member, data, expected)

    def final(pairs: TopicCandidates) -> Outputs:
        topics, candidates = [topic for topic, _ in pairs], {t.id: ids for t, ids in pairs}
        with data.watch.during("score()"):
            by_topic = final_scores(
                choice.registration, [member], topics, candidates, data.resources
            )
        return [by_topic[topic.id] for topic in topics]

    yield from results_of_hard_cases(final, data)


def _scores(question: Inquiry) -> Outputs:
    choice = ChosenReranker(registry().reranker(question.system), question.options)
    reranker = choice.create(question.resources)
    if question.folder and isinstance(reranker, TrainableReranker):
        with choice.registration.plugin_call("loading"):
            reranker.load(question.folder)
    return _scored(choice, reranker, question.topics, question.resources)


def _scored(
    choice: ChosenReranker, member: Reranker, pairs: TopicCandidates, resources: Resources
) -> Outputs:
    topics, candidates = [topic for topic, _ in pairs], {t.id: ids for t, ids in pairs}
    by_topic = score_topics(choice.registration, [member], topics, candidates, resources)
    return [by_topic[topic.id] for topic in topics]


def _rescored(
    choice: ChosenReranker, member: Reranker, data: CheckData, expected: Outputs
) -> Results:
    """Check `rescore`, if a reranker defines it."""
    if type(member).rescore is Reranker.rescore:
        yield "rescore", ""
        return

    def changed(pairs: TopicCandidates, scores: Outputs) -> Outputs:
        topics, candidates = [topic for topic, _ in pairs], {t.id: ids for t, ids in pairs}
        scores_by_topic = dict(zip(candidates, scores, strict=True))
        with data.watch.during("rescore()"):
            by_topic = rescore_topics(
                choice.registration, member, topics, candidates, scores_by_topic, data.resources
            )
        return [by_topic[topic.id] for topic in topics]

    final = changed(data.topics, expected)
    change = difference(data.topics, final, changed(data.topics, expected))
    yield "rescore", said(change, "by rescore() when it is asked again")
    if choice.traits.listwise:
        return
    reversed_topics = [(topic, ids[::-1]) for topic, ids in data.topics]
    again = changed(reversed_topics, [scores[::-1] for scores in expected])
    change = difference(data.topics, final, [scores[::-1] for scores in again])
    yield "rescore", said(change, "by rescore() when documents come in another order")


def _without_batches(
    choice: ChosenReranker, member: Reranker, data: CheckData, expected: Outputs
) -> str:
    """Compare `score` with `score_batch`, if a reranker defines both."""
    if type(member).score_batch is Reranker.score_batch or type(member).score is Reranker.score:
        return ""
    scores = []
    for topic, doc_ids in data.topics:
        documents = data.resources.documents(doc_ids)
        with choice.registration.plugin_call(f"scoring topic {topic.id}"):
            raw_scores = member.score(topic, documents)
        scores.append(checked_scores(choice.registration.full_title, topic, documents, raw_scores))
    return said(difference(data.topics, expected, scores), "by score() beside score_batch()")


def _explanations(
    choice: ChosenReranker, member: Reranker, data: CheckData, expected: Outputs
) -> str:
    """Compare scores with those in `explain`, if a reranker defines it."""
    if type(member).explain is Reranker.explain:
        return ""
    topic, doc_ids = data.topics[0]
    documents = data.resources.documents(doc_ids)
    document_explanations = explanations(choice.registration, member, topic, documents)
    explained_scores = np.array(
        [explanation["score"] for explanation in document_explanations], dtype=np.float64
    )
    change = difference(data.topics[:1], expected[:1], [explained_scores])
    return said(change, "in explain()")


def results_of_features(name: str, data: CheckData) -> Results:
    """Check the contract; InputError or PluginError if it cannot be checked."""
    watch = data.watch
    with watch.during("prepare()", networks=True):
        (group,) = open_groups([name], {}, data.resources)
    _ = group.described
    choice = ChosenSystem(group.registration, group.instance.options)
    watch.look_at(choice)
    choice.check_training()
    _ = choice.checkpoints(), choice.pairs_learned([topic for topic, _ in data.topics])
    lacking = group.lacking([topic for topic, _ in data.topics])
    if lacking or not group.names:
        raise InputError(lacking or "it has no features with its default options.")
    yield "declarations", ""

    def features(instance: FeatureGroup, topics: TopicCandidates) -> Outputs:
        documents = data.resources.documents
        batch = [(topic, documents(ids)) for topic, ids in topics]
        with watch.during("compute()"):
            return [*replace(group, instance=instance).checked(batch)]

    def learner() -> TrainableFeatureGroup:
        with watch.during("prepare()", networks=True):
            instance = data.resources.feature_group(name)
        assert isinstance(instance, TrainableFeatureGroup)  # as `group.learns` says
        return instance

    def features_in_new_process(folder: Path | None) -> Outputs | None:
        if not group.registration.plugin.installed:
            return None
        resources = data.resources.unopened()
        question = Inquiry(name, group.instance.options, data.topics, resources, folder)
        return data.process.ask(_features, question, name, group.registration.full_title)

    instance = group.instance
    if group.learns:
        trained = train_system(learner, group.plugin_call, data)
        yield from results_of_learning(
            trained, learner, group.plugin_call, features, data, features_in_new_process
        )
        instance = trained
    else:
        answer = features_in_new_process(None)
        if answer:
            change = difference(data.topics, features(instance, data.topics), answer)
            yield "another process", said(change, NEW_PROCESS)
    yield from consistency(lambda topics: features(instance, topics), data.topics)
    yield from results_of_hard_cases(lambda topics: features(instance, topics), data)


def _features(question: Inquiry) -> Outputs:
    (group,) = open_groups([question.system], {}, question.resources)
    if question.folder and isinstance(group.instance, TrainableFeatureGroup):
        with group.plugin_call("loading"):
            group.instance.load(question.folder)
    documents = question.resources.documents
    return [*group.checked([(topic, documents(ids)) for topic, ids in question.topics])]


def results_of_retriever(choice: ChosenRetriever, data: CheckData) -> Results:
    """Check the contract; InputError or PluginError if it cannot be checked."""
    topics = [topic for topic, _ in data.topics]
    lacking: list[str] = []
    data.watch.look_at(choice)
    choice.check_topics(topics)
    _ = choice.describe(), choice.traits, choice.checkpoints()
    yield "declarations", ""

    shared = choice.make()  # as `platform serve` asks one for all requests

    def retrieved(batch: list[Topic]) -> Run:
        with data.watch.during("retrieve()", networks=True):
            return checked_run(
                choice, batch, DOCUMENTS, data.resources, lacking.append, retriever=shared
            )

    together = retrieved(topics)
    yield "documents", lacking[0].removeprefix("WARNING: ") if lacking else ""
    change = _change(topics, together, retrieved(topics))
    yield "asked again", said(change, "when it is asked again")
    in_registry = registry().retrievers.get(choice.name) == choice.registration
    if not change and in_registry and choice.registration.plugin.installed:
        question = Inquiry(choice.name, choice.options, data.topics, data.resources.unopened())
        rankings = data.process.ask(
            _rankings, question, choice.name, choice.registration.full_title
        )
        change = _change(topics, together, Run(choice.name, rankings))
        yield "another process", said(change, NEW_PROCESS)
    alone = Run(choice.name, {t.id: retrieved([t]).rankings[t.id] for t in topics})
    change = _change(topics, together, alone)
    yield "one topic at a time", said(change, "when topics come one at a time")
    choice.describe_run(topics, data.resources)
    choice.explain(topics[0], data.resources, shared)
    yield "run and explanation", ""
    yield from faults("odd topics", lambda odd: retrieved([odd]), odd_topics(topics[0]))

    def ranked(topic: Topic, name: str) -> tuple[str, ...]:
        return retrieved([replace(topic, id=name)]).rankings[name].doc_ids

    yield "ids used again", ids_used_again(ranked, another(topics[0]), topics[0], operator.ne)


def _rankings(question: Inquiry) -> dict[str, Ranking]:
    choice = ChosenRetriever(registry().retrievers[question.system], question.options)
    topics = [topic for topic, _ in question.topics]
    return dict(checked_run(choice, topics, DOCUMENTS, question.resources).rankings)


def _change(topics: list[Topic], before: Run, after: Run) -> str:
    for topic in topics:
        first, second = (run.rankings[topic.id] for run in (before, after))
        if first.doc_ids != second.doc_ids:
            return f"the ranking of topic {topic.id} differs"
        scores = [ranking.scores.astype(np.float64) for ranking in (first, second)]
        pairs = [(topic, first.doc_ids)] if first.doc_ids else []
        if deviation := difference(pairs, scores[: len(pairs)], scores[1 : 1 + len(pairs)]):
            return deviation
    return ""
