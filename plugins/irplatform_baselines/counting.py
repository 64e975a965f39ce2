"""What the baselines share that score a document by how often it has each word of the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from irplatform.plugin import Documents, Field, Options, Reranker, Resources, Topic
from irplatform.text import FieldMatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Float64


class CountingOptions(Options):
    """The options of every baseline that counts words."""

    field: Literal["title", "abstract", "text"] = Field(
        "text", description="what is read; text is title and abstract"
    )


class CountingReranker(Reranker):
    """Scores by the counts of query words in one field; subclasses bring the formula.

    Words are those of the forward index, neither stemmed nor stopped, and so are the statistics of
    the field, which are those of the whole collection.
    """

    Options = CountingOptions
    options: CountingOptions

    def prepare(self, resources: Resources) -> None:
        """Open the forward index."""
        self._index: ForwardIndex = resources.forward_index()

    def weigh(self, match: FieldMatch) -> Float64:
        """The scores of documents, higher is better; finite also where the field is empty."""
        raise NotImplementedError(f"{type(self).__name__} does not define weigh()")

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one float each, higher is better."""
        query, rows = self._index.query_ids(topic.query), self._index.rows(documents.ids)
        scores: list[float] = self.weigh(
            FieldMatch(self._index, self.options.field, query, rows)
        ).tolist()
        return scores
