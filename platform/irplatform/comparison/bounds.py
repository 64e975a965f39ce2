"""The worth of unjudged and tied documents: condensed lists, and bounds of a measure.

- *Unjudged* is a document without a grade for its topic, or with a negative one. A measure takes it
  as not relevant, which is the lower bound. For the upper bound the best-ranked unjudged documents
  get the highest grade of the topic (1 if nothing is relevant), in the ideal ranking, too: the best
  value of 0, 1, 2, 4, … or all of them, or of 0 and all for measures that only rise, such as P.
  Only the first k documents of a measure with cutoff k are filled, at most 100, and the first 100
  for a measure without: below, pools ended on purpose.
- *Condensed lists* leave unjudged documents out (Sakai, SIGIR 2007).
- *Tied* documents have equal scores. The bounds order them by grade, worst or best first.
- Between two systems the same document has the same grade. At the lower end of their difference
  exactly those unjudged documents are relevant that the baseline ranks higher, at the upper end
  those that the system ranks higher: possible judgments, though not always the very extremes.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.measure_names import cutoff_of, is_inferred, registered
from irplatform.evaluation.scoring import evaluate
from irplatform.runs.run import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from irplatform.data import Qrels
    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.kinds import MeasureFunction, PerTopic

    Key = TypeVar("Key")

POOL_DEPTH = 100
"""Ranks in which unjudged documents are filled at most."""

ByMeasure = dict[str, "PerTopic"]
"""Measure name to topic id to value."""


@dataclass(frozen=True)
class Bounds:
    """The lowest and the highest value that something may have."""

    low: float
    high: float


class Rescorer:
    """Scores runs anew with other judgments, or in another order of tied documents.

    Attributes:
        qrels: the judgments.
        measures: the measures that have bounds.
        names_others: whether documents are judged not relevant. Where only relevant ones are named,
            unjudged documents count as not relevant by design.

    Args:
        judgments: judgments and measures. Measures of sampled judgments, which estimate unjudged
            documents themselves, of subtopics, and counts have no bounds.
        extra: measures of plugins.
    """

    def __init__(
        self, judgments: Judgments, extra: Mapping[str, MeasureFunction] | None = None
    ) -> None:
        self._extra = extra
        self.qrels = {topic: grades for topic, grades in judgments.qrels.items() if grades}
        self.names_others = any(g <= 0 for grades in self.qrels.values() for g in grades.values())
        self.measures = [
            name
            for name in judgments.measures
            if not (judgments.sampled is not None and is_inferred(name))
            and registered(name).has_bounds
        ]

    def condensed(self, run: Run) -> ByMeasure:
        """Score a run without its unjudged documents."""
        rankings = {}
        for topic, grades in self.qrels.items():
            if topic in run.rankings:
                doc_ids = run.rankings[topic].doc_ids
                rankings[topic] = _ordered([d for d in doc_ids if not _unjudged(grades, d)])
        return self._values(self.qrels, rankings, self.measures)

    def filled(self, run: Run, values: Mapping[str, PerTopic]) -> ByMeasure:
        """Return the upper bounds of a run for unjudged documents.

        Args:
            run: the run.
            values: its values.
        """
        highest: ByMeasure = {}
        for (depth, rises), measures in self._groups(_filling):
            qrels, rankings, variants = {}, {}, {}
            for topic, ranking, unjudged in self._with_unjudged(run, depth):
                grades, best = self.qrels[topic], _best(self.qrels[topic])
                for count in [len(unjudged)] if rises else _counts(len(unjudged)):
                    variant = f"{topic} {count}"
                    variants[variant] = topic
                    qrels[variant] = {**grades, **dict.fromkeys(unjudged[:count], best)}
                    rankings[variant] = ranking
            scores = self._values(qrels, rankings, measures)
            for measure in measures:
                bounds = dict(values[measure])
                for variant, topic in variants.items():
                    bounds[topic] = max(bounds[topic], scores[measure][variant])
                highest[measure] = bounds
        return highest

    def swayed(self, baseline: Run, system: Run) -> Iterator[tuple[ByMeasure, ByMeasure]]:
        """Score two runs with the judgments that speak most for the baseline, then the system.

        Yields:
            Values of the baseline and of the system, of topics with unjudged documents alone.
        """
        for better, worse, swapped in ((baseline, system, False), (system, baseline, True)):
            first: ByMeasure = {}
            second: ByMeasure = {}
            for depth, measures in self._groups(depth_of):
                qrels = self._in_favour(better, worse, depth)
                one, other = (
                    self._values(qrels, _only(run, qrels), measures) for run in (better, worse)
                )
                first |= one
                second |= other
            yield (second, first) if swapped else (first, second)

    def reordered(self, run: Run, *, best: bool) -> ByMeasure:
        """Score a run with its tied documents in the best or the worst order.

        Returns:
            Values of topics where the order may matter, alone.
        """
        rankings = {}
        for topic, grades in self.qrels.items():
            ranking = run.rankings.get(topic)
            if ranking is None or not _has_ties(ranking):
                continue
            sign = -1 if best else 1
            keys = [
                (-float(score), sign * grades.get(doc_id, 0), rank)
                for rank, (doc_id, score) in enumerate(ranking)
            ]
            order = [rank for *_, rank in sorted(keys)]
            if order != [*range(len(ranking))]:
                rankings[topic] = _ordered([ranking.doc_ids[rank] for rank in order])
        qrels = {topic: self.qrels[topic] for topic in rankings}
        return self._values(qrels, rankings, self.measures)

    def _groups(self, key: Callable[[str], Key]) -> Iterator[tuple[Key, list[str]]]:
        """Measures that have a key in common."""
        groups: dict[Key, list[str]] = {}
        for name in self.measures:
            groups.setdefault(key(name), []).append(name)
        yield from groups.items()

    def _with_unjudged(self, run: Run, depth: int) -> Iterator[tuple[str, Ranking, list[str]]]:
        for topic, grades in self.qrels.items():
            ranking = run.rankings.get(topic)
            doc_ids = ranking.doc_ids[:depth] if ranking is not None else ()
            unjudged = [doc_id for doc_id in doc_ids if _unjudged(grades, doc_id)]
            if ranking is not None and unjudged:
                yield topic, ranking, unjudged

    def _in_favour(self, better: Run, worse: Run, depth: int) -> dict[str, dict[str, float]]:
        """Judgments of topics with unjudged documents: relevant are those that `better` prefers."""
        qrels = {}
        for topic, _, unjudged in self._with_unjudged(better, depth):
            ranking = worse.rankings.get(topic)
            doc_ids = ranking.doc_ids[:depth] if ranking is not None else ()
            places = {doc_id: rank for rank, doc_id in enumerate(doc_ids)}
            ranks = {d: r for r, d in enumerate(better.rankings[topic].doc_ids[:depth])}
            preferred = [d for d in unjudged if ranks[d] < places.get(d, depth)]
            if preferred:
                best = _best(self.qrels[topic])
                qrels[topic] = {**self.qrels[topic], **dict.fromkeys(preferred, best)}
        return qrels

    def _values(
        self, qrels: Qrels, rankings: Mapping[str, Ranking], measures: Sequence[str]
    ) -> ByMeasure:
        if not qrels or not measures:
            return {measure: {} for measure in measures}
        cutoffs = [cutoff_of(measure) for measure in measures]
        if all(cutoffs):
            deepest = max(cutoff or 0 for cutoff in cutoffs)
            rankings = {topic: ranking.top(deepest) for topic, ranking in rankings.items()}
        return dict(evaluate(qrels, Run("", rankings), measures, extra=self._extra).per_topic)


def depth_of(measure: str) -> int:
    """Return how many documents of a ranking are filled for a measure."""
    return min(cutoff_of(measure) or POOL_DEPTH, POOL_DEPTH)


def _filling(measure: str) -> tuple[int, bool]:
    """The number of documents to fill, and whether the measure only rises with them."""
    return depth_of(measure), registered(measure).only_rises


def judged_at(measure: str) -> int:
    """Return the k of the Judged@k that stands beside a measure: its cutoff, or 100."""
    return cutoff_of(measure) or POOL_DEPTH


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    numbers = [*values]
    return fmean(numbers) if numbers else 0.0


def _unjudged(grades: Mapping[str, float], doc_id: str) -> bool:
    return grades.get(doc_id, -1) < 0


def _best(grades: Mapping[str, float]) -> float:
    """The topic's highest grade, or 1 if nothing is relevant."""
    best = max(grades.values())
    return best if best > 0 else type(best)(1)


def _counts(number: int) -> list[int]:
    """1, 2, 4, … and all."""
    powers = [1 << exponent for exponent in range(number.bit_length())]
    return [*(count for count in powers if count < number), number]


def _ordered(doc_ids: Sequence[str]) -> Ranking:
    """A ranking in the order given."""
    return Ranking.in_order(tuple(doc_ids), np.arange(len(doc_ids), 0, -1, dtype=np.float64))


def _has_ties(ranking: Ranking) -> bool:
    return bool((ranking.scores[:-1] == ranking.scores[1:]).any())


def _only(run: Run, topics: Iterable[str]) -> dict[str, Ranking]:
    return {topic: run.rankings[topic] for topic in topics if topic in run.rankings}
