"""Looks up documents that runs and retrievers name, and that the collection may lack."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from irplatform.errors import PluginError
from irplatform.files.facts import kept_fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.runs import Ranking


def missing_documents(groups: Iterable[Iterable[str]], resources: CollectionResources) -> set[str]:
    """The documents of some topics that are not in the index."""
    return resources.index().missing([*dict.fromkeys(chain(*groups))])


def without_match(queries: Sequence[str], resources: CollectionResources) -> str:
    """Why plain queries find nothing; see `LuceneIndex.without_match`."""
    index = resources.index_artifact().fingerprint
    depends_on = {"index": index, "without match": [*queries]}

    def look() -> str:
        return resources.index().without_match(queries)

    return kept_fact("check", resources.corpus.name, depends_on, look)


@dataclass
class Lookup:
    """Looks up what a retriever of others found; the platform's own rank the collection itself."""

    label: str
    name: str
    resources: CollectionResources
    documents: set[str] = field(default_factory=set)
    missing: dict[str, None] = field(default_factory=dict)

    def found_in(self, rankings: Mapping[str, Ranking]) -> Mapping[str, Ranking]:
        """Leave out documents that the collection lacks; PluginError if it lacks all."""
        doc_ids = dict.fromkeys(chain(*(ranking.doc_ids for ranking in rankings.values())))
        new = [d for d in doc_ids if d not in self.documents and d not in self.missing]
        lacking = missing_documents([new], self.resources) if new else set()
        self.missing |= dict.fromkeys(d for d in new if d in lacking)
        self.documents.update(d for d in new if d not in lacking)
        if self.missing and not self.documents:
            raise PluginError(f"{self}. Its ids must be those of the collection's documents.")
        if not self.missing:
            return rankings
        return {topic: ranking.without(self.missing) for topic, ranking in rankings.items()}

    def __str__(self) -> str:
        number, total = len(self.missing), len(self.missing) + len(self.documents)
        return (
            f"{self.label}: {number:,} of {total:,} documents that {self.name} found are not in "
            f"the collection (first: '{next(iter(self.missing), '')}')"
        )
