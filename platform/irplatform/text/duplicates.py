"""Texts or ids that several documents of a corpus share, found with 8 bytes a document.

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

    def found(self, corpus: Corpus) -> dict[str, list[str]]:
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
