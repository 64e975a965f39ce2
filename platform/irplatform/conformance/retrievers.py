"""Where a retriever breaks its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.conformance.ground import DOCUMENTS
from irplatform.retrieval.first_stage import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.conformance.ground import Ground
    from irplatform.plugin import Topic
    from irplatform.retrieval.first_stage import RetrieverChoice
    from irplatform.runs import Run


def problems_of_retriever(choice: RetrieverChoice, ground: Ground) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there.
        PluginError: it fails.
    """
    topics = [topic for topic, _ in ground.asked]
    choice.check(topics)
    choice.describe()
    found = find(choice, topics, DOCUMENTS, ground.resources)
    if told := _change(topics, found, find(choice, topics, DOCUMENTS, ground.resources)):
        yield f"{told} when it is asked again"
    for topic in topics:
        alone = find(choice, [topic], DOCUMENTS, ground.resources)
        if told := _change([topic], found, alone):
            yield f"{told} when topics come one at a time"
            return


def _change(topics: list[Topic], before: Run, after: Run) -> str:
    for topic in topics:
        first, second = (run.rankings[topic.id].doc_ids for run in (before, after))
        if first != second:
            return f"the ranking of topic {topic.id} is another one"
    return ""
