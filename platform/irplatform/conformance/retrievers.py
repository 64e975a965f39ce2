"""Where a retriever breaks its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.conformance.check_data import DOCUMENTS
from irplatform.retrieval.checked_search import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.conformance.check_data import CheckData
    from irplatform.plugin import Topic
    from irplatform.retrieval.first_stage import RetrieverChoice
    from irplatform.runs import Run


def problems_of_retriever(choice: RetrieverChoice, data: CheckData) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there.
        PluginError: it fails.
    """
    topics = [topic for topic, _ in data.topics]
    choice.check(topics)
    choice.describe()
    _ = choice.checkpoints

    def retrieved(batch: list[Topic]) -> Run:
        with data.watch.during("retrieve()", networks=True):
            return find(choice, batch, DOCUMENTS, data.resources)

    together = retrieved(topics)
    if change := _change(topics, together, retrieved(topics)):
        yield f"{change} when it is asked again"
    for topic in topics:
        alone = retrieved([topic])
        if change := _change([topic], together, alone):
            yield f"{change} when topics come one at a time"
            break
    choice.about(topics, data.resources)
    choice.explain(topics[0], data.resources)


def _change(topics: list[Topic], before: Run, after: Run) -> str:
    for topic in topics:
        first, second = (run.rankings[topic.id].doc_ids for run in (before, after))
        if first != second:
            return f"the ranking of topic {topic.id} is another one"
    return ""
