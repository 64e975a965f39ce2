"""What MeSH's formats have in common: kinds from tree numbers, is-a from tree numbers.

Medical Subject Headings, U.S. National Library of Medicine. A tree number's prefix is the tree
number of the broader heading.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.knowledge.model import Concept, ConceptKind, Name, NameKind, Relation
from irplatform.knowledge.names import kind_of_synonym

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMED = "MESH:="
"""Before the name of a heading that a supplementary record is mapped to, where it gives no id."""
_DISEASES = ("C", "F03")
_ANTIBODIES = "D12.776.124.486.485"
_MOLECULES_OF_LIFE = ("D05.500", "D08", "D12", "D13", "D23")
"""Multiprotein complexes, enzymes, proteins, nucleic acids, biological factors: more often a gene's
product than a drug."""
_PROTEINS = ("D08", "D12.776")
_SORTS_OF_PROTEINS = ("D05.750.078", "D09.400.430", "D09.698.735", "D10.532", "D10.570.780")
"""Biopolymers, glycoproteins, proteoglycans, lipoproteins, proteolipids: the further place of a
protein there does not make it a drug."""
_HEADING_OF_PROTEINS = re.compile(
    r"(?!.*(?:(?:inhibitor|agonist|blocker|activator|modulator)s?(?:$|,| and)|vaccine|antibod))"
    r".*\b(?:(?:poly|lipo|glyco)?proteins?|receptors?|antigens?|histones?|(?:micro)?RNAs?|DNA"
    r"|transcription factors?|\w{3,}ases?)\b",
    re.IGNORECASE,
)
"""Headings of molecules of life, as far as their names tell."""
_NAME_OF_A_DRUG = re.compile(
    r"\w{3}(?:poetin|grastim|gramostim|plestim|teplase|cept|plermin|kinra)\b", re.IGNORECASE
)
"""Of recombinant proteins, by the stems of WHO's international nonproprietary names."""
_NAMED_PROTEIN = re.compile(r"\bproteins?(?:, .+)?$|^EC \d", re.IGNORECASE)
"""Of supplementary records: EGFR protein, human; or the number of an enzyme."""


class Descriptors:
    """Makes concepts from descriptors, and their is-a relations when all were seen."""

    def __init__(self) -> None:
        self._by_tree: dict[str, str] = {}

    def concept(self, ui: str, name: str, terms: Sequence[Name], trees: Sequence[str]) -> Concept:
        """A descriptor's concept."""
        concept_id = f"MESH:{ui}"
        self._by_tree.update((tree, concept_id) for tree in trees if tree)
        return Concept(concept_id, name, _kind_of(name, trees), (Name(name, "preferred"), *terms))

    def relations(self) -> Iterator[Relation]:
        """Is-a, from every place of every descriptor to the place above it."""
        for tree, concept_id in self._by_tree.items():
            parent = self._by_tree.get(tree.rpartition(".")[0])
            if parent is not None and parent != concept_id:
                yield Relation(concept_id, parent, "is-a")


def _kind_of(name: str, trees: Sequence[str]) -> ConceptKind:
    if any(tree.startswith(_DISEASES) for tree in trees):
        return "disease"
    if _NAME_OF_A_DRUG.search(name):
        return "drug"
    molecules: tuple[str, ...] = _MOLECULES_OF_LIFE
    if any(tree.startswith(_PROTEINS) for tree in trees):
        molecules += _SORTS_OF_PROTEINS
    if any(
        tree.startswith("D") and (tree.startswith(_ANTIBODIES) or not tree.startswith(molecules))
        for tree in trees
    ):
        return "drug"
    return "other"


def kind_of_substance(names: Sequence[str], headings: Sequence[str]) -> ConceptKind:
    """What a supplementary record of a substance is, by its own names and those of its headings.

    `Builder` knows more where the headings are added with it.
    """
    if any(map(_NAME_OF_A_DRUG.search, names)):
        return "drug"
    if any(map(_NAMED_PROTEIN.search, names)):
        return "other"
    proteins = [_HEADING_OF_PROTEINS.match(heading) is not None for heading in headings]
    return "other" if proteins and all(proteins) else "drug"


def entry_term(text: str, relation: str = "") -> Name:
    """An entry term as a name, by its relation to the descriptor: EQV, NRW, BRD, REL or ""."""
    narrower: dict[str, NameKind] = {"NRW": "narrow", "BRD": "broad", "REL": "related"}
    kind = narrower.get(relation)
    return Name(text, kind or kind_of_synonym(text))
