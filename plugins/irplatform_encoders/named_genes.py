"""The genes that articles name and the headings that are diseases, for queries of one of each."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import click

from irplatform.concepts.build import concept_graph
from irplatform.concepts.graph import ConceptGraph
from irplatform.concepts.options import ConceptOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import Corpus
    from irplatform.knowledge import Concept, ConceptKind, Knowledge


def _knows(knowledge: Knowledge, kind: ConceptKind) -> bool:
    return next(iter(knowledge.concepts(kind)), None) is not None


def is_called(concept: Concept, heading: str) -> bool:
    """Whether a heading is a concept's preferred name, in capitals or not."""
    return concept.name.casefold() == heading.casefold()


class NamedGenes:
    """The genes of articles, as the document–concept graph links them.

    Args:
        graph: of the articles.
        knowledge: the knowledge bases that it was made from.
    """

    def __init__(self, graph: ConceptGraph, knowledge: Knowledge) -> None:
        self._graph = graph
        self._gene = graph.kinds == graph.KINDS.index("gene")
        self._knowledge = knowledge
        self._symbol = cache(self._symbol_of)
        self.is_disease = cache(self._is_disease)

    @classmethod
    def of_corpus(
        cls, corpus: Corpus, names: Sequence[str], knowledge: Knowledge
    ) -> NamedGenes | None:
        """Those of a corpus, or None where the knowledge bases know no genes, or no diseases.

        The graph is built where it is not in the cache. A notice tells of genes without diseases.

        Args:
            corpus: the articles.
            names: the knowledge bases.
            knowledge: what they say.
        """
        if not _knows(knowledge, "gene"):
            return None
        if not _knows(knowledge, "disease"):
            click.echo(
                f"{', '.join(names)}: nothing asks for a gene and a disease, since no diseases are "
                "known. Name a knowledge base of them first, such as mesh.",
                err=True,
            )
            return None
        options = ConceptOptions(knowledge=tuple(names))
        return cls(ConceptGraph(concept_graph(corpus, options).path), knowledge)

    def mentions(self, document_id: str) -> dict[str, int]:
        """The genes that an article names, by their symbols, to how often it does."""
        row = self._graph.row_of(document_id)
        if row is None:
            return {}
        start, end = self._graph.documents.indptr[row : row + 2]
        concepts = self._graph.documents.indices[start:end]
        counts = self._graph.documents.counts[start:end]
        genes = self._gene[concepts]
        named: Counter[str] = Counter()  # two genes may have the same symbol
        for concept, count in zip(concepts[genes], counts[genes], strict=True):
            named[self._symbol(int(concept))] += int(count)
        return dict(named)

    def _symbol_of(self, concept: int) -> str:
        """A gene's best name of one word: a heading may be its preferred one."""
        names = self._graph.table.ranked_names_of(concept)
        symbol, _ = min(names, key=lambda name: (" " in name[0], name[1]))
        return symbol

    def _is_disease(self, heading: str) -> bool:
        found = self._knowledge.find(heading)
        return any(each.kind == "disease" and is_called(each, heading) for each in found)
