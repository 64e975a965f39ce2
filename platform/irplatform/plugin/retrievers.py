"""The contract of first-stage retrievers. Subclass `Retriever` and define `retrieve`."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.plugin.declarations import Declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.plugin.resources import Resources
    from irplatform.runs import Run


class Retriever(Declared):
    """Finds candidates for topics.

    `platform serve` asks one for all requests: it may keep what it has loaded, and a search may
    not depend on those before it.
    """

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank at most `depth` documents for every topic; an empty ranking if nothing is found."""
        raise NotImplementedError(f"{type(self).__name__} does not define retrieve()")

    def check_topics(self, topics: Sequence[Topic]) -> None:
        """Raise InputError if options do not fit the evaluated topics; called before any work."""
        del topics

    def describe_run(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, object]:
        """Return facts about a search, as JSON, for the metadata of a run.

        Also called for cached runs. The report shows a text under "warning".
        """
        del topics, resources
        return {}

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        """Return the query that it makes of a topic, as JSON; see `irplatform.expansion`."""
        del resources
        return {"kind": "words", "field": "contents", "text": topic.query}

    def export(self, name: str, file: IO[bytes], resources: Resources) -> Mapping[str, object]:
        """Write what it searches to a file for other programs; return facts about it, as JSON.

        The end of the `name` says in which format. InputError for an end that it does not write, or
        if there is nothing to write.
        """
        del name, file, resources
        raise InputError("this retriever has no index of its own that could be exported.")
