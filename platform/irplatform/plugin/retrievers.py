"""The contract of first-stage retrievers. Subclass `Retriever` and define `retrieve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin.declarations import Declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.plugin.resources import Resources
    from irplatform.runs import Run


class Retriever(Declared):
    """Finds candidates for topics."""

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank at most `depth` documents for every topic.

        Returns:
            A run with an entry for every topic, empty where nothing was found.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define retrieve()")

    def check_topics(self, topics: Sequence[Topic]) -> None:
        """Raise an InputError where options do not fit the topics of a collection.

        Called before any work; topics that are only learned from need not fit.
        """
        del topics

    def about(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, object]:
        """Facts on the search for some topics, as JSON, for the metadata of a run.

        Called for cached runs, too: tell their reader with `resources.notice`. A text under
        "warning" is also among the warnings of the report.
        """
        del topics, resources
        return {}

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        """The query that it makes of a topic, as JSON; see `irplatform.expansion`."""
        del resources
        return {"kind": "words", "field": "contents", "text": topic.query}
