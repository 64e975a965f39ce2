"""Where a reranker breaks its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.conformance.consistency import difference, inconsistencies
from irplatform.conformance.elsewhere import NEW_PROCESS, Question, in_new_process
from irplatform.conformance.learning import problems_of_learning, train
from irplatform.plugin import Reranker, TrainableReranker
from irplatform.registry import registry
from irplatform.reranking.explanations import explanations
from irplatform.reranking.members import can_travel
from irplatform.reranking.scoring import among_candidates, checked_scores, score_topics
from irplatform.reranking.systems import RerankerChoice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.conformance.check_data import CheckData, TopicCandidates
    from irplatform.conformance.consistency import Outputs

_KNOWLEDGE = ("mesh",)
"""What queries are expanded with, as a reranker is told; nothing is read of it."""


def problems_of_reranker(choice: RerankerChoice, data: CheckData) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there.
        PluginError: it fails.
    """
    plugin_call, resources = choice.registration.plugin_call, data.resources

    def scores(reranker: Reranker, pairs: TopicCandidates) -> Outputs:
        topics, candidates = [topic for topic, _ in pairs], {t.id: ids for t, ids in pairs}
        with data.watch.during("score()"):
            by_topic = score_topics(choice.registration, [reranker], topics, candidates, resources)
        return [by_topic[topic.id] for topic in topics]

    def new_reranker() -> Reranker:
        with data.watch.during("prepare()", networks=True):
            return choice.create(resources)

    def learner() -> TrainableReranker:
        reranker = new_reranker()
        assert isinstance(reranker, TrainableReranker)  # as `choice.trainable` says
        return reranker

    def scores_in_new_process(folder: Path | None) -> Outputs | None:
        if not can_travel(choice, resources):
            return None
        question = Question(choice.name, choice.options, data.topics, resources.unopened(), folder)
        return in_new_process(_scores, question, choice.registration)

    choice.check()
    choice.check_training()
    _ = choice.checkpoints, choice.pairs_learned([topic for topic, _ in data.topics])
    _ = choice.expanding(_KNOWLEDGE), choice.in_pretraining()
    if choice.trainable:
        trained = train(learner, plugin_call, data)
        yield from problems_of_learning(
            trained, learner, plugin_call, scores, data, scores_in_new_process
        )
        member: Reranker = trained
    else:
        member = new_reranker()
        first_scores = scores(member, data.topics)
        if deviation := difference(data.topics, first_scores, scores(new_reranker(), data.topics)):
            yield f"{deviation} by another instance"
        else:
            found = scores_in_new_process(None)
            if found and (deviation := difference(data.topics, first_scores, found)):
                yield f"{deviation} {NEW_PROCESS}"
    yield from inconsistencies(lambda topics: scores(member, topics), data.topics)
    expected = scores(member, data.topics)
    yield from _without_batches(choice, member, data, expected)
    yield from _explanations(choice, member, data, expected)
    yield from _among_candidates(choice, member, data, expected)


def _scores(question: Question) -> Outputs:
    """The scores of a reranker in the new process."""
    choice = RerankerChoice(registry().reranker(question.system), question.options)
    reranker = choice.create(question.resources)
    if question.folder and isinstance(reranker, TrainableReranker):
        with choice.registration.plugin_call("loading"):
            reranker.load(question.folder)
    topics, candidates = [t for t, _ in question.topics], {t.id: ids for t, ids in question.topics}
    found = score_topics(choice.registration, [reranker], topics, candidates, question.resources)
    return [found[topic.id] for topic in topics]


def _among_candidates(
    choice: RerankerChoice, member: Reranker, data: CheckData, expected: Outputs
) -> Iterator[str]:
    """What scores become among all candidates of a topic, where a reranker changes them.

    Raises:
        PluginError: it fails, or gives the wrong number of scores, or one that is not finite.
    """
    if type(member).among_candidates is Reranker.among_candidates:
        return

    def changed(pairs: TopicCandidates, scores: Outputs) -> Outputs:
        topics, candidates = [topic for topic, _ in pairs], {t.id: ids for t, ids in pairs}
        asked = dict(zip(candidates, scores, strict=True))
        with data.watch.during("among_candidates()"):
            by_topic = among_candidates(
                choice.registration, member, topics, candidates, asked, data.resources
            )
        return [by_topic[topic.id] for topic in topics]

    final = changed(data.topics, expected)
    if deviation := difference(data.topics, final, changed(data.topics, expected)):
        yield f"{deviation} by among_candidates() when it is asked again"
    reversed_topics = [(topic, ids[::-1]) for topic, ids in data.topics]
    again = changed(reversed_topics, [scores[::-1] for scores in expected])
    if deviation := difference(data.topics, final, [scores[::-1] for scores in again]):
        yield f"{deviation} by among_candidates() when documents come in another order"


def _without_batches(
    choice: RerankerChoice, member: Reranker, data: CheckData, expected: Outputs
) -> Iterator[str]:
    """`score` beside a `score_batch` of its own, which runs use."""
    if type(member).score_batch is Reranker.score_batch or type(member).score is Reranker.score:
        return
    scores = []
    for topic, doc_ids in data.topics:
        documents = data.resources.documents(doc_ids)
        with choice.registration.plugin_call(f"scoring topic {topic.id}"):
            raw_scores = member.score(topic, documents)
        scores.append(checked_scores(choice.registration.who, topic, documents, raw_scores))
    if deviation := difference(data.topics, expected, scores):
        yield f"{deviation} by score() beside score_batch()"


def _explanations(
    choice: RerankerChoice, member: Reranker, data: CheckData, expected: Outputs
) -> Iterator[str]:
    """The scores that it explains, where it does."""
    if type(member).explain is Reranker.explain:
        return
    topic, doc_ids = data.topics[0]
    documents = data.resources.documents(doc_ids)
    document_explanations = explanations(choice.registration, member, topic, documents)
    explained_scores = np.array([each["score"] for each in document_explanations], dtype=np.float64)
    if deviation := difference(data.topics[:1], expected[:1], [explained_scores]):
        yield f"{deviation} in explain()"
