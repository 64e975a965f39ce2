"""Where a retriever breaks its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.conformance.check_data import DOCUMENTS
from irplatform.conformance.consistency import difference
from irplatform.conformance.elsewhere import ELSEWHERE, Parcel
from irplatform.conformance.misspelt import problems_of_names
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
    yield from problems_of_names(choice.registration.system)
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
        parcel = Parcel(choice.name, choice.options, data.topics, data.resources.unopened())
        found = Run(choice.name, data.elsewhere.ask(_rankings, parcel, choice.registration))
        if change := _change(topics, together, found):
            yield f"{change} {ELSEWHERE}"
    for topic in topics:
        alone = retrieved([topic])
        if change := _change([topic], together, alone):
            yield f"{change} when topics come one at a time"
            break
    choice.about(topics, data.resources)
    choice.explain(topics[0], data.resources)


def _rankings(parcel: Parcel) -> dict[str, Ranking]:
    """What a retriever finds in the process that it is asked in."""
    choice = RetrieverChoice(registry().retrievers[parcel.system], parcel.options)
    topics = [topic for topic, _ in parcel.topics]
    return dict(find(choice, topics, DOCUMENTS, parcel.resources).rankings)


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
