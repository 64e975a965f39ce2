"""What a model learned from, so that it can be kept from the topics that it saw.

A first stage and a stacked reranker score training topics, too; scores of what a model remembers
would mislead whatever learns from them. Queries are known by their words, as topics are anywhere
(`topic_marks`), and remembered as 64 bits of a SHA-256.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.training.topic_marks import query_mark, source_mark, topic_marks

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
        return cls._of(_marks(map(query_mark, queries), sources))

    @classmethod
    def of_topics(cls, topics: Iterable[Topic]) -> Learned:
        """Marks of topics, by whichever they are known again."""
        return cls._of(_marks((mark for topic in topics for mark in topic_marks(topic)), ()))

    @classmethod
    def _of(cls, marks: set[int]) -> Learned:
        return cls(np.array(sorted(marks), dtype=np.uint64))

    def __or__(self, other: Learned) -> Learned:
        return Learned(np.union1d(self.marks, other.marks))

    def knows(self, topic: Topic, group: str) -> bool:
        """Whether it learned from a topic's query or source, which its field `group` names."""
        marks = _marks(topic_marks(topic), topic.values(group))
        return bool(np.isin(np.array(list(marks), dtype=np.uint64), self.marks).any())

    def save(self, folder: Path) -> None:
        """Write it into a folder."""
        np.save(folder / _FILE, self.marks, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Learned:
        """Read what `save` wrote."""
        try:
            marks = np.load(folder / _FILE, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError("cannot be read as marks of texts.", path=folder / _FILE) from error
        return cls(marks.astype(np.uint64))


def _marks(queries: Iterable[str], sources: Iterable[str]) -> set[int]:
    """Marks of queries, given by their `query_mark`, and of sources that are not empty."""
    return {mark("query", query) for query in queries} | {
        mark("source", source) for source in map(source_mark, sources) if source
    }
