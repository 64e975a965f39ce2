"""How several retrievers become one first stage: reciprocal rank fusion, its weights learned.

With equal weights a weak retriever can pull a good one down. On training topics, a coordinate
search over a few weights and constants finds a better mixture; it replaces the plain fusion only if
it gains more than the standard error of the difference.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.comparison.tests import MeanDifference
from irplatform.evaluation.gain import ndcg
from irplatform.runs.fuse import FusionMethod
from irplatform.runs.fuse import K as PLAIN_K
from irplatform.workers.distribution import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from irplatform.data import Qrels
    from irplatform.runs import Run
    from irplatform.text.arrays import Float64

AUTO = "auto"
"""Weights are learned; "plain" takes equal ones."""
WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""The weights to choose from; the largest weight is scaled to 1."""
CONSTANTS = (5, 10, 20, 40, 60, 100)
MOST_TOPICS = 1000
"""Topics that a mixture is chosen on; more would only take longer."""
_DEPTH = 200
"""Ranks that are used while choosing; deeper ones hardly reach the first 20 of a fusion."""
_SWEEPS = 3


@dataclass(frozen=True)
class Fusion:
    """A weighted reciprocal rank fusion.

    `weights` are one per retriever, or empty if all count the same. A large `k` makes the first
    ranks less important. `topics` is the number of training topics that it was chosen on.
    """

    weights: tuple[float, ...] = ()
    k: float = PLAIN_K
    topics: int = 0

    def fuse(self, runs: Sequence[Run], name: str) -> Run:
        """Fuse runs, given in the order of the weights; one with weight 0 is left out."""
        weights = self.weights or (1.0,) * len(runs)
        weighted = [run for run, weight in zip(runs, weights, strict=True) if weight]
        weights = tuple(filter(None, weights))
        return FusionMethod("ranks", k=self.k, weights=weights).fuse(weighted, name)

    def describe(self) -> dict[str, Any]:
        """For metadata and fingerprints."""
        return asdict(self)


def choose_fusion(runs: Sequence[Run], judgments: Qrels) -> Fusion:
    """Choose weights and constant by mean nDCG@20 over judged topics; of levels, by nDCG-exp@20.

    Topics without a relevant document do not count. The result is the plain fusion, unless another
    one is better by more than the standard error.
    """
    topics = [t for t in runs[0].rankings if any(g > 0 for g in judgments.get(t, {}).values())]
    sample = sample_evenly(topics, MOST_TOPICS)
    tables = [_Ranks.of(runs, topic, judgments[topic]) for topic in sample]
    if len(tables) < 2:
        return Fusion()
    best = plain = Fusion((1.0,) * len(runs), PLAIN_K)
    before = values = _values(best, tables)
    for _ in range(_SWEEPS):
        start = best
        for candidate in _neighbours(best):
            candidate_values = _values(candidate, tables)
            if candidate_values.mean() > values.mean():
                best, values = candidate, candidate_values
        if best == start:
            break
    if best == plain or not MeanDifference.of(values - before).is_clear:
        return Fusion(topics=len(sample))
    largest = max(best.weights)
    return Fusion(tuple(w / largest for w in best.weights), best.k, len(sample))


def _neighbours(fusion: Fusion) -> Iterator[Fusion]:
    for k in CONSTANTS:
        yield Fusion(fusion.weights, k)
    for place in range(len(fusion.weights)):
        for weight in WEIGHTS:
            weights = (*fusion.weights[:place], weight, *fusion.weights[place + 1 :])
            if any(weights):
                yield Fusion(weights, fusion.k)


@dataclass(frozen=True)
class _Ranks:
    """A topic as the search sees it.

    `ranks` are float [documents, retrievers], infinite if a retriever did not find a document, in
    the order of ties: by decreasing id. `judged` are the grades of all judged documents; those of
    levels are floats.
    """

    ranks: Float64
    grades: Float64
    judged: npt.NDArray[np.number[Any]]

    @classmethod
    def of(cls, runs: Sequence[Run], topic: str, judgments: Mapping[str, float]) -> _Ranks:
        ids_per_run = [run.rankings[topic].doc_ids[:_DEPTH] for run in runs]
        doc_ids = sorted({d for ids in ids_per_run for d in ids}, reverse=True)
        place = {doc_id: row for row, doc_id in enumerate(doc_ids)}
        ranks = np.full((len(doc_ids), len(runs)), np.inf)
        for column, ids in enumerate(ids_per_run):
            for rank, doc_id in enumerate(ids, start=1):
                ranks[place[doc_id], column] = rank
        grades = np.array([max(judgments.get(d, 0), 0) for d in doc_ids], dtype=np.float64)
        return cls(ranks, grades, np.array(list(judgments.values())))


def _values(fusion: Fusion, tables: Sequence[_Ranks]) -> Float64:
    weights = np.array(fusion.weights)
    values = []
    for table in tables:
        scores = (weights / (fusion.k + table.ranks)).sum(axis=1)
        first = np.argsort(-scores, kind="stable")[:20]
        first = first[scores[first] > 0]  # what only retrievers of weight 0 found is not in it
        exponential = table.judged.dtype.kind == "f"
        values.append(ndcg(table.grades[first], table.judged, 20, exponential=exponential))
    return np.array(values)
