"""What MeSH's formats have in common: kinds from tree numbers, is-a from tree numbers.

Medical Subject Headings, U.S. National Library of Medicine. A tree number's prefix is the tree
number of the broader heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.knowledge.model import Concept, ConceptKind, Name, NameKind, Relation
from irplatform.knowledge.names import kind_of_synonym

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DISEASES = ("C", "F03")
_ANTIBODIES = "D12.776.124.486.485"
_MOLECULES_OF_LIFE = ("D08", "D12", "D13", "D23")
"""Enzymes, proteins, nucleic acids, biological factors: more often a gene's product than a drug."""


class Descriptors:
    """Makes concepts from descriptors, and their is-a relations when all were seen."""

    def __init__(self) -> None:
        self._by_tree: dict[str, str] = {}

    def concept(self, ui: str, name: str, terms: Sequence[Name], trees: Sequence[str]) -> Concept:
        """A descriptor's concept."""
        concept_id = f"MESH:{ui}"
        self._by_tree.update((tree, concept_id) for tree in trees if tree)
        return Concept(concept_id, name, kind_of(trees), (Name(name, "preferred"), *terms))

    def relations(self) -> Iterator[Relation]:
        """Is-a, from every place of every descriptor to the place above it."""
        for tree, concept_id in self._by_tree.items():
            parent = self._by_tree.get(tree.rpartition(".")[0])
            if parent is not None and parent != concept_id:
                yield Relation(concept_id, parent, "is-a")


def kind_of(trees: Sequence[str]) -> ConceptKind:
    """What a descriptor with these tree numbers is."""
    if any(tree.startswith(_DISEASES) for tree in trees):
        return "disease"
    if any(
        tree.startswith("D")
        and (tree.startswith(_ANTIBODIES) or not tree.startswith(_MOLECULES_OF_LIFE))
        for tree in trees
    ):
        return "drug"
    return "other"


def entry_term(text: str, relation: str = "") -> Name:
    """An entry term as a name.

    Args:
        text: the term.
        relation: of its concept to the descriptor: EQV, NRW, BRD, REL, or "" where not told.
    """
    narrower: dict[str, NameKind] = {"NRW": "narrow", "BRD": "broad", "REL": "related"}
    kind = narrower.get(relation)
    return Name(text, kind or kind_of_synonym(text))
