"""Several knowledge bases read as one.

A concept of several of them with one id has the names of all. `same_as` finds the same thing under
other ids, by cross-references and, for sources that give only names (DRUG:vemurafenib), by name.
"""

from __future__ import annotations

import difflib
import heapq
from collections import deque
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from irplatform.files.digests import fingerprint
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.knowledge.model import ConceptKind, Relation
    from irplatform.knowledge.store import KnowledgeBase


_NEAREST = 5
_REMEMBERED = 1 << 14
_PREVIOUS_FIRST = {
    NAME_RANK["previous"]: NAME_RANK["alias"],
    NAME_RANK["alias"]: NAME_RANK["previous"],
}


class Knowledge:
    """A union of knowledge bases; where they differ, the first one counts. Threads may share it."""

    def __init__(self, bases: Sequence[KnowledgeBase]) -> None:
        self.bases = tuple(bases)
        self._gathered = lru_cache(maxsize=_REMEMBERED)(partial(_gathered, self.bases))

    @property
    def fingerprint(self) -> str:
        """Of the content and the order of the knowledge bases."""
        return fingerprint({"kb": [[base.name, base.fingerprint] for base in self.bases]})

    def find(self, text: str) -> list[Concept]:
        """Concepts that have this name in some spelling.

        Genes with exactly this symbol come first, then names that differ in case at most. Within
        these, concepts of a kind go before others, preferred names before synonyms, previous
        symbols, aliases, narrower and broader names; and the knowledge bases in their order.
        """
        lookup_keys = keys(text)
        ranks: dict[str, int] = {}
        for base in self.bases:
            for concept_id, rank in base.matches(lookup_keys):
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
        """The concepts one is-a above."""
        return self._neighbours(concept_id, upwards=True)

    def children(self, concept_id: str) -> list[Concept]:
        """The concepts one is-a below."""
        return self._neighbours(concept_id, upwards=False)

    def ancestors(self, concept_id: str, limit: int | None = None) -> list[Concept]:
        """Everything above a concept, the nearest first."""
        return self._reachable(concept_id, limit, upwards=True)

    def descendants(self, concept_id: str, limit: int | None = None) -> list[Concept]:
        """Everything below a concept, the nearest first."""
        return self._reachable(concept_id, limit, upwards=False)

    def relations(self, concept_id: str, kind: str | None = None) -> list[Relation]:
        """Relations from and to a concept under any id: of one kind, or all kinds but "is-a"."""
        ids = [concept_id, *(concept.id for concept in self.same_as(concept_id))]
        relations = (
            relation
            for base in self.bases
            for identifier in ids
            for relation in base.relations(identifier, kind)
            if kind is not None or relation.kind != "is-a"
        )
        return list(dict.fromkeys(relations))

    def same_as(self, concept_id: str) -> list[Concept]:
        """The same thing under other ids: by cross-references in either direction, and by name.

        Beyond the first step only new name spaces are entered, so two diseases that refer to one
        MeSH heading do not become one.
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
        while True:  # a concept may have many names that begin like this
            hits = [hit for base in self.bases for hit in base.with_prefix(prefix, hit_limit)]
            concepts = self._all_of(concept_id for _, concept_id in sorted(hits)[:hit_limit])
            if len(concepts) >= limit or len(hits) < hit_limit:
                return concepts[:limit]
            hit_limit *= 2

    def nearest(self, text: str, limit: int = 5) -> list[Concept]:
        """Concepts with a name that begins like this and is spelled nearly like it."""
        target_key = stored_key(text)
        candidates = {
            key
            for base in self.bases
            for key in base.keys_with_prefix(target_key[:2])
            if target_key and abs(len(key) - len(target_key)) <= max(2, len(target_key) // 4)
        }
        near = difflib.get_close_matches(target_key, sorted(candidates), n=limit, cutoff=0.75)
        hits = (hit for key in near for base in self.bases for hit in base.matches([key]))
        return self._all_of(concept_id for concept_id, _ in hits)[:limit]

    def _all_of(self, ids: Iterable[str]) -> list[Concept]:
        """The known concepts with these ids, each once."""
        concepts = (self._gathered(concept_id) for concept_id in dict.fromkeys(ids))
        return [concept for concept in concepts if concept is not None]

    def _neighbours(self, concept_id: str, *, upwards: bool) -> list[Concept]:
        ids: dict[str, None] = {}
        for base in self.bases:
            for relation in base.relations(concept_id, "is-a"):
                origin, neighbour = relation.source_id, relation.target_id
                if not upwards:
                    origin, neighbour = neighbour, origin
                if origin == concept_id:
                    ids[neighbour] = None
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
        """Ids of concepts with the same name.

        For genes and diseases, which share many names, a name counts only where a source gave
        nothing else, and for genes only the symbol.
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
    """The concept with an id; not a method, as the cache would keep the object's files open."""
    entries = [base.concept(concept_id) for base in bases]
    concepts = [concept for concept in entries if concept is not None]
    return _united(concepts) if concepts else None


def _united(concepts: Sequence[Concept]) -> Concept:
    first, *others = concepts
    if not others:
        return first
    names = {name.text: name for name in first.names}
    for name in (name for other in others for name in other.names):
        kind = "synonym" if name.kind == "preferred" else name.kind
        names.setdefault(name.text, Name(name.text, kind))
    return replace(
        first,
        kind=next((concept.kind for concept in concepts if concept.kind != "other"), "other"),
        names=tuple(names.values()),
        xrefs=tuple(dict.fromkeys(xref for concept in concepts for xref in concept.xrefs)),
    )


def _distance(concept: Concept, text: str, rank: int) -> tuple[int, bool, int]:
    """The sort key of a concept: by spelling, its kind, and the kind of its nearest name."""
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


def describe(knowledge: Knowledge, term: str) -> dict[str, Any]:
    """All that is known about a term or an id, as JSON.

    `concepts` are in the order of `Knowledge.find`; `nearest` is there if nothing was found.
    Relations of one thing under several ids stand with the first one only.
    """
    ids = dict.fromkeys((term, typed(term)))
    concepts = [c for c in map(knowledge.concept, ids) if c is not None][:1]
    concepts = concepts or knowledge.find(term)
    if not concepts:
        linked = (concept for identifier in ids for concept in knowledge.same_as(identifier))
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
    """One entry per kind and other end with the evidence of each base; the best known first."""
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    for relation in relations:
        other = relation.target_id if relation.source_id in own_ids else relation.source_id
        concept = knowledge.concept(other)
        name = concept.name if concept else other
        entry: dict[str, Any] = {"kind": relation.kind, "id": other, "name": name, "evidence": []}
        entry = entries.setdefault((relation.kind, other), entry)
        entry["evidence"].append({"kb": relation.kb, "text": relation.evidence})

    def order(entry: dict[str, Any]) -> tuple[str, int, str]:
        weights = (1 + evidence["text"].count(EVIDENCE_SEPARATOR) for evidence in entry["evidence"])
        return entry["kind"], -sum(weights), entry["name"]

    return sorted(entries.values(), key=order)


def _short(concept: Concept) -> dict[str, str]:
    return {"id": concept.id, "name": concept.name, "kind": concept.kind}
