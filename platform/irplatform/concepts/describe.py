"""What a graph says of a document or a concept, as facts to print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.knowledge import installed, open_knowledge
from irplatform.knowledge.ids import typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.concepts.graph import ConceptGraph
    from irplatform.concepts.sparse_rows import EdgeSource


def describe(graph: ConceptGraph, what: str, limit: int = 10) -> dict[str, Any]:
    """The neighbourhood of a document or a concept.

    Args:
        graph: where to look.
        what: a document's id, a concept's id in any source, or one of its names.
        limit: neighbours of each kind that are listed.

    Returns:
        `document` with its concepts and how these are related; or `concept` with its names,
        neighbours by source, and the documents that mention it most, and `others` that the text
        names, too; or, where there is no such thing, `nearest` with concepts of a name nearly like
        it.
    """
    row = graph.row_of(what)
    if row is not None:
        return {"document": _document(graph, what, row)}
    if concepts := _called(graph, what):
        first, *others = concepts
        return {
            "concept": _concept(graph, first, limit),
            "others": [short(graph, other) for other in others],
        }
    return {"nearest": _nearest(graph, what)}


def not_there(what: str, nearest: Sequence[Mapping[str, Any]]) -> str:
    """Says that nothing is called so, and what is nearly."""
    near = ", ".join(f"{each['name']} ({each['id']})" for each in nearest)
    message = f"'{what}' is neither a document nor the id or name of a concept of this graph."
    return f"{message} Near it: {near}" if near else message


def concepts_called(graph: ConceptGraph, what: str) -> list[int]:
    """The concept with an id, its prefix in any case, or those that a text names: at least one.

    Raises:
        InputError: there is none.
    """
    if concepts := _called(graph, what):
        return concepts
    raise InputError(not_there(what, _nearest(graph, what)))


def _called(graph: ConceptGraph, what: str) -> list[int]:
    for concept_id in (what, typed(what)):
        concept = graph.concept_of(concept_id)
        if concept is not None:
            return [concept]
    concepts: list[int] = graph.find(what).tolist()
    return concepts or graph.named(what)


def _nearest(graph: ConceptGraph, what: str) -> list[dict[str, Any]]:
    """Concepts of the graph that its knowledge bases, where they still are, spell nearly so."""
    available = installed()
    bases = [name for name in graph.facts["knowledge"] if name in available]
    near = open_knowledge(bases).nearest(what) if bases else []
    concepts = dict.fromkeys(graph.concept_of(concept.id) for concept in near)
    return [short(graph, concept) for concept in concepts if concept is not None]


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
    document_concepts = set(concepts.tolist())
    relations = [
        {
            "from": graph.names[concept],
            "to": graph.names[other],
            "relation": source.relation,
            "kb": source.kb,
        }
        for concept in concepts.tolist()
        for other, source, forward in graph.neighbours(concept)
        if forward and other in document_concepts
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
    by_source: dict[tuple[EdgeSource, bool], list[int]] = {}
    for other, source, forward in graph.neighbours(concept):
        by_source.setdefault((source, forward), []).append(other)
    edges = []
    for (source, forward), others in by_source.items():
        best = sorted(others, key=lambda other: (-int(graph.document_frequency[other]), other))
        edges.append(
            {
                "relation": source.relation,
                "kb": source.kb,
                "forward": forward,
                "count": len(others),
                "neighbours": [short(graph, other) for other in best[:limit]],
            }
        )
    rows, counts = graph.mentioned_in(concept)
    most = np.lexsort((rows, -counts))[:limit]
    return {
        **short(graph, concept),
        "names": graph.names_of(concept),
        "edges": edges,
        "mentioned_in": [
            {"id": graph.doc_ids[int(rows[place])], "count": int(counts[place])} for place in most
        ],
    }
