"""Makes one concept of the entries that several knowledge bases have under different ids.

Two are the same by cross-references, by equal preferred names of one kind, or by a preferred name
that is the other's synonym. Two ids of one name space stay apart, so that two diseases which refer
to one heading stay two. Of several candidates, equal names take precedence, then the broader
concept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.knowledge.model import (
    NAME_RANK,
    NAME_SPACES,
    name_id,
    space,
    stored_key,
    stored_keys,
)
from irplatform.system.console import QUICK, progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.knowledge import Concept, ConceptKind, KnowledgeBase, NameKind

_EXACT = {"preferred", "synonym"}
_NO_SYMBOLS = {"MESH", "UMLS"}
"""Sources that give a gene the name of its protein: Receptors, Androgen."""
_LIKE = {"drug": "other", "other": "drug"}
"""Proteins are drugs in one source and of no kind in another."""
_REFERRED_AND_NAMED, _SAME_NAME, _SYNONYM, _REFERRED = range(4)
"""Reasons to take two ids for one concept, the best first: a cross-reference and a name, the same
preferred name, a preferred name that is the other's synonym, a cross-reference alone."""


@dataclass(slots=True)
class United:
    """A concept of one or several knowledge bases.

    Attributes:
        name: the preferred name in the first knowledge base.
        kind: its kind.
        ids: all its ids, that of the first knowledge base first.
        names: all its names with the best kind that a source gives each; `name` is the first.
        xrefs: ids that it refers to, known or not.
        symbol: a gene's, even if an earlier source gives the name of the protein.
    """

    name: str
    kind: ConceptKind
    ids: list[str]
    names: dict[str, NameKind]
    xrefs: dict[str, None] = field(default_factory=dict)
    symbol: str = ""

    def absorb(self, other: United) -> None:
        """Take over everything of another one."""
        if other.symbol and not self.symbol:
            self.symbol, self.kind = other.symbol, "gene"
        elif self.kind == "other":
            self.kind = other.kind
        self.ids += other.ids
        for text, kind in other.names.items():
            merged_kind = kind if text == self.symbol else _merged_kind(kind, text, self.kind)
            if text not in self.names or NAME_RANK[merged_kind] < NAME_RANK[self.names[text]]:
                self.names[text] = merged_kind
        self.xrefs.update(other.xrefs)


def _merged_kind(kind: NameKind, text: str, of: ConceptKind) -> NameKind:
    """The kind of a name in a concept with another preferred name; another symbol is an alias."""
    if kind != "preferred":
        return kind
    return "alias" if of == "gene" and " " not in text else "synonym"


def united(bases: Sequence[KnowledgeBase]) -> list[United]:
    """The concepts of several knowledge bases, each once.

    They are in the order of the first knowledge base that has them, then of their ids in it.
    """
    concepts = _by_id(bases)
    places = {concept_id: place for place, concept_id in enumerate(concepts)}
    children = _children(bases)
    pairs: set[tuple[int, int, int, int]] = set()
    for trust, one, other in _same(concepts):
        low, high = sorted((places[one], places[other]))
        breadth = 0
        if trust == _REFERRED:  # of several that refer to one heading, the broadest is the one
            breadth = _breadth(children, one) + _breadth(children, other)
        pairs.add((trust, -breadth, low, high))
    forest = list(range(len(concepts)))
    spaces = [{space(concept_id)} for concept_id in concepts]
    for _, _, left, right in sorted(pairs):
        low, high = sorted((_root(forest, left), _root(forest, right)))
        if low != high and not spaces[low] & spaces[high]:
            forest[high] = low
            spaces[low] |= spaces[high]
    by_root: dict[int, United] = {}
    for place, concept in enumerate(concepts.values()):
        root = _root(forest, place)
        if root == place:
            by_root[root] = concept
        else:
            by_root[root].absorb(concept)
    return list(by_root.values())


def _by_id(bases: Sequence[KnowledgeBase]) -> dict[str, United]:
    concepts: dict[str, United] = {}
    with progress("reading", unit="concepts", part=QUICK) as advance:
        for base in bases:
            for concept in base.concepts():
                entry = _alone(concept)
                if concept.id in concepts:
                    entry.ids = []
                    concepts[concept.id].absorb(entry)
                else:
                    concepts[concept.id] = entry
                advance(1)
    return concepts


def _alone(concept: Concept) -> United:
    names: dict[str, NameKind] = {concept.name: "preferred"}
    for name in concept.names:
        names.setdefault(name.text, name.kind)
    is_symbol = concept.kind == "gene" and space(concept.id) not in _NO_SYMBOLS
    symbol = concept.name if is_symbol else ""
    xrefs = dict.fromkeys(concept.xrefs)
    return United(concept.name, concept.kind, [concept.id], names, xrefs, symbol)


def _same(concepts: dict[str, United]) -> Iterator[tuple[int, str, str]]:
    """Pairs of ids of one concept, each with the rank of its reason (0: the best)."""
    preferred: dict[str, str] = {}
    all_keys: dict[str, set[str]] = {}
    by_name: dict[tuple[str, str], list[str]] = {}
    with progress("comparing names", len(concepts), "concepts") as advance:
        for concept_id, concept in concepts.items():
            exact = (text for text, kind in concept.names.items() if kind in _EXACT)
            all_keys[concept_id] = {key for text in exact for key in stored_keys(text)}
            preferred[concept_id] = key = stored_key(concept.name)
            if key:
                by_name.setdefault((concept.kind, key), []).append(concept_id)
            advance(1)
    for concept_id, concept in concepts.items():
        keys = all_keys[concept_id]
        trust_of = dict(_same_names(concept, keys, preferred[concept_id], by_name))
        if concept.kind == "gene":  # BRAF is not Braf
            symbols = {other: concepts[other].name for other in trust_of if other in concepts}
            trust_of = {o: t for o, t in trust_of.items() if symbols.get(o, "") == concept.name}
        for xref in concept.xrefs:
            if xref in concepts:
                akin = not keys.isdisjoint(all_keys[xref]) or xref in trust_of
                trust_of[xref] = _REFERRED_AND_NAMED if akin else _REFERRED
        for other, trust in trust_of.items():
            if other in concepts and other != concept_id:
                benign = ["benign" in member.name.lower() for member in (concept, concepts[other])]
                if benign[0] == benign[1]:  # a benign neoplasm is not any neoplasm
                    yield trust, concept_id, other


def _same_names(
    concept: United, keys: set[str], preferred: str, by_name: dict[tuple[str, str], list[str]]
) -> Iterator[tuple[str, int]]:
    """Ids that have a concept's name, the best reason for each last."""
    gene = concept.kind == "gene"
    for other in by_name.get((_LIKE.get(concept.kind, ""), preferred), ()):
        yield other, _SYNONYM
    for key in sorted(keys) if concept.kind == "disease" else ():
        for other in by_name.get(("other", key), ()):
            yield other, _SYNONYM
    for key in [preferred] if gene else sorted(keys, key=lambda key: key == preferred):
        for other in by_name.get((concept.kind, key), ()):
            yield other, _SAME_NAME if key == preferred else _SYNONYM
    if concept.kind in NAME_SPACES:
        exact = [text for text, kind in concept.names.items() if kind in _EXACT]
        for text in [concept.name] if gene else exact:
            yield name_id(concept.kind, text), _SAME_NAME


def _children(bases: Sequence[KnowledgeBase]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for base in bases:
        for source, target, kind in base.relation_ends():
            if kind == "is-a":
                children.setdefault(target, []).append(source)
    return children


def _breadth(children: dict[str, list[str]], concept_id: str) -> int:
    met = {concept_id}
    level = [concept_id]
    while level:
        below = (c for parent in level for c in children.get(parent, ()))
        level = list(dict.fromkeys(c for c in below if c not in met))
        met.update(level)
    return len(met)


def _root(forest: list[int], place: int) -> int:
    while forest[place] != place:
        forest[place] = forest[forest[place]]
        place = forest[place]
    return place
