"""Where phrases occur in documents, found in the forward index's word ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.text.arrays import Float64, Int64


@dataclass(frozen=True)
class Passage:
    """The words of some documents, one behind the other, each title before its abstract."""

    words: npt.NDArray[np.int32]
    offsets: Int64
    titles: Int64

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(self.offsets) - 1

    def find(self, phrases: Iterable[npt.NDArray[np.int32]]) -> Mentions:
        """Where any of some phrases begins; a phrase does not reach into the next document."""
        begins = np.zeros(len(self.words), dtype=bool)
        for phrase in phrases:
            length = len(phrase)
            if length == 0 or phrase.min() < 0 or len(self.words) < length:
                continue
            starts = np.flatnonzero(self.words[: len(self.words) - length + 1] == phrase[0])
            for place in range(1, length):
                starts = starts[self.words[starts + place] == phrase[place]]
            if length > 1 and len(starts):
                document = np.searchsorted(self.offsets, starts, side="right") - 1
                starts = starts[starts + length <= self.offsets[document + 1]]
            begins[starts] = True
        places = np.flatnonzero(begins)
        document = np.searchsorted(self.offsets, places, side="right") - 1
        return Mentions(self, places, document)


@dataclass(frozen=True)
class Mentions:
    """Places in documents."""

    passage: Passage
    places: Int64
    document: Int64

    @property
    def counts(self) -> Float64:
        """Per document, how many."""
        return _per_document(self.document, self.passage)

    @property
    def in_title(self) -> Float64:
        """Per document, how many in its title."""
        within = self.places - self.passage.offsets[self.document]
        inside = within < self.passage.titles[self.document]
        return _per_document(self.document[inside], self.passage)

    def first(self, missing: float) -> Float64:
        """Per document, the place of the first, as a share of its length."""
        shares = np.full(self.passage.documents, missing)
        lengths = np.maximum(np.diff(self.passage.offsets), 1)
        document, index = np.unique(self.document, return_index=True)
        within = self.places[index] - self.passage.offsets[document]
        shares[document] = within / lengths[document]
        return shares

    def last(self, missing: float) -> Float64:
        """Per document, the place of the last, as a share of its length."""
        shares = np.full(self.passage.documents, missing)
        lengths = np.diff(self.passage.offsets)
        within = self.places - self.passage.offsets[self.document]
        # Places are in order, so that the last one of a document wins.
        shares[self.document] = within / np.maximum(lengths[self.document], 1)
        return shares

    def gaps(self, other: Mentions) -> Gaps:
        """Per place, the distance to the nearest of other mentions in its document."""
        if not len(self.places) or not len(other.places):
            return Gaps(self.passage, np.empty(0, np.int64), np.empty(0, np.int64))
        after = np.searchsorted(other.places, self.places)
        far = np.iinfo(np.int64).max // 4
        best = np.full(len(self.places), far)
        for neighbour in (after - 1, after):
            valid = (neighbour >= 0) & (neighbour < len(other.places))
            index = np.clip(neighbour, 0, len(other.places) - 1)
            valid &= other.document[index] == self.document
            distance = np.where(valid, other.places[index] - self.places, far)
            best = np.where(np.abs(distance) < np.abs(best), distance, best)
        near = np.abs(best) < far
        return Gaps(self.passage, self.document[near], best[near])


@dataclass(frozen=True)
class Gaps:
    """Distances of mentions to the nearest other ones in the same document.

    Attributes:
        passage: the documents.
        document: int64 [mentions], of each mention that has another one beside it.
        distance: int64 [mentions], in words; positive where the other one comes after.
    """

    passage: Passage
    document: Int64
    distance: Int64

    def least(self, missing: float) -> Float64:
        """Per document, the least distance in either direction."""
        distances = np.full(self.passage.documents, missing)
        np.minimum.at(distances, self.document, np.abs(self.distance).astype(np.float64))
        return distances

    def close(self, words: int) -> Float64:
        """Per document, how many mentions have another one within so many words."""
        return _per_document(self.document[np.abs(self.distance) <= words], self.passage)

    def order(self, words: int) -> Float64:
        """Per document, which comes first where they are that close: 1 own mentions, -1 others."""
        close = np.abs(self.distance) <= words
        total = np.zeros(self.passage.documents)
        np.add.at(total, self.document[close], np.sign(self.distance[close]).astype(np.float64))
        return np.asarray(np.sign(total))


def _per_document(document: Int64, passage: Passage) -> Float64:
    return np.bincount(document, minlength=passage.documents).astype(np.float64)
