"""Where a retriever breaks its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.conformance.check_data import DOCUMENTS
from irplatform.conformance.consistency import difference
from irplatform.conformance.elsewhere import NEW_PROCESS, Question, in_new_process
from irplatform.registry import registry
from irplatform.retrieval.checked_search import find
from irplatform.retrieval.first_stage import RetrieverChoice
from irplatform.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.conformance.check_data import CheckData
    from irplatform.plugin import Topic
    from irplatform.runs import Ranking


def problems_of_retriever(choice: RetrieverChoice, data: CheckData) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there.
        PluginError: it fails.
    """
    topics = [topic for topic, _ in data.topics]
    choice.check_topics(topics)
    _ = choice.describe(), choice.remark
    choice.registration.checkpoints(choice.options)

    def retrieved(batch: list[Topic]) -> Run:
        with data.watch.during("retrieve()", networks=True):
            return find(choice, batch, DOCUMENTS, data.resources)

    together = retrieved(topics)
    if change := _change(topics, together, retrieved(topics)):
        yield f"{change} when it is asked again"
    elif registry().retrievers.get(choice.name) == choice.registration:
        question = Question(choice.name, choice.options, data.topics, data.resources.unopened())
        found = Run(choice.name, in_new_process(_rankings, question, choice.registration))
        if change := _change(topics, together, found):
            yield f"{change} {NEW_PROCESS}"
    for topic in topics:
        alone = retrieved([topic])
        if change := _change([topic], together, alone):
            yield f"{change} when topics come one at a time"
            break
    choice.about(topics, data.resources)
    choice.explain(topics[0], data.resources)


def _rankings(question: Question) -> dict[str, Ranking]:
    """The rankings of a retriever in the new process."""
    choice = RetrieverChoice(registry().retrievers[question.system], question.options)
    topics = [topic for topic, _ in question.topics]
    return dict(find(choice, topics, DOCUMENTS, question.resources).rankings)


def _change(topics: list[Topic], before: Run, after: Run) -> str:
    for topic in topics:
        first, second = (run.rankings[topic.id] for run in (before, after))
        if first.doc_ids != second.doc_ids:
            return f"the ranking of topic {topic.id} is another one"
        scores = [ranking.scores.astype(np.float64) for ranking in (first, second)]
        pairs = [(topic, first.doc_ids)] if first.doc_ids else []
        if deviation := difference(pairs, scores[: len(pairs)], scores[1 : 1 + len(pairs)]):
            return deviation
    return ""
