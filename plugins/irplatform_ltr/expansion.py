"""The concepts of topics with their names, as the platform's query expansion finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from irplatform.knowledge import all_installed, open_knowledge
from irplatform.plugin import FeatureGroup, Options, Resources, Topic
from irplatform.retrieval.querying import Expander, QueryPlan, query_dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.knowledge import Knowledge


class ExpansionOptions(Options):
    """Where the names of a topic's concepts come from."""

    knowledge: tuple[str, ...] | None = Field(
        None, description="knowledge bases, the first one first; all that are installed by default"
    )
    plan: QueryPlan = Field(
        default_factory=QueryPlan, description="how a topic is taken apart and what weighs how much"
    )

    def bases(self) -> tuple[str, ...]:
        """The knowledge bases."""
        if self.knowledge is not None:
            return self.knowledge
        return all_installed()

    def lacking(self, topics: Sequence[Topic], fields: Sequence[str] = ()) -> str:
        """What topics or the cache lack for features of concepts; "" where nothing is lacking.

        Args:
            topics: the topics.
            fields: some topic must have one of them; by default a disease or a gene.
        """
        fields = fields or (self.plan.disease.field, self.plan.gene.field)
        if not any(topic.fields.get(name) for topic in topics for name in fields):
            return f"the training topics have no field {' or '.join(fields)}."
        if not self.bases():
            return "no knowledge base is installed (`platform kb list`)."
        return ""

    def open(self) -> Knowledge:
        """The knowledge bases, opened."""
        return open_knowledge(self.bases())

    def expander(self, resources: Resources) -> Expander:
        """Takes topics apart and makes queries of them."""
        return Expander(resources.index(), self.bases(), self.plan)


class KnowledgeFeatures(FeatureGroup):
    """The base of groups that read the concepts of topics."""

    Options = ExpansionOptions
    reads_knowledge = True
    options: ExpansionOptions
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        """Keep the resources; knowledge bases are opened at first use."""
        self._resources = resources

    def lacks(self, topics: Sequence[Topic]) -> str:
        """Fields of diseases or genes, or knowledge bases."""
        return self.options.lacking(topics)

    def prepared_with(self) -> Mapping[str, object]:
        """The knowledge bases, and how topics are taken apart."""
        knowledge = self.options.open().fingerprint
        return {"knowledge": knowledge, **query_dependencies(self.options.plan)}
