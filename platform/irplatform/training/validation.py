"""The measure of early stopping: how well a model ranks topics that it does not learn from.

A reranker's scores are used together with the first stage's, so they are judged together: by
nDCG@20 of the best of a few mixtures, including the reranker alone (nDCG-exp@20 where topics are
judged by levels). The reranker alone, which the papers validate, ends training while it still
learns what the first stage cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from irplatform.errors import PlatformError
from irplatform.evaluation.gain import CUTOFF, ndcg_of
from irplatform.runs.run import best_ids, standardized
from irplatform.workers.distribution import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.data import LabelledTopic, Topic, TrainingData
    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Int64

    Scores = Sequence[float] | npt.NDArray[np.floating[Any]]
    Read = TypeVar("Read")

MIXTURES = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Shares of the first stage that are tried."""


@dataclass(frozen=True)
class CandidateRows:
    """The candidates of several topics, some of which share documents.

    Attributes:
        distinct: int64 [documents], rows of the forward index, each once, in ascending order.
        of_topic: per topic, int64 [candidates], the place of each candidate in `distinct`.
    """

    distinct: Int64
    of_topic: list[Int64]


class Validator:
    """Mean nDCG@20 of validation topics, with the best share of the first stage.

    Topics without a relevant document are left out, and of many an even sample of `limit` is used,
    with at most `depth` candidates. `on` is the setting `validate_on` of the training loop: without
    scores of the first stage, the reranker alone is judged, as it is with "alone". `topics` are
    those that are used, with the candidates that are ranked.
    """

    def __init__(
        self,
        topics: Sequence[LabelledTopic],
        limit: int = 300,
        depth: int | None = None,
        *,
        on: Literal["mixture", "alone"],
    ) -> None:
        usable = [t for t in topics if t.candidates and any(g > 0 for g in t.judgments.values())]
        self.topics = [
            replace(t, candidates=t.candidates[:depth], first_stage=t.first_stage[:depth])
            for t in sample_evenly(usable, limit)
        ]
        self._first = [standardized(np.array(t.first_stage)) for t in self.topics]
        mixes = on == "mixture" and all(t.first_stage for t in self.topics)
        self._shares = MIXTURES if mixes else MIXTURES[:1]

    @classmethod
    def of(cls, data: TrainingData, options: Any) -> Validator:
        """Return it for options with `validation_topics`, `validation_depth` and a `loop`."""
        limit, depth = options.validation_topics, options.validation_depth
        return cls(data.validation, limit, depth, on=options.loop.validate_on)

    def candidate_rows(self, index: ForwardIndex) -> CandidateRows:
        """Return the candidates of all topics, for a model that computes each document once."""
        rows = index.rows([doc_id for topic in self.topics for doc_id in topic.candidates])
        distinct, places = np.unique(rows, return_inverse=True)
        ends = np.cumsum([len(topic.candidates) for topic in self.topics], dtype=np.int64)
        return CandidateRows(distinct, np.split(places, ends[:-1]))

    def reading(
        self, read: Callable[[Topic, Sequence[str]], Read], advance: Callable[[int], None]
    ) -> Callable[[Callable[[Read], Scores]], float]:
        """Read the topics once, for a model that is judged after every epoch.

        The returned measure takes a function that scores what was read of a topic.
        """
        readings: list[Read] = []
        for topic in self.topics:
            readings.append(read(topic.topic, topic.candidates))
            advance(1)
        return lambda score: self(lambda number: score(readings[number]))

    def __call__(self, score: Callable[[int], Scores]) -> float:
        """Return the measure, 0 to 1, if `score(number)` scores the candidates of `topics[number]`.

        It is 0 without validation topics. PlatformError if a score is not finite.
        """
        values = [
            self._ndcg(number, self._finite(number, score(number)))
            for number in range(len(self.topics))
        ]
        return float(np.mean(values, axis=0).max()) if values else 0.0

    def _finite(self, number: int, scores: Scores) -> npt.NDArray[np.floating[Any]]:
        array = np.asarray(scores)
        if not np.isfinite(array).all():
            raise PlatformError(
                f"scores of validation topic {self.topics[number].topic.id} are not all finite: "
                "training diverged. Try a smaller learning_rate."
            )
        return array

    def _ndcg(self, number: int, scores: npt.NDArray[np.floating[Any]]) -> list[float]:
        topic = self.topics[number]
        standard = standardized(scores.astype(np.float64))
        values = []
        for share in self._shares:
            mixed = share * self._first[number] + (1 - share) * standard if share else standard
            values.append(ndcg_of(best_ids(topic.candidates, mixed, CUTOFF), topic.judgments))
        return values
