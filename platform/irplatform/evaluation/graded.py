"""Measures of graded relevance that take any number as a grade, with decimals or without.

- `nDCG-exp` is nDCG with gains of 2^grade - 1: NDCG of the papers on click logs (Mohan et al., WWW
  2018), whose levels go up to 100, and ir-measures' `nDCG(dcg='exp-log2')`.
- `AP-graded` is average precision as GRAPHENE's paper defines it (section 5.2.2): the precision at
  the rank of each relevant document is weighted by the document's grade, and the sum is divided by
  the number of relevant documents. With grades above 1 it may exceed 1, although the paper says
  that all its measures end there.
- `nDCG` of ir-measures, where grades have decimals, which trec_eval does not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from irplatform.evaluation.ndcg import ndcg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.data import Qrels
    from irplatform.runs.run import Run

    Compute = Callable[[Sequence[float], Sequence[float], int], float]
    """From grades of the ranked documents, of all judged ones, and a cutoff to a value."""


def graded_precision(ranked: Sequence[float], judged: Sequence[float], cutoff: int) -> float:
    """GRAPHENE's average precision of one ranking; the arguments are those of `ndcg`."""
    total = 0.0
    found = 0
    for rank, grade in enumerate(ranked[:cutoff], start=1):
        if grade > 0:
            found += 1
            total += found / rank * grade
    relevant = sum(grade > 0 for grade in judged)
    return total / relevant if relevant else 0.0


GRADED: Mapping[str, Compute] = {
    "nDCG-exp": partial(ndcg, exponential=True),
    "AP-graded": graded_precision,
}
"""By the name without a cutoff."""


@dataclass(frozen=True)
class Graded:
    """A measure of graded relevance.

    Attributes:
        compute: its value for a topic.
        cutoff: how many ranks count; None takes all.
    """

    compute: Compute
    cutoff: int | None = None

    def values(self, judged: Qrels, run: Run) -> dict[str, float]:
        """The values of all judged topics; 0 where the run has no results."""
        values = {}
        for topic, grades in judged.items():
            ranking = run.rankings.get(topic)
            doc_ids = ranking.doc_ids if ranking is not None else ()
            cutoff = self.cutoff or max(len(doc_ids), len(grades))
            ranked = [grades.get(doc_id, 0) for doc_id in doc_ids[:cutoff]]
            values[topic] = self.compute(ranked, list(grades.values()), cutoff)
        return values
