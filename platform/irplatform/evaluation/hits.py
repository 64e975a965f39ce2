"""The judged documents of a run, from which the usual measures of all topics come at once.

They need no names of unjudged documents, or their scores: only how many there are. The arithmetic
is trec_eval's, operation by operation, so that values agree with it to the last bit: sums add in
the order of the ranks (`numpy.bincount` does; `numpy.sum` adds in pairs).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.files.columns import packed, split
from irplatform.runs.packed import PackedRanking, keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.data import Qrels
    from irplatform.files.columns import Cells
    from irplatform.runs.run import Ranking, Run

Integers = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

_ROWS = 1 << 18
"""Results looked up at a time."""
_SPARSE = 16
"""Places of the table of judged documents, per document."""


@dataclass(frozen=True)
class Hits:
    """The judged documents of a run, topic after topic, best rank first.

    Attributes:
        topics: the judged topics.
        topic: for each document that is judged and retrieved, the number of its topic, from 0.
        rank: its rank, from 1.
        grade: its grade.
        of_grade: for each judged document, retrieved or not, the number of its topic.
        grades: its grade.
    """

    topics: Sequence[str]
    topic: Integers
    rank: Integers
    grade: Integers
    of_grade: Integers
    grades: Integers

    @classmethod
    def of(cls, judged: Qrels, run: Run) -> Hits:
        """Find the judged documents of a run.

        Args:
            judged: topic to document to whole grade.
            run: the results.
        """
        sizes = [len(grades) for grades in judged.values()]
        of_grade = np.repeat(np.arange(len(judged)), sizes)
        values = chain.from_iterable(grades.values() for grades in judged.values())
        grades = np.fromiter(values, np.int64, len(of_grade))
        rankings = [run.rankings.get(topic) for topic in judged]
        are_packed = all(r is None or isinstance(r, PackedRanking) for r in rankings)
        places = _packed_places(judged, of_grade, rankings) if are_packed else None
        if places is None:
            places = _places(judged, sizes, rankings)
        topic, rank, at = places
        return cls(list(judged), topic, rank, grades[at], of_grade, grades)

    def per_topic(self, topic: Integers, terms: Values | None = None) -> Values:
        """Count, or add in their order, what belongs to each topic."""
        return np.bincount(topic, terms, len(self.topics)).astype(np.float64)

    def relevant(self, least: int, cutoff: float) -> tuple[Integers, Integers]:
        """Return topics and ranks of the results of a grade or above, down to a rank."""
        mask = (self.grade >= least) & (self.rank <= cutoff)
        return self.topic[mask], self.rank[mask]

    def count(self, least: int, cutoff: float) -> Values:
        """Return the number of such results of each topic."""
        return self.per_topic(self.relevant(least, cutoff)[0])

    def number_relevant(self, least: int) -> Values:
        """Return how many documents of a grade or above each topic has."""
        return self.per_topic(self.of_grade[self.grades >= least])


def shares(parts: Values, of: Values) -> Values:
    """Divide, topic by topic; 0 where there is nothing to divide by."""
    return np.divide(parts, of, out=np.zeros(len(of)), where=of > 0)


Places = tuple[Integers, Integers, Integers]
"""Of judged results: the topic's number, the rank, and the place among all judged documents."""


def _places(judged: Qrels, sizes: Sequence[int], rankings: Sequence[Ranking | None]) -> Places:
    """Find judged results by looking up every id."""
    topics, ranks, places = [], [], []
    start = 0
    for number, (grades, ranking) in enumerate(zip(judged.values(), rankings, strict=True)):
        if ranking is not None:
            doc_ids = ranking.doc_ids
            indices = list(compress(range(len(doc_ids)), map(grades.__contains__, doc_ids)))
            place = dict(zip(grades, range(start, start + len(grades)), strict=True))
            topics.append(np.full(len(indices), number))
            ranks += indices
            places += [place[doc_ids[rank]] for rank in indices]
        start += sizes[number]
    topic = np.concatenate(topics) if topics else np.empty(0, np.int64)
    return topic, np.array(ranks, np.int64) + 1, np.array(places, np.int64)


def _packed_places(
    judged: Qrels, of_grade: Integers, rankings: Sequence[Ranking | None]
) -> Places | None:
    """Find judged results by keys of topic and id; None if two documents have the same key."""
    documents = _packed_ids([doc_id for grades in judged.values() for doc_id in grades])
    judged_keys = keys(documents, of_grade)
    order = np.argsort(judged_keys)
    ordered = judged_keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        return None
    bits = max(len(ordered) * _SPARSE - 1, 1).bit_length()
    shift = np.uint64(64 - bits)
    # Most results are not judged. A table of the first bits of the keys passes few of them on.
    might_be = np.zeros(1 << bits, dtype=bool)
    might_be[ordered >> shift] = True
    parts: list[Places] = []
    for cells, topics, ranks in _rows(rankings):
        row_keys = keys(cells, topics)
        rows = np.flatnonzero(might_be[row_keys >> shift])
        at = np.minimum(np.searchsorted(ordered, row_keys[rows]), len(ordered) - 1)
        places = order[at]
        same = (ordered[at] == row_keys[rows]) & (cells[rows] == documents[places])
        parts.append((topics[rows[same]], ranks[rows[same]], places[same]))
    none = np.empty(0, np.int64)
    topic, rank, place = (np.concatenate(p) for p in zip((none, none, none), *parts, strict=True))
    return topic, rank, place


def _rows(rankings: Sequence[Ranking | None]) -> Iterator[tuple[Cells, Integers, Integers]]:
    """The ids of packed rankings, the numbers of their topics, and their ranks, in parts."""
    blocks: list[Cells] = []
    numbers: list[int] = []
    lengths: list[int] = []
    rows = 0
    for number, ranking in enumerate(rankings):
        if isinstance(ranking, PackedRanking) and len(ranking):
            blocks.append(ranking.cells)
            numbers.append(number)
            lengths.append(len(ranking))
            rows += len(ranking)
        if blocks and (rows >= _ROWS or number == len(rankings) - 1):
            ranks = np.arange(1, rows + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            yield np.concatenate(blocks), np.repeat(numbers, lengths), ranks
            blocks, numbers, lengths, rows = [], [], [], 0


def _packed_ids(doc_ids: list[str]) -> Cells:
    table = split("\n".join(doc_ids).encode("utf-8", "surrogatepass"), 1) if doc_ids else None
    if table is None or len(table) != len(doc_ids):  # an id with white space in it
        return packed(doc_ids)
    return table.column(0)
