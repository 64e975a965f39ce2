"""Headings and links, counted and sampled while documents go by."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.storage import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.plugin import Document


@dataclass
class Tally:
    """Headings and links, counted over documents.

    Attributes:
        headings: concepts that are headings of their document.
        links: concepts that their document is linked to.
        right: both.
        headings_near: headings that are linked, or one is-a away from a link.
        links_near: links that are headings, or one is-a away from one.
    """

    headings: int = 0
    links: int = 0
    right: int = 0
    headings_near: int = 0
    links_near: int = 0

    def add(self, headings: set[int], links: set[int], near: set[int]) -> None:
        """Count a document.

        Args:
            headings: its headings, or some of them.
            links: its links, or some of them.
            near: the headings and links that are right within one is-a.
        """
        self.headings += len(headings)
        self.links += len(links)
        self.right += len(headings & links)
        self.headings_near += len(headings & near)
        self.links_near += len(links & near)

    def figures(self) -> dict[str, float | int | None]:
        """Precision and recall, exact and within one is-a; None where nothing is to be judged."""
        return {
            "headings": self.headings,
            "links": self.links,
            "precision": _share(self.right, self.links),
            "recall": _share(self.right, self.headings),
            "precision_near": _share(self.links_near, self.links),
            "recall_near": _share(self.headings_near, self.headings),
        }


@dataclass
class Examples:
    """Some of many, chosen by a hash, so that the same graph shows the same ones.

    Attributes:
        size: how many at most.
        entries: those chosen so far, as a heap.
    """

    size: int
    entries: list[tuple[int, str, int, Document]] = field(default_factory=list)

    def offer(self, document: Document, concept: int) -> None:
        """Choose a concept of a document, or leave it."""
        candidate = (-number_of(f"{document.id} {concept}"), document.id, concept, document)
        if len(self.entries) < self.size:
            heapq.heappush(self.entries, candidate)
        else:
            heapq.heappushpop(self.entries, candidate)

    def __iter__(self) -> Iterator[tuple[Document, int]]:
        for _, _, concept, document in sorted(
            self.entries, key=lambda entry: entry[:3], reverse=True
        ):
            yield document, concept


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
