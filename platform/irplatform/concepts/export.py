"""Parts of a concept graph: as facts to print, as a networkx graph, and as GraphML."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.files.writing import atomic_write
from irplatform.knowledge import installed, open_knowledge
from irplatform.knowledge.model import typed
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from networkx import MultiDiGraph

    from irplatform.concepts.graph import ConceptGraph, EdgeSource


def describe(graph: ConceptGraph, subject: str, limit: int = 10) -> dict[str, Any]:
    """The neighbourhood of a document or a concept.

    Returns:
        `document` with its concepts and their relations; or `concept` with its names, neighbours by
        source and the documents that mention it most, and `others` that the text names; or
        `nearest` with concepts of similar names.
    """
    row = graph.row_of(subject)
    if row is not None:
        return {"document": _document(graph, subject, row)}
    if concepts := _called(graph, subject):
        first, *others = concepts
        return {
            "concept": _concept(graph, first, limit),
            "others": [short(graph, other) for other in others],
        }
    return {"nearest": _nearest(graph, subject)}


def not_there(subject: str, nearest: Sequence[Mapping[str, Any]]) -> str:
    """The message for an unknown name, with similar names."""
    near = ", ".join(f"{concept['name']} ({concept['id']})" for concept in nearest)
    message = f"'{subject}' is neither a document nor the id or name of a concept of this graph."
    return f"{message} Near it: {near}" if near else message


def concepts_called(graph: ConceptGraph, subject: str) -> list[int]:
    """The concept with an id (its prefix in any case), or those that a text names."""
    if concepts := _called(graph, subject):
        return concepts
    raise InputError(not_there(subject, _nearest(graph, subject)))


def _called(graph: ConceptGraph, subject: str) -> list[int]:
    for concept_id in (subject, typed(subject)):
        concept = graph.concept_of(concept_id)
        if concept is not None:
            return [concept]
    concepts: list[int] = graph.find(subject).tolist()
    return concepts or graph.named(subject)


def _nearest(graph: ConceptGraph, subject: str) -> list[dict[str, Any]]:
    """Concepts of the graph with similar names, if its knowledge bases are installed."""
    available = installed()
    bases = [name for name in graph.facts["knowledge"] if name in available]
    near = open_knowledge(bases).nearest(subject) if bases else []
    concepts = dict.fromkeys(graph.concept_of(concept.id) for concept in near)
    return [short(graph, concept) for concept in concepts if concept is not None]


def short(graph: ConceptGraph, concept: int) -> dict[str, Any]:
    """A concept's id, name, kind and the number of documents that mention it."""
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


def neighbourhood(graph: ConceptGraph, subject: str, hops: int) -> tuple[list[int], list[int]]:
    """The documents and concepts around something: rows, and concepts.

    The way leads from a document to its concepts, and from a concept to its neighbours, but not
    through documents. Documents of a concept come with the concept itself.

    Raises:
        InputError: the name is unknown, or the document has no concepts.
    """
    row = graph.row_of(subject)
    if row is not None:
        level = graph.concepts_of(np.array([row]))[0].tolist()
        if not level:
            raise InputError(f"document '{subject}' has no concepts: there is nothing around it.")
        rows, hops = [row], hops - 1
    else:
        level = concepts_called(graph, subject)
        rows = sorted({r for concept in level for r in graph.mentioned_in(concept)[0].tolist()})
    concepts = dict.fromkeys(level)
    for _ in range(hops):
        around = (other for concept in level for other, _, _ in graph.neighbours(concept))
        level = list(dict.fromkeys(other for other in around if other not in concepts))
        concepts.update(dict.fromkeys(level))
    return rows, sorted(concepts)


def to_networkx(
    graph: ConceptGraph,
    rows: Sequence[int] | None = None,
    concepts: Sequence[int] | None = None,
    *,
    limit: int,
) -> MultiDiGraph:
    """A graph, or the part with some rows and concepts, for people.

    All rows and all `mentioned` concepts are the default. Nodes are "doc:ID" (kind "document") and
    concept ids (kind, name). Edges are "mentions" with their count, and relations with their
    knowledge base, from the narrower to the broader.

    Raises:
        InputError: there are more edges than the limit; each needs about a kilobyte of memory.
    """
    from networkx import MultiDiGraph

    if concepts is None:
        concepts = mentioned(graph)
    rows = range(graph.document_count) if rows is None else rows
    edges = list(islice(_edges(graph, rows, set(concepts)), limit + 1))
    if len(edges) > limit:
        raise InputError(
            f"there are more than {limit:,} edges. Name a smaller part of the graph with "
            f"{option('around')} and {option('hops')}, or raise {option('limit')}."
        )
    network = MultiDiGraph(fingerprint=graph.fingerprint)
    for concept in sorted(concepts):
        kind = graph.KINDS[graph.kinds[concept]]
        network.add_node(graph.ids[concept], kind=kind, name=graph.names[concept])
    for row in rows:
        name = graph.doc_ids[row]
        network.add_node(f"doc:{name}", kind="document", name=name)
    for number, (one, other, facts) in enumerate(edges):
        network.add_edge(one, other, key=number, **facts)  # Gephi needs distinct ids
    return network


def mentioned(graph: ConceptGraph) -> list[int]:
    """The concepts that documents mention."""
    concepts: list[int] = np.flatnonzero(graph.document_frequency).tolist()
    return concepts


def _edges(
    graph: ConceptGraph, rows: Iterable[int], concepts: set[int]
) -> Iterator[tuple[str, str, dict[str, str | int]]]:
    for row in rows:
        linked, counts, _ = graph.concepts_of(np.array([row]))
        node = f"doc:{graph.doc_ids[row]}"
        for concept, count in zip(linked.tolist(), counts.tolist(), strict=True):
            if concept in concepts:
                yield node, graph.ids[concept], {"relation": "mentions", "count": count}
    for concept in sorted(concepts):
        for other, source, forward in graph.neighbours(concept):
            if forward and other in concepts:
                facts: dict[str, str | int] = {"relation": source.relation, "kb": source.kb}
                yield graph.ids[concept], graph.ids[other], facts


def write_graphml(graph: MultiDiGraph, path: Path) -> None:
    """Write a networkx graph as GraphML."""
    from networkx import write_graphml as write

    with atomic_write(path, "wb") as file:
        write(graph, file)
