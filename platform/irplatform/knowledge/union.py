"""Several knowledge bases read as one.

A concept that several of them know under the same id is one concept, with the names of all.
Concepts with different ids stay apart; `same_as` says which ones are the same thing, by their
cross-references and, for sources that give names alone (DRUG:vemurafenib), by name.
"""

from __future__ import annotations

import difflib
import heapq
from collections import deque
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from irplatform.knowledge.model import (
    NAME_RANK,
    NAME_SPACES,
    Concept,
    Name,
    keys,
    name_id,
    space,
    stored_key,
    typed,
)
from irplatform.knowledge.store import EVIDENCE_SEPARATOR
from irplatform.system.digests import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.knowledge.model import ConceptKind, Relation
    from irplatform.knowledge.store import KnowledgeBase


_REMEMBERED = 1 << 14
"""Concepts that are kept in memory once they were asked for."""
_PREVIOUS_FIRST = {
    NAME_RANK["previous"]: NAME_RANK["alias"],
    NAME_RANK["alias"]: NAME_RANK["previous"],
}
"""A gene's previous symbol was the official one; another gene's alias never was."""


class Knowledge:
    """A union of knowledge bases; the first one takes precedence where they differ.

    It may be used by several threads at once.
    """

    def __init__(self, bases: Sequence[KnowledgeBase]) -> None:
        self.bases = tuple(bases)
        self._gathered = lru_cache(maxsize=_REMEMBERED)(partial(_gathered, self.bases))

    @property
    def fingerprint(self) -> str:
        """Stands for the content and the order of the knowledge bases."""
        return fingerprint({"kb": [[base.name, base.fingerprint] for base in self.bases]})

    def find(self, text: str) -> list[Concept]:
        """Concepts that have this name in some spelling.

        Returns:
            Genes with exactly this symbol first, then names that differ in case at most, then
            those that differ in hyphens, number, or inversion. Within these: what has a kind before
            what has none, preferred names before synonyms, previous symbols, aliases, narrower and
            broader names, and the knowledge bases in their order.
        """
        lookup_keys = keys(text)
        ranks: dict[str, int] = {}
        for base in self.bases:
            for concept_id, rank in base.named(lookup_keys):
                ranks[concept_id] = min(rank, ranks.get(concept_id, rank))
        return sorted(
            self._all_of(ranks), key=lambda concept: _distance(concept, text, ranks[concept.id])
        )

    def concept(self, concept_id: str) -> Concept | None:
        """The concept with this id, or None."""
        return self._gathered(concept_id)

    def concepts(self, kind: ConceptKind | None = None) -> Iterator[Concept]:
        """All concepts (of a kind), in order of their ids."""
        each_in_order = heapq.merge(
            *(base.concepts() for base in self.bases), key=lambda concept: concept.id
        )
        for _, group in groupby(each_in_order, key=lambda concept: concept.id):
            concept = _united(list(group))
            if kind is None or concept.kind == kind:
                yield concept

    def parents(self, concept_id: str) -> list[Concept]:
        """What a concept is a kind of, one step up."""
        return self._neighbours(concept_id, upwards=True)

    def children(self, concept_id: str) -> list[Concept]:
        """The kinds of a concept, one step down."""
        return self._neighbours(concept_id, upwards=False)

    def ancestors(self, concept_id: str, limit: int | None = None) -> list[Concept]:
        """Everything above a concept, the nearest first."""
        return self._reachable(concept_id, limit, upwards=True)

    def descendants(self, concept_id: str, limit: int | None = None) -> list[Concept]:
        """Everything below a concept, the nearest first.

        Args:
            concept_id: where to begin; not part of the result.
            limit: how many to return at most.
        """
        return self._reachable(concept_id, limit, upwards=False)

    def relations(self, concept_id: str, kind: str | None = None) -> list[Relation]:
        """Relations from and to a concept, whichever of its ids a source uses (see `same_as`).

        Args:
            concept_id: the concept.
            kind: only these, e.g. "drug-gene"; all but "is-a" by default.
        """
        ids = [concept_id, *(concept.id for concept in self.same_as(concept_id))]
        relations = (
            relation
            for base in self.bases
            for each in ids
            for relation in base.relations(each, kind)
            if kind is not None or relation.kind != "is-a"
        )
        return list(dict.fromkeys(relations))

    def same_as(self, concept_id: str) -> list[Concept]:
        """The same thing under other ids: by cross-references in either direction, and by name.

        Beyond the first step only name spaces that were not met yet are entered: two diseases that
        refer to one MeSH heading do not become one.
        """
        met = {concept_id: None}
        spaces = {space(concept_id)}
        queue = deque([concept_id])
        while queue:
            current = queue.popleft()
            linked = [other for other in self._linked(current) if other not in met]
            if current != concept_id:
                linked = [other for other in linked if space(other) not in spaces]
            met.update(dict.fromkeys(linked))
            spaces |= {space(other.id) for other in self._all_of(linked)}
            queue.extend(linked)
        return self._all_of(other for other in met if other != concept_id)

    def search(self, prefix: str, limit: int = 20) -> list[Concept]:
        """Concepts with a name that begins like this, in alphabetical order of those names."""
        hit_limit = 2 * limit
        while True:  # a concept may have any number of names that begin like this
            hits = [hit for base in self.bases for hit in base.with_prefix(prefix, hit_limit)]
            concepts = self._all_of(concept_id for _, concept_id in sorted(hits)[:hit_limit])
            if len(concepts) >= limit or len(hits) < hit_limit:
                return concepts[:limit]
            hit_limit *= 2

    def nearest(self, text: str, limit: int = 5) -> list[Concept]:
        """Concepts with a name that is spelled nearly like this and begins like it."""
        target_key = stored_key(text)
        candidates = {
            key
            for base in self.bases
            for key in base.keys_with_prefix(target_key[:2])
            if target_key and abs(len(key) - len(target_key)) <= max(2, len(target_key) // 4)
        }
        near = difflib.get_close_matches(target_key, sorted(candidates), n=limit, cutoff=0.75)
        hits = (hit for key in near for base in self.bases for hit in base.named([key]))
        return self._all_of(concept_id for concept_id, _ in hits)[:limit]

    def _all_of(self, ids: Iterable[str]) -> list[Concept]:
        """The concepts with these ids, each once; ids that are not known are left out."""
        concepts = (self._gathered(concept_id) for concept_id in dict.fromkeys(ids))
        return [concept for concept in concepts if concept is not None]

    def _neighbours(self, concept_id: str, *, upwards: bool) -> list[Concept]:
        ids: dict[str, None] = {}
        for base in self.bases:
            for relation in base.relations(concept_id, "is-a"):
                here, there = relation.source_id, relation.target_id
                if not upwards:
                    here, there = there, here
                if here == concept_id:
                    ids[there] = None
        return self._all_of(ids)

    def _reachable(self, concept_id: str, limit: int | None, *, upwards: bool) -> list[Concept]:
        reached: dict[str, Concept] = {}
        queue = deque([concept_id])
        while queue and (limit is None or len(reached) < limit):
            for concept in self._neighbours(queue.popleft(), upwards=upwards):
                if concept.id not in reached and concept.id != concept_id:
                    reached[concept.id] = concept
                    queue.append(concept.id)
        return list(reached.values())[:limit]

    def _linked(self, concept_id: str) -> list[str]:
        ids: dict[str, None] = {}
        concept = self.concept(concept_id)
        if concept is not None:
            ids.update(dict.fromkeys(concept.xrefs))
            ids.update(dict.fromkeys(self._linked_by_name(concept)))
        for base in self.bases:
            ids.update(dict.fromkeys(base.referring_to(concept_id)))
        ids.pop(concept_id, None)
        return list(ids)

    def _linked_by_name(self, concept: Concept) -> Iterator[str]:
        """Ids of what is the same because it has the same name.

        Drugs have few names that are not their own. Genes and diseases share many, so for these a
        name counts only where a source gave nothing else, and for genes only the symbol itself.
        """
        name_space = NAME_SPACES.get(concept.kind)
        if name_space is None:
            return
        names = {concept.name} if concept.kind == "gene" else {n.text for n in concept.names}
        for namesake in self._all_of(name_id(concept.kind, name) for name in sorted(names)):
            yield namesake.id
        if concept.kind != "drug" and space(concept.id) != name_space:
            return
        for other in self.find(concept.name):
            if other.kind == concept.kind and (name_space != "GENE" or other.name == concept.name):
                yield other.id


def _gathered(bases: Sequence[KnowledgeBase], concept_id: str) -> Concept | None:
    """What knowledge bases say of an id.

    No method of `Knowledge`: one that it remembered would keep it, and its open files, alive.
    """
    entries = [base.concept(concept_id) for base in bases]
    concepts = [concept for concept in entries if concept is not None]
    return _united(concepts) if concepts else None


def _united(concepts: Sequence[Concept]) -> Concept:
    """One concept from what several knowledge bases say of one id: the names of all."""
    first, *others = concepts
    if not others:
        return first
    names = {name.text: name for name in first.names}
    for name in (name for other in others for name in other.names):
        kind = "synonym" if name.kind == "preferred" else name.kind
        names.setdefault(name.text, Name(name.text, kind))
    return replace(
        first,
        kind=next((each.kind for each in concepts if each.kind != "other"), "other"),
        names=tuple(names.values()),
        xrefs=tuple(dict.fromkeys(xref for each in concepts for xref in each.xrefs)),
    )


def _distance(concept: Concept, text: str, rank: int) -> tuple[int, bool, int]:
    """How far a concept is from a text: in spelling, in kind, in the kind of its nearest name."""
    folded = text.casefold()
    spelling = 2
    for name in concept.names:
        if name.text == text and concept.kind == "gene":
            near = 0
        elif name.text.casefold() == folded:
            near = 1
        else:
            continue
        spelling, rank = min((spelling, rank), (near, NAME_RANK[name.kind]))
    return spelling, concept.kind == "other", _PREVIOUS_FIRST.get(rank, rank)


# What knowledge bases say about a term, as facts to print: concepts, names, relations.

_NEAREST = 5


def describe(knowledge: Knowledge, term: str) -> dict[str, Any]:
    """All that is known about a term, or about an id.

    Returns:
        `term`; `concepts` in the order of `Knowledge.find`, or those that have the id as a
        cross-reference or had it before, each with names, parents, children, the
        same thing under other ids, and relations; `nearest`, when nothing was found. Things that
        are the same share their relations: those stand at the first one only.
    """
    ids = dict.fromkeys((term, typed(term)))
    concepts = [c for c in map(knowledge.concept, ids) if c is not None][:1]
    concepts = concepts or knowledge.find(term)
    if not concepts:
        linked = (concept for each in ids for concept in knowledge.same_as(each))
        concepts = list({concept.id: concept for concept in linked}.values())
    relations_at: dict[str, str] = {}
    facts = [_facts(knowledge, concept, relations_at) for concept in concepts]
    nearest = [] if concepts else [_short(near) for near in knowledge.nearest(term, _NEAREST)]
    return {"term": term, "concepts": facts, "nearest": nearest}


def _facts(knowledge: Knowledge, concept: Concept, relations_at: dict[str, str]) -> dict[str, Any]:
    same = knowledge.same_as(concept.id)
    facts: dict[str, Any] = {
        **_short(concept),
        "kb": concept.kb,
        "names": [{"text": name.text, "kind": name.kind} for name in concept.names],
        "xrefs": list(concept.xrefs),
        "parents": [_short(parent) for parent in knowledge.parents(concept.id)],
        "children": [_short(child) for child in knowledge.children(concept.id)],
        "same_as": [_short(other) for other in same],
    }
    if concept.id in relations_at:
        return {**facts, "relations_at": relations_at[concept.id], "relations": []}
    ids = {concept.id, *(other.id for other in same)}
    relations_at.update(dict.fromkeys(ids, concept.id))
    relations = _relations(knowledge, knowledge.relations(concept.id), ids)
    return {**facts, "relations_at": concept.id, "relations": relations}


def _relations(
    knowledge: Knowledge, relations: Sequence[Relation], own_ids: set[str]
) -> list[dict[str, Any]]:
    """One entry per kind and other end, with what each base says; the best known first."""
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    for relation in relations:
        other = relation.target_id if relation.source_id in own_ids else relation.source_id
        concept = knowledge.concept(other)
        entry = entries.setdefault(
            (relation.kind, other),
            {
                "kind": relation.kind,
                "id": other,
                "name": concept.name if concept else other,
                "evidence": [],
            },
        )
        entry["evidence"].append({"kb": relation.kb, "text": relation.evidence})
    return sorted(
        entries.values(), key=lambda entry: (entry["kind"], -_weight(entry), entry["name"])
    )


def _weight(entry: dict[str, Any]) -> int:
    return sum(1 + each["text"].count(EVIDENCE_SEPARATOR) for each in entry["evidence"])


def _short(concept: Concept) -> dict[str, str]:
    return {"id": concept.id, "name": concept.name, "kind": concept.kind}
