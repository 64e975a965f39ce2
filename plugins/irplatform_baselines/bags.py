"""Texts as bags of words: what the Word Mover's Distance compares (Kusner et al., section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irplatform.text.arrays import Float64, Int64


@dataclass(frozen=True)
class Bags:
    """The distinct words of several texts, one text behind the other.

    Attributes:
        words: int64 [m], ascending within a text.
        weights: float64 [m], a word's share of its text; they add up to 1 in each.
        offsets: int64 [n + 1], where each text begins.
    """

    words: Int64
    weights: Float64
    offsets: Int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def owners(self) -> Int64:
        """The text of each word: [m]."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def make_bags(words: Int64, offsets: Int64) -> Bags:
    """The bags of texts.

    Args:
        words: the words of all texts, one text behind the other; those below 0 are left out.
        offsets: where each text begins; one more than there are texts.
    """
    texts = len(offsets) - 1
    owners = np.repeat(np.arange(texts), np.diff(offsets))
    present = words >= 0
    span = int(words.max(initial=0)) + 1
    keys, counts = np.unique(owners[present] * span + words[present], return_counts=True)
    owners, distinct = np.divmod(keys, span)
    lengths = np.bincount(owners, weights=counts, minlength=texts)
    starts = np.searchsorted(owners, np.arange(texts + 1))
    return Bags(distinct, counts / lengths[owners], starts.astype(np.int64))
