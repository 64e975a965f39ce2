"""Makes the queries of topics for one index, one plan and some knowledge bases."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from irplatform.knowledge import open_knowledge
from irplatform.retrieval.querying.build import components, sum_of
from irplatform.retrieval.querying.compile import Compiler
from irplatform.retrieval.querying.evidence import Evidence
from irplatform.retrieval.querying.held_out import weights_for
from irplatform.retrieval.querying.parts import TopicReader

if TYPE_CHECKING:
    from irplatform.plugin import Topic
    from irplatform.retrieval.index import LuceneIndex
    from irplatform.retrieval.querying.build import Component
    from irplatform.retrieval.querying.expression import Expression
    from irplatform.retrieval.querying.parts import TopicParts
    from irplatform.retrieval.querying.plan import QueryPlan


class Expander:
    """Expands topics.

    Raises:
        InputError: a knowledge base is not installed.
    """

    def __init__(
        self, index: LuceneIndex, knowledge_bases: tuple[str, ...], plan: QueryPlan
    ) -> None:
        fingerprint = open_knowledge(knowledge_bases).fingerprint
        self._compiler, self._reader = _tools(index, knowledge_bases, fingerprint)
        self._plan = plan

    def parts(self, topic: Topic) -> TopicParts:
        """The parts of a topic with their names."""
        return self._reader.read(topic, weights_for(topic, self._plan))

    def components(self, topic: Topic) -> list[Component]:
        """The components of a topic's query, those of weight 0 too."""
        return components(topic, self.parts(topic), weights_for(topic, self._plan))

    def expression(self, topic: Topic) -> Expression:
        """The query of a topic, as something to read."""
        return sum_of(self.components(topic), weights_for(topic, self._plan))

    def compiled(self, expression: Expression) -> Any:
        """The Lucene query of an expression; make it in the main thread, see `compile`."""
        return self._compiler(expression)

    def query(self, topic: Topic) -> Any:
        """The Lucene query of a topic; make it in the main thread, see `compile`."""
        return self._compiler(self.expression(topic))


@lru_cache(maxsize=2)
def _tools(
    index: LuceneIndex, knowledge_bases: tuple[str, ...], fingerprint: str
) -> tuple[Compiler, TopicReader]:
    """What remembers names and counts, so that trying many plans looks everything up once."""
    del fingerprint  # knowledge bases that were replaced meanwhile are read anew
    compiler = Compiler(index.analyzer, index.reader)
    return compiler, TopicReader(open_knowledge(knowledge_bases), Evidence(compiler))
