"""How well a model ranks topics that it does not learn from: the measure of early stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.evaluation.gain import ndcg
from irplatform.runs import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.plugin import LabelledTopic


class Validator:
    """Mean nDCG@20 over the candidates of validation topics.

    Args:
        topics: the validation topics; those without a relevant document are left out.
        limit: use at most this many of them, evenly spread, to keep epochs short.
    """

    def __init__(self, topics: Sequence[LabelledTopic], limit: int = 150) -> None:
        usable = [t for t in topics if t.candidates and any(g > 0 for g in t.judgments.values())]
        step = max(1, -(-len(usable) // limit))
        self.topics = usable[::step]

    def __call__(
        self, score: Callable[[int], Sequence[float] | npt.NDArray[np.floating[Any]]]
    ) -> float:
        """Rank with `score(number)`, which scores the candidates of `topics[number]`.

        Returns:
            Mean nDCG@20, 0 to 1; 0 where there are no validation topics.
        """
        values = []
        for number, topic in enumerate(self.topics):
            ranking = Ranking.of(topic.candidates, score(number)).top(20)
            found = [max(topic.judgments.get(d, 0), 0) for d in ranking.doc_ids]
            values.append(ndcg(found, list(topic.judgments.values()), cutoff=20))
        return float(np.mean(values)) if values else 0.0
