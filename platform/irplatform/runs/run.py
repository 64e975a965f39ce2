"""The run: a ranking of documents per topic, in the one order that everything here uses.

The order is trec_eval's: score descending, ties by document id descending. Rankings made here have
32-bit scores, rounded when the run is made, so that a run that is written, read back and scored is
the same everywhere. A run that is read is ordered by its 64-bit scores, as in trec_eval 10; it
keeps those if 32 bits would give another order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, quoted
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import block, table

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from irplatform.data import Topic

Scores = npt.NDArray[np.floating[Any]]
Values = npt.NDArray[np.float64]
_MOST_EXACT = 2**53
"""Larger floats skip whole numbers."""
_ROUNDING = 1e-6
"""Scores closer than this, relative to the largest, are equal: networks compute in 32 bits, so that
rounding separates documents that they cannot tell apart.
"""
DEEPEST = 100_000
"""Documents searched per topic at most: all of a closed pool, and in all of MEDLINE those that a
first stage could tell apart.
"""
HITS_AT_ONCE = 2_000_000
"""Results held at a time."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of one topic, best first.

    Attributes:
        doc_ids: the documents' ids.
        scores: one per document, never increasing; float32, or float64 if the order needs it.
    """

    doc_ids: tuple[str, ...]
    scores: Scores

    def __post_init__(self) -> None:
        self.__dict__.update(vars(Ranking.of(self.doc_ids, self.scores, rounded=False)))

    @classmethod
    def in_order(cls, doc_ids: tuple[str, ...], scores: Scores) -> Ranking:
        """Return a ranking of what is checked and ordered, without looking at it again."""
        ranking = object.__new__(cls)
        ranking.__dict__.update(doc_ids=doc_ids, scores=scores)
        return ranking

    @classmethod
    def of(
        cls,
        doc_ids: Sequence[str],
        scores: Sequence[float] | npt.NDArray[np.floating[Any]],
        *,
        rounded: bool = True,
    ) -> Ranking:
        """Order documents by score, then by document id, descending.

        Args:
            doc_ids: the documents.
            scores: one per document.
            rounded: round the scores to 32 bits; otherwise order by the given scores, and round
                them if that keeps the order.

        Raises:
            ValueError: a score is not a finite number, a document comes twice, or the lengths
                differ.
            InputError: an id is neither text nor a whole number, which counts as its text.
        """
        if not all(issubclass(kind, str) for kind in set(map(type, doc_ids))):
            doc_ids = [id_text(doc_id, "a document") for doc_id in doc_ids]
        numbers = np.asarray(scores)
        if numbers.dtype.kind in "SU":
            raise ValueError(f"the scores are text, such as {numbers.ravel().tolist()[:1]}")
        values: Scores = in_32_bits(numbers) if rounded else numbers.astype(np.float64)
        if values.shape != (len(doc_ids),):
            raise ValueError(f"{len(doc_ids)} documents but scores of shape {values.shape}")
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"the score of document '{doc_ids[bad]}' is {values[bad]}")
        if len(set(doc_ids)) != len(doc_ids):
            distinct_ids: set[str] = set()
            twice = next(d for d in doc_ids if d in distinct_ids or distinct_ids.add(d))  # type: ignore[func-returns-value]
            raise ValueError(f"document '{twice}' comes twice")
        ids, values = _ordered(doc_ids, values)
        if not rounded and _same_order(ids, short := in_32_bits(values)):
            values = short
        values.flags.writeable = False
        return cls.in_order(ids, values)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.doc_ids, self.scores.tolist(), strict=True)

    def top(self, depth: int) -> Ranking:
        """Keep the first `depth` documents."""
        if len(self) <= depth:
            return self
        return Ranking.in_order(self.doc_ids[:depth], self.scores[:depth])

    def without(self, doc_ids: Container[str]) -> Ranking:
        """Leave some documents out."""
        if not doc_ids:
            return self
        places = [place for place, doc_id in enumerate(self.doc_ids) if doc_id not in doc_ids]
        doc_ids = tuple(self.doc_ids[place] for place in places)
        return Ranking.in_order(doc_ids, self.scores[places])

    def in_32_bits(self) -> Ranking:
        """Return the order of trec_eval up to release 9, which reads 32 bits."""
        if self.scores.dtype == np.float32:
            return self
        return Ranking.in_order(*_ordered(self.doc_ids, in_32_bits(self.scores)))


K = TypeVar("K")
V = TypeVar("V")


class Later(Mapping[K, V]):
    """A mapping that is read or computed when it is first used, such as a run in the cache."""

    def __init__(self, make: Callable[[], Mapping[K, V]]) -> None:
        self._make = make

    @cached_property
    def _mapping(self) -> Mapping[K, V]:
        return self._make()

    def __getitem__(self, key: K) -> V:
        return self._mapping[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._mapping)

    def __len__(self) -> int:
        return len(self._mapping)


_SHOWN = 5
"""Topics, and documents of each, that a notebook shows."""


def id_text(value: Any, of: str) -> str:
    """Return an id as text; a whole number, as pandas and JSON make of PMIDs, is its digits.

    Raises:
        InputError: it is neither.
    """
    if isinstance(value, str) and value.strip(" \t\r\n"):
        return value
    number = math.nan
    with suppress(TypeError, ValueError, OverflowError):
        number = math.nan if isinstance(value, bool) else float(value)
    if not number.is_integer() or abs(number) > _MOST_EXACT:
        raise InputError(f"the id of {of} is {quoted(value)}. Write it as text.")
    return str(int(value))


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A ranking per topic, under a name.

    Attributes:
        name: the system's name, and the tag in a TREC file.
        rankings: topic id to ranking, in the order of the topics; a mapping of document to score
            becomes one. `Later` ones are sound.
        path: the file that it was read from, whose metadata say how it was made.
    """

    id_text = staticmethod(id_text)
    name: str
    rankings: Mapping[str, Ranking]
    path: Path | None = None

    def __post_init__(self) -> None:
        if isinstance(self.rankings, Later):
            return
        rankings: dict[str, Any] = {id_text(t, "a topic"): r for t, r in self.rankings.items()}
        if len(rankings) < len(self.rankings):
            raise InputError("a topic comes as text and as a number. Write ids as text.")
        for topic, ranking in rankings.items():
            if isinstance(ranking, Mapping):
                rankings[topic] = Ranking.of([*ranking], [*ranking.values()], rounded=False)
            elif not isinstance(ranking, Ranking):
                raise ValueError(
                    f"the results of topic '{topic}' are {quoted(ranking)}, not a Ranking: "
                    "Ranking.of(doc_ids, scores) makes one."
                )
        object.__setattr__(self, "rankings", MappingProxyType(rankings))

    @property
    def lengths(self) -> list[int]:
        """The number of documents of each topic with results."""
        return [len(ranking) for ranking in self.rankings.values() if len(ranking)]

    def top(self, depth: int) -> Run:
        """Keep the first `depth` documents of every topic."""
        return self._transform(lambda ranking: ranking.top(depth))

    def in_32_bits(self) -> Run:
        """Return the rankings in the order of trec_eval up to release 9."""
        return self._transform(Ranking.in_32_bits)

    def renamed(self, name: str) -> Run:
        """Return the same rankings under another name."""
        return replace(self, name=name)

    def _transform(self, change: Callable[[Ranking], Ranking]) -> Run:
        def changed() -> dict[str, Ranking]:
            return {topic: change(ranking) for topic, ranking in self.rankings.items()}

        later = isinstance(self.rankings, Later)
        return replace(self, rankings=Later(changed) if later else changed())

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each result: query_id, doc_id, score and rank, from 1.

        ir_measures takes such frames.

        Raises:
            InputError: pandas is not installed.

        Examples:
            >>> import irplatform as ir
            >>> ir.Run("mine", {"1": ir.Ranking.of(["a", "b"], [1.0, 2.0])}).to_pandas()
              query_id doc_id  score  rank
            0        1      b    2.0     1
            1        1      a    1.0     2
        """
        return pandas_frame(self._columns())

    def to_polars(self) -> pl.DataFrame:
        """Return what `to_pandas` returns, as a frame of polars."""
        return polars_frame(self._columns())

    def _columns(self) -> dict[str, list[object]]:
        rows = [
            (topic, doc_id, score, rank)
            for topic, ranking in self.rankings.items()
            for rank, (doc_id, score) in enumerate(ranking, start=1)
        ]
        names = ("query_id", "doc_id", "score", "rank")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def __repr__(self) -> str:
        results = sum(map(len, self.rankings.values()))
        return f"Run({self.name!r}, {len(self.rankings):,} topics, {results:,} results)"

    def _repr_html_(self) -> str:
        results = sum(map(len, self.rankings.values()))
        rows = [
            [topic, f"{len(ranking):,}", ", ".join(ranking.doc_ids[:_SHOWN])]
            for topic, ranking in [*self.rankings.items()][:_SHOWN]
        ]
        rest = len(self.rankings) - len(rows)
        return block(
            table(["topic", "results", "first documents"], rows, long=2),
            heading=f"{self.name}: {len(self.rankings):,} topics, {results:,} results",
            notes=[f"… and {rest:,} topics more"] if rest else [],
        )


def in_32_bits(scores: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Round scores to 32 bits; those beyond become infinite."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)


def _ordered(doc_ids: Sequence[str], scores: Scores) -> tuple[tuple[str, ...], Scores]:
    if np.all(scores[:-1] > scores[1:]):  # without ties there is nothing to decide
        return tuple(doc_ids), scores
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    tied = np.flatnonzero(np.diff(np.pad(ranked[:-1] == ranked[1:], 1).astype(np.int8)))
    for start, end in tied.reshape(-1, 2).tolist():
        documents = slice(start, end + 1)
        order[documents] = sorted(order[documents], key=doc_ids.__getitem__, reverse=True)
    return tuple(map(doc_ids.__getitem__, order.tolist())), scores[order]


def best_ids(doc_ids: Sequence[str], scores: Values, count: int) -> tuple[str, ...]:
    """Return the first ids of `Ranking.of` without ordering the rest."""
    values = in_32_bits(scores)
    if len(values) > count and np.isfinite(values).all():
        least = np.partition(values, -count)[-count]
        places = np.flatnonzero(values >= least)
        doc_ids, values = [doc_ids[place] for place in places.tolist()], values[places]
    return Ranking.of(doc_ids, values).doc_ids[:count]


def _same_order(doc_ids: Sequence[str], rounded: npt.NDArray[np.float32]) -> bool:
    """Return whether the rounded scores keep the order of the documents."""
    ties = np.flatnonzero(rounded[:-1] == rounded[1:]).tolist()
    return bool(np.isfinite(rounded).all()) and all(doc_ids[i] > doc_ids[i + 1] for i in ties)


def deviation(scores: Values) -> float:
    """Return the standard deviation of scores; 0 if all are equal, or there are none."""
    if not len(scores):
        return 0.0
    spread = float(scores.std())
    return spread if spread > _ROUNDING * float(np.abs(scores).max()) else 0.0


def standardized(scores: Values) -> Values:
    """Standardize scores to mean 0 and deviation 1; zeros if all are equal.

    A few outliers, such as a -1e9 for rejected documents, stretch the deviation until the other
    scores are equal in 32 bits. If the better half would lose more than a hundredth of its distinct
    scores, places among the scores are standardized instead.
    """
    unit = deviation(scores)
    if not unit:
        return np.zeros_like(scores)
    values: Values = (scores - scores.mean()) / unit
    better = scores >= np.median(scores)
    if _distinct(values[better]) < 0.99 * _distinct(scores[better]):
        places = np.unique(scores, return_inverse=True)[1].astype(np.float64)
        values = (places - places.mean()) / places.std()
    return values


def _distinct(scores: Values) -> int:
    """The number of distinct scores in 32 bits."""
    return len(np.unique(scores.astype(np.float32)))


def rank_given(
    find: Callable[[Sequence[Topic], int], Run],
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    count: int,
) -> Run:
    """Rank exactly the given documents of every topic with a search over all documents.

    The search goes deep, and other documents are dropped. Documents that it does not find come
    last, by descending id, so that every system ranks the same sets.

    Args:
        find: a search: topics and a depth to the documents of every topic, best first.
        topics: the topics.
        candidates: topic id to the documents to rank; all of them are in the index.
        count: number of documents in the index.
    """
    depth = max(1, min(count, DEEPEST))
    step = max(1, HITS_AT_ONCE // depth)
    name, rankings = "", {}
    for start in range(0, len(topics), step):
        run = find(topics[start : start + step], depth)
        name = run.name
        for topic_id, ranking in run.rankings.items():
            rankings[topic_id] = restrict(ranking, candidates[topic_id])
    return Run(name, rankings)


def restrict(ranking: Ranking, doc_ids: Sequence[str]) -> Ranking:
    """Keep some documents in the order of a ranking, those that it lacks last.

    The latter share a score just below the last one found: lower by a hundredth of the distance
    between first and last, so that standardized scores are not stretched.
    """
    scores = dict(ranking)
    last = 0.0
    if len(ranking):
        spread = float(ranking.scores[0]) - float(ranking.scores[-1])
        last = float(ranking.scores[-1]) - (spread or 1.0) / 100
    return Ranking.of(doc_ids, np.array([scores.get(d, last) for d in doc_ids], dtype=np.float32))
