"""The sparse rows of a concept graph, and where its edges come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from irplatform.text.arrays import Int32, Int64


@dataclass(frozen=True)
class EdgeSource:
    """Where edges between concepts come from.

    Attributes:
        kb: the knowledge base that says so.
        relation: what it says: "is-a", "drug-gene", …
        edges: how many there are.
    """

    kb: str
    relation: str
    edges: int = 0

    def __str__(self) -> str:
        return f"{self.relation} ({self.kb})"


@dataclass(frozen=True)
class DocumentRows:
    """Documents by concepts, in sparse rows.

    Attributes:
        indptr: where every document's links begin, [documents + 1].
        indices: the concepts, ascending within a document.
        counts: how often the document mentions each.
    """

    indptr: Int64
    indices: Int32
    counts: Int32


@dataclass(frozen=True)
class ConceptRows:
    """Concepts by concepts, in sparse rows; every edge stands in both of its rows.

    Attributes:
        indptr: where every concept's edges begin, [concepts + 1].
        indices: the neighbours, ascending within a concept.
        sources: index into `ConceptGraph.sources`.
        forward: 1 in the row of the relation's source (the narrower one of an is-a), else 0.
    """

    indptr: Int64
    indices: Int32
    sources: npt.NDArray[np.uint16]
    forward: npt.NDArray[np.uint8]
