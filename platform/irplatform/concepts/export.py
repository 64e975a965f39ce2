"""A concept graph, or a part of it, as a networkx graph, and as GraphML for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.concepts.describe import concepts_called
from irplatform.errors import InputError
from irplatform.storage import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from networkx import MultiDiGraph

    from irplatform.concepts.graph import ConceptGraph

LIMIT = 500_000
"""Edges; networkx needs about a kilobyte of memory for each."""


def neighbourhood(graph: ConceptGraph, what: str, hops: int) -> tuple[list[int], list[int]]:
    """The documents and concepts around something.

    Messages go from concepts to documents, so the way does not lead through documents: from a
    document to its concepts and on, from a concept to its neighbours; documents of a concept come
    with the concept itself.

    Args:
        graph: where to look.
        what: a document's id, or a concept's id or name.
        hops: how far.

    Returns:
        Rows of documents, and concepts.

    Raises:
        InputError: there is no such thing.
    """
    row = graph.row_of(what)
    if row is not None:
        level = graph.concepts_of(np.array([row]))[0].tolist()
        rows, hops = [row], hops - 1
    else:
        level = concepts_called(graph, what)
        rows = sorted({r for concept in level for r in graph.documents_of(concept).tolist()})
    found = dict.fromkeys(level)
    for _ in range(hops):
        level = [
            other
            for concept in level
            for other, _, _ in graph.neighbours(concept)
            if other not in found
        ]
        found.update(dict.fromkeys(level))
    return rows, sorted(found)


def to_networkx(
    graph: ConceptGraph,
    rows: Iterable[int] | None = None,
    concepts: Iterable[int] | None = None,
    *,
    limit: int = LIMIT,
) -> MultiDiGraph:
    """A graph, or a part of it, for people.

    Args:
        graph: the graph.
        rows: of the documents; all by default.
        concepts: by default those that documents mention.
        limit: edges at most.

    Returns:
        Nodes "doc:ID" (kind "document") and concept ids (kind, name); edges "mentions" with their
        count, and relations with the knowledge base that says so, from the narrower to the broader.

    Raises:
        InputError: there are more edges than the limit.
    """
    from networkx import MultiDiGraph

    made = MultiDiGraph(fingerprint=graph.fingerprint)
    rows = range(graph.document_count) if rows is None else rows
    if concepts is None:
        concepts = np.flatnonzero(graph.document_frequency).tolist()
    held = set(concepts)
    for concept in sorted(held):
        made.add_node(
            graph.ids[concept], kind=graph.KINDS[graph.kinds[concept]], name=graph.names[concept]
        )
    for number, (one, other, facts) in enumerate(_edges(graph, rows, held)):
        if number == limit:
            raise InputError(
                f"this part of the graph has more than {limit:,} edges. Name a smaller one with "
                "--around and --hops, or raise --limit."
            )
        if facts["relation"] == "mentions" and one not in made:
            made.add_node(one, kind="document", name=one.removeprefix("doc:"))
        made.add_edge(one, other, **facts)
    return made


def _edges(
    graph: ConceptGraph, rows: Iterable[int], concepts: set[int]
) -> Iterator[tuple[str, str, dict[str, str | int]]]:
    for row in rows:
        found, counts, _ = graph.concepts_of(np.array([row]))
        node = f"doc:{graph.doc_ids[row]}"
        for concept, count in zip(found.tolist(), counts.tolist(), strict=True):
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
