"""The run: a ranking of documents per topic, in the one order that everything here uses.

The order is trec_eval's: score descending, ties by document id descending. trec_eval holds scores
as 32-bit floats, so two scores that differ only beyond that are a tie to it. A run therefore rounds
its scores to 32 bits when it is made; what is ranked, written, read back and scored is then the
same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of one topic, best first.

    Attributes:
        doc_ids: the documents' ids.
        scores: one per document, float32, never increasing.
    """

    doc_ids: tuple[str, ...]
    scores: Scores

    @classmethod
    def of(
        cls,
        doc_ids: Sequence[str],
        scores: Sequence[float] | npt.NDArray[np.floating[Any]],
        *,
        rounded: bool = True,
    ) -> Ranking:
        """Order documents by score; see the module for the order.

        Args:
            doc_ids: the documents.
            scores: one per document.
            rounded: order by the 32-bit scores; otherwise by the 64-bit ones that are given, of
                which the ranking keeps 32 bits all the same.

        Raises:
            ValueError: a score is no number or not finite, a document comes twice, or the lengths
                differ.
        """
        unrounded = np.asarray(scores)
        if unrounded.dtype.kind in "SU":
            raise ValueError(f"the scores are text, such as {unrounded.ravel().tolist()[:1]}")
        with np.errstate(over="ignore"):  # infinity is refused below
            values = unrounded.astype(np.float32)
        if values.shape != (len(doc_ids),):
            raise ValueError(f"{len(doc_ids)} documents but scores of shape {values.shape}")
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"the score of document '{doc_ids[bad]}' is {values[bad]}")
        if len(set(doc_ids)) != len(doc_ids):
            seen: set[str] = set()
            twice = next(d for d in doc_ids if d in seen or seen.add(d))  # type: ignore[func-returns-value]
            raise ValueError(f"document '{twice}' comes twice")
        keys = values if rounded else unrounded
        if np.all(keys[:-1] > keys[1:]):  # without ties there is nothing to decide
            ids = tuple(doc_ids)
        else:
            order = sorted(range(len(doc_ids)), key=lambda i: (keys[i], doc_ids[i]), reverse=True)
            ids = tuple(doc_ids[i] for i in order)
            values = values[order]
        values.flags.writeable = False
        return cls(ids, values)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.doc_ids, self.scores.tolist(), strict=True)

    def top(self, depth: int) -> Ranking:
        """The first `depth` documents."""
        return self if len(self) <= depth else Ranking(self.doc_ids[:depth], self.scores[:depth])


@dataclass(frozen=True, eq=False)
class Run:
    """A ranking per topic, under a name.

    Attributes:
        name: the system's name, which is also the tag in a TREC file.
        rankings: topic id to ranking, in the order of the topics.
    """

    name: str
    rankings: Mapping[str, Ranking]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rankings", MappingProxyType(dict(self.rankings)))

    def top(self, depth: int) -> Run:
        """The first `depth` documents of every topic."""
        return Run(self.name, {q: ranking.top(depth) for q, ranking in self.rankings.items()})

    def renamed(self, name: str) -> Run:
        """The same rankings under another name."""
        return Run(name, self.rankings)
