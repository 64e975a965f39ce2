"""The ids of a corpus's documents in 8 bytes each, to find those that come more than once.

Hashes are kept, where the ids themselves would take 100 bytes each. Two ids may share one: where a
hash comes twice, the corpus is read again for the ids behind it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irplatform.collections.collection import Corpus


class DocumentIds:
    """The ids of the documents that were read so far."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, doc_id: str) -> None:
        """Note the id of a document."""
        self._hashes.append(hash(doc_id))

    def repeated(self, corpus: Corpus) -> dict[str, int]:
        """The ids that several documents have, and how many have each.

        Args:
            corpus: the documents, all of which have been read; read again only if hashes repeat.
        """
        import numpy as np

        ordered = np.array(self._hashes, dtype=np.int64)
        ordered.sort()
        suspects = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
        if not suspects:
            return {}
        times = Counter(document.id for document in corpus if hash(document.id) in suspects)
        return {doc_id: number for doc_id, number in times.items() if number > 1}
