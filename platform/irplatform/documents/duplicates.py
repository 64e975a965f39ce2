"""Texts or ids that several documents of a corpus share, found with 8 to 32 bytes a document.

Hashes are kept, since ids would take 100 bytes each. For repeated hashes, the corpus is read again.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.data import Corpus, Document


class Repeats:
    """Texts that occur more than once among the documents read so far.

    `text` gives the text of a document to compare, or None to ignore the document.
    """

    def __init__(self, text: Callable[[Document], str | None] = attrgetter("id")) -> None:
        self._text = text
        self._hashes = array("q")

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, document: Document) -> None:
        """Note a document."""
        if (text := self._text(document)) is not None:
            self._hashes.append(hash(text))

    def groups(self, corpus: Corpus) -> dict[str, list[str]]:
        """The texts that several documents have, and the ids of these documents."""
        import numpy as np

        ordered = np.array(self._hashes, dtype=np.int64)
        ordered.sort()
        suspects = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
        groups: dict[str, list[str]] = defaultdict(list)
        for document in corpus if suspects else ():
            text = self._text(document)
            if text is not None and hash(text) in suspects:
                groups[text].append(document.id)
        return {text: ids for text, ids in groups.items() if len(ids) > 1}


class HashSet:
    """A set of hashes, which holds 16 to 32 bytes for each."""

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 << 10))
        self._count = 0

    def add(self, key: int) -> bool:
        """Note a hash; return False if it was noted before."""
        key = key or 1  # a free slot is 0
        slot = self._slot(key)
        if self._slots[slot] == key:
            return False
        self._slots[slot] = key
        self._count += 1
        if 2 * self._count > len(self._slots):
            before, self._slots = self._slots, array("q", bytes(16 * len(self._slots)))
            for value in filter(None, before):
                self._slots[self._slot(value)] = value
        return True

    def _slot(self, key: int) -> int:
        """The place of a hash, or the free one where it belongs."""
        last = len(self._slots) - 1
        slot = key & last
        while self._slots[slot] not in (0, key):
            slot = (slot + 1) & last
        return slot
