"""Rankings whose document ids are rows of an array, and become texts only where they are read.

A run of two million lines has two million ids; measures, checks and fusion compare them without
making a Python object of each.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.files.columns import Cells, changes, codes, mixed, packed, texts_of, words
from irplatform.runs.run import Ranking, in_32_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.files.columns import Words
    from irplatform.runs.run import Scores, Values


class PackedRanking(Ranking):
    """A ranking with packed ids.

    Attributes:
        cells: the documents' ids as `irplatform.files.columns` has them.
        scores: one per document, never increasing.
    """

    cells: Cells

    def __init__(self, cells: Cells, scores: Scores) -> None:
        self.__dict__.update(cells=cells, scores=scores)

    @cached_property
    def doc_ids(self) -> tuple[str, ...]:
        """The documents' ids."""
        return tuple(texts_of(self.cells))

    def __len__(self) -> int:
        return len(self.scores)

    def top(self, depth: int) -> Ranking:
        """Keep the first `depth` documents."""
        if len(self) <= depth:
            return self
        return PackedRanking(self.cells[:depth], self.scores[:depth])


def doc_ids_of(ranking: Ranking) -> Sequence[str]:
    """Return the document ids of any ranking, without keeping packed ones as texts."""
    return texts_of(ranking.cells) if isinstance(ranking, PackedRanking) else ranking.doc_ids


def cells_of(ranking: Ranking) -> Cells:
    """Return the document ids of any ranking, packed."""
    return ranking.cells if isinstance(ranking, PackedRanking) else packed(ranking.doc_ids)


def union(lists: Sequence[Cells]) -> tuple[Cells, list[npt.NDArray[np.intp]]]:
    """Return all documents of some lists in ascending order, and the places of each list's."""
    cells = np.concatenate(lists)
    matrix = words(cells)
    if matrix is None:
        order = np.argsort(cells)
    elif matrix.shape[1] == 1:
        order = np.argsort(matrix[:, 0])
    else:
        order = np.lexsort(matrix.T[::-1])
    ordered = cells[order]
    begins = changes(ordered)
    places = np.empty(len(cells), np.intp)
    is_first = np.zeros(len(cells), np.intp)
    is_first[begins] = 1
    places[order] = np.cumsum(is_first) - 1
    return ordered[begins], np.split(places, np.cumsum([len(part) for part in lists])[:-1])


def best(cells: Cells, scores: Values, depth: int | None = None) -> Ranking:
    """Rank documents, which are in ascending order, as `Ranking.of` does; keep the first ones.

    Raises:
        ValueError: a score is not a finite number.
    """
    short = in_32_bits(scores)[::-1]
    if not np.isfinite(short).all():
        return Ranking.of(texts_of(cells), scores)  # which names the document
    order = np.argsort(-short, kind="stable")[:depth]
    cells, short = cells[::-1][order], short[order]
    for array in (cells, short):
        array.flags.writeable = False
    return PackedRanking(cells, short)


def keys(cells: Cells, topics: npt.NDArray[np.intp]) -> Words:
    """Return a number per document of a topic: different documents hardly ever have the same."""
    of_topics = mixed(np.arange(1, int(topics.max(initial=0)) + 2, dtype=np.uint64))
    return mixed(codes(cells) + of_topics[topics])


def ranked(bounds: npt.NDArray[np.intp], cells: Cells, scores: Values) -> list[Ranking]:
    """Order the results of several topics as `Ranking.of(…, rounded=False)` does each.

    Args:
        bounds: where the results of each topic begin, and the number of all results.
        cells: document ids, topic after topic; the array is reordered and kept.
        scores: one per document; likewise.

    Raises:
        ValueError: a score is not a finite number, or a document comes twice in a topic.
    """
    if not np.isfinite(scores).all():
        raise ValueError("a score that is not a finite number")
    topics = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    refuse_repeated(bounds, topics, cells)
    _order(bounds, topics, cells, scores)
    short = in_32_bits(scores)
    last = bounds[1:] - 1
    same = np.append(short[:-1] == short[1:], False)
    same[last] = False
    ties = np.flatnonzero(same)
    lost = ties[cells[ties] < cells[ties + 1]]
    wide_topics = np.zeros(len(bounds) - 1, dtype=bool)  # topics whose order needs 64 bits
    wide_topics[topics[lost]] = True
    wide_topics[topics[~np.isfinite(short)]] = True
    for array in (cells, short):
        array.flags.writeable = False
    rankings: list[Ranking] = []
    for start, end, is_wide in zip(
        bounds[:-1].tolist(), bounds[1:].tolist(), wide_topics.tolist(), strict=True
    ):
        scores_of_topic: Scores = short[start:end]
        if is_wide:
            scores_of_topic = scores[start:end].copy()
            scores_of_topic.flags.writeable = False
        rankings.append(PackedRanking(cells[start:end], scores_of_topic))
    return rankings


def refuse_repeated(
    bounds: npt.NDArray[np.intp], topics: npt.NDArray[np.intp], cells: Cells
) -> None:
    """Refuse a document that comes twice in a topic.

    Args:
        bounds: where the results of each topic begin, and the number of all results.
        topics: the number of each result's topic, from 0.
        cells: its document.

    Raises:
        ValueError: a document comes twice.
    """
    order = np.sort(keys(cells, topics))
    if not (order[1:] == order[:-1]).any():
        return
    # Keys of different results are hardly ever equal.
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if len(set(cells[start:end].tolist())) < end - start:
            raise ValueError("a document that comes twice")


def _order(
    bounds: npt.NDArray[np.intp], topics: npt.NDArray[np.intp], cells: Cells, scores: Values
) -> None:
    """Order each topic by score, then by id, descending."""
    last = bounds[1:-1] - 1
    rising = scores[:-1] < scores[1:]
    rising[last] = False
    for topic in np.unique(topics[:-1][rising]).tolist():
        part = slice(bounds[topic], bounds[topic + 1])
        order = np.argsort(-scores[part], kind="stable")
        scores[part], cells[part] = scores[part][order], cells[part][order]
    same = scores[:-1] == scores[1:]
    same[last] = False
    if not same.any():
        return
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    group = np.cumsum(~np.append(False, same))[tied]
    order = tied[np.lexsort((*descending(cells[tied]), group))]
    cells[tied], scores[tied] = cells[order], scores[order]  # 0.0 and -0.0 are tied, too


def descending(cells: Cells) -> list[npt.NDArray[np.integer[Any]]]:
    """Return keys for `np.lexsort` that bring cells into descending order."""
    matrix = words(cells)
    if matrix is None:
        return [-np.unique(cells, return_inverse=True)[1].reshape(-1)]
    return [~matrix[:, number] for number in reversed(range(matrix.shape[1]))]
