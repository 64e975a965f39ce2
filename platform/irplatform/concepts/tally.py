"""Headings and links, counted and sampled while documents go by."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.storage import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.plugin import Document


class Tally:
    """Headings and links, counted over documents: all, right, and right within one is-a."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, headings: set[int], links: set[int], near: set[int]) -> None:
        """Count a document.

        Args:
            headings: its headings, or some of them.
            links: its links, or some of them.
            near: the headings and links that are right within one is-a.
        """
        self._counts["headings"] += len(headings)
        self._counts["links"] += len(links)
        self._counts["right"] += len(headings & links)
        self._counts["headings_near"] += len(headings & near)
        self._counts["links_near"] += len(links & near)

    def figures(self) -> dict[str, float | int | None]:
        """Precision and recall, exact and within one is-a; None where nothing is to be judged."""
        counts = self._counts
        headings, links = counts["headings"], counts["links"]
        return {
            "headings": headings,
            "links": links,
            "precision": _share(counts["right"], links),
            "recall": _share(counts["right"], headings),
            "precision_near": _share(counts["links_near"], links),
            "recall_near": _share(counts["headings_near"], headings),
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
