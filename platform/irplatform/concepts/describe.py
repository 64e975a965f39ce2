"""What a graph says of a document or a concept, as facts to print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.knowledge.ids import compact

if TYPE_CHECKING:
    from irplatform.concepts.graph import ConceptGraph


def describe(graph: ConceptGraph, what: str, limit: int = 10) -> dict[str, Any]:
    """The neighbourhood of a document or a concept.

    Args:
        graph: where to look.
        what: a document's id, a concept's id in any source, or one of its names.
        limit: neighbours of each kind that are told.

    Returns:
        `document` with its concepts and how these are related; or `concept` with its names,
        neighbours by source, and the documents that mention it most.

    Raises:
        InputError: there is no such thing.
    """
    row = graph.row_of(what)
    if row is not None:
        return {"document": _document(graph, what, row)}
    return {"concept": _concept(graph, concepts_called(graph, what)[0], limit)}


def concepts_called(graph: ConceptGraph, what: str) -> list[int]:
    """The concept with an id, its prefix in any case, or those that a text names: at least one.

    Raises:
        InputError: there is none.
    """
    for concept_id in (what, compact(what)):
        concept = graph.concept_of(concept_id)
        if concept is not None:
            return [concept]
    found: list[int] = graph.find(what).tolist()
    if not found:
        raise InputError(
            f"'{what}' is neither a document nor the id or name of a concept of this graph."
        )
    return found


def short(graph: ConceptGraph, concept: int) -> dict[str, Any]:
    """A concept's id, name, kind and the number of documents that speak of it."""
    return {
        "id": graph.ids[concept],
        "name": graph.names[concept],
        "kind": graph.KINDS[graph.kinds[concept]],
        "documents": int(graph.document_frequency[concept]),
    }


def _document(graph: ConceptGraph, doc_id: str, row: int) -> dict[str, Any]:
    concepts, counts, _ = graph.concepts_of(np.array([row]))
    order = np.lexsort((concepts, -counts))
    held = set(concepts.tolist())
    relations = [
        {
            "from": graph.names[concept],
            "to": graph.names[other],
            "relation": source.relation,
            "kb": source.kb,
        }
        for concept in concepts.tolist()
        for other, source, forward in graph.neighbours(concept)
        if forward and other in held
    ]
    return {
        "id": doc_id,
        "row": row,
        "concepts": [
            {**short(graph, int(concepts[place])), "count": int(counts[place])} for place in order
        ],
        "relations": relations,
    }


def _concept(graph: ConceptGraph, concept: int, limit: int) -> dict[str, Any]:
    sources: dict[str, dict[str, Any]] = {}
    for other, source, forward in graph.neighbours(concept):
        place = sources.setdefault(
            f"{source}{'' if forward else ', from'}",
            {"relation": source.relation, "kb": source.kb, "forward": forward, "neighbours": []},
        )
        place["neighbours"].append(other)
    edges = []
    for place in sources.values():
        others: list[int] = place["neighbours"]
        best = sorted(others, key=lambda other: (-int(graph.document_frequency[other]), other))
        told = [short(graph, other) for other in best[:limit]]
        edges.append({**place, "count": len(others), "neighbours": told})
    rows = graph.documents_of(concept)
    counts = np.array([_count(graph, row, concept) for row in rows.tolist()], np.int64)
    most = np.lexsort((rows, -counts))[:limit]
    return {
        **short(graph, concept),
        "names": graph.names_of(concept),
        "edges": edges,
        "mentioned_in": [
            {"id": graph.doc_ids[int(rows[place])], "count": int(counts[place])} for place in most
        ],
    }


def _count(graph: ConceptGraph, row: int, concept: int) -> int:
    concepts, counts, _ = graph.concepts_of(np.array([row]))
    return int(counts[np.searchsorted(concepts, concept)])
