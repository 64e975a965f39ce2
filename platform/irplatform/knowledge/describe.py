"""What knowledge bases say about a term, as facts to print: concepts, names, relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.knowledge.builder import EVIDENCE_SEPARATOR
from irplatform.knowledge.ids import typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.knowledge.model import Concept, Relation
    from irplatform.knowledge.union import Knowledge

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
