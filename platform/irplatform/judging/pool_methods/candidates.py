"""What can be pooled: the documents of a topic, with their ranks in every run.

Ranks are those of trec_eval, which P@k and all measures look at: by score, and among equal scores
by document id, the last one first. The rank column of a file counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.files.columns import texts_of
from irplatform.files.digests import number_of
from irplatform.runs.packed import cells_of, union

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.files.columns import Cells
    from irplatform.runs.run import Run

Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Grades: TypeAlias = "Mapping[str, Mapping[str, float | None]]"
"""Topic to document to grade; None of one that nobody could tell, which counts as not relevant."""
NOWHERE = np.iinfo(np.int32).max
"""The best rank of a document that no run has."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of a topic that can be pooled.

    Attributes:
        topic: the topic.
        documents: packed ids, ascending.
        ranks: [runs, documents], from 1; 0 where a run does not have the document so high.
        judged: [documents], whether a document has been judged.
        relevant: [documents], whether it was judged relevant.
    """

    topic: str
    documents: Cells
    ranks: npt.NDArray[np.int32]
    judged: Flags
    relevant: Flags

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def best(self) -> npt.NDArray[np.int32]:
        """The best rank of each document in any run."""
        ranks = np.where(self.ranks > 0, self.ranks, np.int32(NOWHERE))
        best: npt.NDArray[np.int32] = ranks.min(axis=0, initial=NOWHERE)
        return best

    @property
    def judged_ids(self) -> list[str]:
        """The documents that are judged."""
        return texts_of(self.documents[self.judged])

    def random(self, *seed: int) -> np.random.Generator:
        """Return a source of random numbers of the topic's own, whatever other topics there are."""
        return np.random.default_rng([*seed, number_of(self.topic)])


def candidates(runs: Sequence[Run], depth: int, judged: Grades) -> Iterator[Candidates]:
    """Yield what can be pooled of each topic, in the order in which topics first come.

    Args:
        runs: the runs.
        depth: documents of a topic of each run.
        judged: what is judged already.
    """
    for topic in dict.fromkeys(topic for run in runs for topic in run.rankings):
        rankings = [
            run.rankings[topic].top(depth) if topic in run.rankings else None for run in runs
        ]
        cells = [cells_of(ranking) for ranking in rankings if ranking is not None]
        documents, places = union(cells)
        ranks = np.zeros((len(runs), len(documents)), dtype=np.int32)
        having = (row for row, ranking in enumerate(rankings) if ranking is not None)
        for row, place in zip(having, places, strict=True):
            ranks[row, place] = np.arange(1, len(place) + 1)
        yield Candidates(topic, documents, ranks, *_judged(documents, judged.get(topic) or {}))


def _judged(documents: Cells, grades: Mapping[str, float | None]) -> tuple[Flags, Flags]:
    """Whether each document was judged, and relevant."""
    flags = np.zeros((2, len(documents)), dtype=np.bool_)
    if grades:
        ids = texts_of(documents)
        flags[0] = [doc_id in grades for doc_id in ids]
        flags[1] = [(grades.get(doc_id) or 0) > 0 for doc_id in ids]
    return flags[0], flags[1]


def quotas(
    sizes: Sequence[int], budget: int, seed: int, judged: Sequence[int] | None = None
) -> list[int]:
    """Spread a budget over topics: the same for all, and what one cannot use over the others.

    Which topics get the remainder is drawn.

    Args:
        sizes: documents of each topic.
        budget: documents in all.
        seed: of the draw.
        judged: documents of each topic that are judged already, which count.

    >>> quotas([1, 5, 5], 7, seed=1), quotas([5, 5], 4, seed=1, judged=[3, 0])
    ([1, 3, 3], [0, 4])
    """
    before, ends = np.array(judged or [0] * len(sizes)), np.array(sizes)

    def upto(level: int) -> Integers:
        room: Integers = np.maximum(np.minimum(ends, level) - before, 0)
        return room

    level, most = 0, max(sizes, default=0)
    while level < most and int(upto(level + 1).sum()) <= budget:
        level += 1
    each = upto(level)
    for place in np.random.default_rng(seed).permutation(len(sizes)).tolist():
        if int(each.sum()) < budget and upto(level + 1)[place] > each[place]:
            each[place] += 1
    return [*map(int, each)]
