"""Mixing a reranker's scores with the first stage's.

Both are standardized per topic (mean 0, deviation 1 over the candidates), then added with weights W
and 1 − W. W = 1 gives exactly the first stage, W = 0 the reranker alone. Unless W = 1, documents
that were not reranked stand below all candidates, in the first stage's order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.comparison.tests import MeanDifference
from irplatform.evaluation.gain import CUTOFF, NDCG, ndcg_of, validation_measure
from irplatform.runs import Ranking
from irplatform.runs.run import Values, best_ids, deviation, standardized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WEIGHTS = tuple(round(0.05 * step, 2) for step in range(21))
"""The weights of the first stage that are tried."""


@dataclass(frozen=True)
class Reranked:
    """A topic's first stage beside a reranker's scores of its candidates, both standardized.

    `ranking` has all documents of the first stage. In `second`, documents that were not reranked
    (`outside`) come last.
    """

    ranking: Ranking
    first: Values
    second: Values
    outside: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, first: Ranking, candidates: Sequence[str], scores: Sequence[float]) -> Reranked:
        """Standardize both sides; `scores` has one number per candidate, and all are in `first`."""
        position = {doc_id: i for i, doc_id in enumerate(first.doc_ids)}
        places = np.array([position[d] for d in candidates], dtype=np.int64)
        values = first.scores.astype(np.float64)
        inside = values[places]
        if unit := deviation(inside):
            standard = (values - inside.mean()) / unit
        else:  # only the order counts, which 32 bits of scores around 1e-20 would lose
            standard = np.unique(values, return_inverse=True)[1].astype(np.float64)
        if len(places):
            # By ranks, where a few scores are far from all others.
            standard_inside = standardized(inside)
            standard += standard_inside.min() - standard[places].min()
            standard[places] = standard_inside
        second = np.full(len(values), np.nan)
        second[places] = standardized(np.asarray(scores, dtype=np.float64))
        outside = np.isnan(second)
        if outside.any():
            floor = np.nanmin(second) if len(places) else 0.0
            second[outside] = floor - 1 + standard[outside] - standard[outside].max()
        return cls(first, standard, second, outside)

    def mixed(self, weight: float) -> Ranking:
        """Return the ranking with this weight of the first stage, 0 to 1."""
        if weight == 1:  # standardizing rounds, which makes ties where there were none
            return self.ranking
        return Ranking.of(self.ranking.doc_ids, self._mixed(weight))

    def best_ids(self, weight: float, count: int) -> Sequence[str]:
        """Return the first ids of the ranking with this weight."""
        if weight == 1:
            return self.ranking.doc_ids[:count]
        return best_ids(self.ranking.doc_ids, self._mixed(weight), count)

    def _mixed(self, weight: float) -> Values:
        scores: Values = weight * self.first + (1 - weight) * self.second
        if self.outside.any():
            floor = scores[~self.outside].min(initial=np.inf)
            scores[self.outside] = _below(
                floor, scores[self.outside], self.ranking.scores[self.outside]
            )
        return scores


def _below(floor: float, scores: Values, order: npt.NDArray[np.float32]) -> Values:
    """Scores, best first, lowered until they are below a floor and their order is kept.

    A document outside the candidates may stand above one of them. And scores far below may be too
    close together for a run's 32 bits, as after a softmax. `order` has the first stage's scores, of
    which equal ones stay equal.
    """
    shifted = scores - max(0.0, scores[0] - floor)
    reach = max(np.abs(scores).max(), np.abs(shifted).max(), abs(floor) if floor < np.inf else 0.0)
    step = 4 * float(np.spacing(np.float32(reach)))  # 32 bits can tell such a difference
    scores = scores - max(0.0, scores[0] + step - floor)
    steps = step * np.concatenate([[0], np.cumsum(order[1:] != order[:-1])])
    lowered: Values = np.minimum.accumulate(scores + steps) - steps
    return lowered


@dataclass(frozen=True)
class WeightChoice:
    """A weight of the first stage, 0 to 1, and what it was chosen on.

    `topics` counts validation topics with a relevant document. `curve` maps weights to the
    measure's mean over them: nDCG@20, or nDCG-exp@20 where topics are judged by levels.
    """

    weight: float
    topics: int
    curve: Mapping[float, float]
    measure: str = NDCG


def choose_weight(
    topics: Mapping[str, Reranked],
    judgments: Mapping[str, Mapping[str, float]],
    *,
    holds_first_stage: bool = False,
) -> WeightChoice:
    """Choose the weight on validation topics that have a relevant document.

    The best mean nDCG@20 (nDCG-exp@20 of levels) wins if it beats the first stage by more than the
    standard error of the difference. Otherwise W = 1: on few topics a lucky reranker must not
    replace a good first stage. A reranker that has the first stage's score as a feature
    (`holds_first_stage`) stands alone (W = 0), unless the first stage is better by more than the
    standard error.
    """
    table = np.array(
        [
            [ndcg_of(reranked.best_ids(weight, CUTOFF), judgments[topic]) for weight in WEIGHTS]
            for topic, reranked in topics.items()
            if any(grade > 0 for grade in judgments[topic].values())
        ]
    )
    measure = validation_measure(judgments.values())
    if not len(table):
        return WeightChoice(1.0, 0, {}, measure)
    means = table.mean(axis=0)
    curve = {w: round(float(m), 6) for w, m in zip(WEIGHTS, means, strict=True)}
    loss = MeanDifference.of(table[:, -1] - table[:, 0])
    if holds_first_stage and not loss.is_clear:
        return WeightChoice(0.0, len(table), curve, measure)
    # Equal means go to the larger weight, the more cautious one.
    best = len(WEIGHTS) - 1 - int(np.argmax(means[::-1]))
    gain = MeanDifference.of(table[:, best] - table[:, -1])
    weight = WEIGHTS[best] if gain.is_clear else 1.0
    return WeightChoice(weight, len(table), curve, measure)
