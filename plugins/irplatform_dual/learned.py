"""What a model learned from, so that it can be kept from the topics that it saw.

A first stage and a stacked reranker score training topics, too; scores of what a model remembers
would mislead whatever learns from them. Texts are remembered as 64 bits of their SHA-256.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from irplatform.plugin import Topic

_FILE = "learned.npy"


def mark(kind: str, text: str) -> int:
    """Stands for a query or a source, whatever its white space."""
    content = f"{kind} {' '.join(text.split())}"
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "little")


@dataclass(frozen=True)
class Learned:
    """Marks of the texts that a model learned from.

    Attributes:
        marks: uint64, increasing.
    """

    marks: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, queries: Iterable[str] = (), sources: Iterable[str] = ()) -> Learned:
        """Marks of these queries, and of sources all of whose pairs were learned from."""
        marks = {mark("query", text) for text in queries} | {mark("source", s) for s in sources}
        return cls(np.array(sorted(marks), dtype=np.uint64))

    def __or__(self, other: Learned) -> Learned:
        return Learned(np.union1d(self.marks, other.marks))

    def knows(self, topic: Topic, group: str) -> bool:
        """Whether it learned from a topic's query or source, which its field `group` names."""
        marks = [mark("query", topic.query)]
        if isinstance(source := topic.fields.get(group), str) and source:
            marks.append(mark("source", source))
        return bool(np.isin(np.array(marks, dtype=np.uint64), self.marks).any())

    def save(self, folder: Path) -> None:
        """Write it into a folder."""
        np.save(folder / _FILE, self.marks, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Learned:
        """Read what `save` wrote.

        Raises:
            InputError: it is not there, or something else.
        """
        try:
            marks = np.load(folder / _FILE, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError("cannot be read as marks of texts.", path=folder / _FILE) from error
        return cls(marks.astype(np.uint64))
