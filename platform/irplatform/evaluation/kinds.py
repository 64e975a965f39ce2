"""Kinds of measures: what a value is computed from. Each file of `measures/` declares one.

A declaration is a measure without parameters. `parse_measures` gives it those that a user asks for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from irplatform.evaluation.gain import has_levels
from irplatform.evaluation.hits import Hits
from irplatform.evaluation.sampled import Pool, topics_of

if TYPE_CHECKING:
    from irplatform.data import Qrels
    from irplatform.evaluation.hits import Values
    from irplatform.evaluation.sampled import SampledQrels
    from irplatform.runs.run import Run

PerTopic = Mapping[str, float]
"""Topic id to value."""

IrMeasure: TypeAlias = Any
"""ir-measures' `Measure` with its parameters; its package has no types."""

MeasureFunction: TypeAlias = Callable[["Qrels", "Run"], PerTopic]
"""A plugin's measure: from judgments and run to the value of every judged topic."""

Limits: TypeAlias = Mapping[str, tuple[Callable[[Any], bool], str]]
"""Parameter to whether a value is taken, and words on which are."""

RegisterMeasure: TypeAlias = Callable[[str, "Measure"], None]
"""What a file of `measures/` registers its measure with: name and declaration."""


def is_whole(number: object, least: int = 1, most: int = 999_999) -> bool:
    """Return whether a parameter is a whole number; the highest one fits trec_eval's 32 bits."""
    return type(number) is int and least <= number <= most


CURRENT = 10
"""The release of trec_eval that values agree with."""

DEPTH = 100
"""Default number of ranks that count for sampled judgments: that of the tracks' tables."""


@dataclass(frozen=True)
class Scored:
    """A run and the judgments that it is scored by.

    Attributes:
        judged: topic to document to grade; every topic has some.
        run: the results.
        sampled: sampled judgments.
        trec_eval: the release to agree with. 9 reads scores in 32 bits.
    """

    judged: Qrels
    run: Run
    sampled: SampledQrels = field(default_factory=dict)
    trec_eval: int = CURRENT

    @cached_property
    def results(self) -> Run:
        """The results as the release of trec_eval orders them."""
        return self.run.in_32_bits() if self.trec_eval < CURRENT else self.run

    @cached_property
    def has_levels(self) -> bool:
        """Whether grades may have decimals."""
        return has_levels(self.judged.values())

    @cached_property
    def whole_grades(self) -> Qrels:
        """The judgments in whole grades."""
        return thresholds(self.judged) if self.has_levels else self.judged

    @cached_property
    def hits(self) -> Hits:
        """The judged documents of the results."""
        return Hits.of(self.whole_grades, self.results)


def thresholds(qrels: Qrels) -> dict[str, dict[str, int]]:
    """Round grades down, but to at least 1 above 0: to the highest `rel` that they reach."""
    return {
        topic: {d: max(math.floor(g), 1) if g > 0 else math.floor(g) for d, g in grades.items()}
        for topic, grades in qrels.items()
    }


class Measure(ABC):
    """A measure with its parameters."""

    is_sampled: ClassVar[bool] = False
    """Whether sampled judgments are needed."""
    has_bounds: bool = True
    """Whether a value tells how unjudged documents could change it; that of a count does not."""
    only_rises: bool = False
    """Whether each further relevant document raises the value, or leaves it as it is."""
    of_subtopics: bool = False
    """Whether judgments of subtopics are needed."""

    @abstractmethod
    def values(self, scored: Scored) -> PerTopic:
        """Compute the values of topics, in the order of the judgments."""

    def mean(self, values: PerTopic) -> float:
        """Average the values of topics."""
        return math.fsum(values.values()) / len(values) if values else 0.0

    def for_levels(self) -> Measure:
        """Return the measure that is computed where grades may have decimals."""
        return self

    def takes_whole(self) -> bool:
        """Return whether the measure uses the grade itself and takes whole grades only."""
        return False


@dataclass(frozen=True)
class OfPlugin(Measure):
    """A measure of a plugin."""

    compute: MeasureFunction

    def values(self, scored: Scored) -> PerTopic:
        """Compute the values of all judged topics; a plugin may change the judgments it gets."""
        judged = {topic: dict(grades) for topic, grades in scored.judged.items()}
        values = self.compute(judged, scored.results)
        return {topic: values[topic] for topic in scored.judged}


@dataclass(frozen=True)
class OwnMeasure(Measure):
    """A measure that ir-measures lacks; its one parameter is a cutoff.

    Attributes:
        compute: the value of a topic.
        cutoff: the number of ranks that count; None: all.
        alias: what ir-measures calls it, without a cutoff.
    """

    compute: Callable[..., float]
    cutoff: int | None = None
    alias: str = ""


class Graded(OwnMeasure):
    """A measure of graded relevance.

    `compute` has the grades of the ranked documents, best rank first, 0 for unjudged ones; those of
    all judged documents; and the cutoff.
    """

    def values(self, scored: Scored) -> PerTopic:
        """Compute the values of all judged topics; 0 for topics without results."""
        values = {}
        for topic, grades in scored.judged.items():
            ranking = scored.results.rankings.get(topic)
            doc_ids = ranking.doc_ids if ranking is not None else ()
            cutoff = self.cutoff or max(len(doc_ids), len(grades))
            ranked = [grades.get(doc_id, 0) for doc_id in doc_ids[:cutoff]]
            values[topic] = self.compute(ranked, list(grades.values()), cutoff)
        return values


@dataclass(frozen=True)
class Inferred(OwnMeasure):
    """A measure of sampled judgments. `compute` has the pool, document ids and the cutoff."""

    is_sampled: ClassVar[bool] = True
    compute: Callable[[Pool, Sequence[str], int], float]
    cutoff: int = DEPTH

    def values(self, scored: Scored) -> PerTopic:
        """Compute the values of topics with results and judged documents."""
        return {
            topic: self.compute(scored.sampled[topic], ranking.doc_ids, self.cutoff)
            for topic in topics_of(scored.sampled)
            if (ranking := scored.run.rankings.get(topic)) is not None and len(ranking)
        }


@dataclass(frozen=True)
class OfHits:
    """A way to compute a measure of ir-measures for all topics at once.

    Attributes:
        compute: the values of all topics, from the hits, the least relevant grade, and the cutoff.
        cutoffs: whether it may be computed with a cutoff, and without.
    """

    compute: Callable[[Hits, int, float], Values]
    cutoffs: tuple[bool, ...] = (True, False)

    def suits(self, measure: IrMeasure, _trec_eval: int) -> bool:
        """Return whether a measure is computed so with its parameters."""
        params = measure.params
        return (
            ("cutoff" in params) in self.cutoffs
            and params.keys() <= {"cutoff", "rel"}
            and params.get("rel", 1) >= 1
        )

    def values(self, measure: IrMeasure, scored: Scored) -> PerTopic:
        """Compute the values of all judged topics."""
        params, hits = measure.params, scored.hits
        values = self.compute(hits, params.get("rel", 1), params.get("cutoff", math.inf))
        return dict(zip(hits.topics, values.tolist(), strict=True))


@dataclass(frozen=True)
class OfRanking:
    """A way to compute a measure of ir-measures, topic by topic.

    Attributes:
        compute: the value of a topic, from the measure with its parameters, the grades, and the
            results, best first.
        since: the first release of trec_eval with these values.
    """

    compute: Callable[[IrMeasure, Mapping[str, float], Sequence[str]], float]
    since: int = 0

    def suits(self, _measure: IrMeasure, trec_eval: int) -> bool:
        """Return whether a measure is computed so with its parameters."""
        return trec_eval >= self.since

    def values(self, measure: IrMeasure, scored: Scored) -> PerTopic:
        """Compute the values of all judged topics."""
        rankings = scored.results.rankings
        return {
            topic: self.compute(measure, grades, ranking.doc_ids)
            if (ranking := rankings.get(topic)) is not None and len(ranking)
            else float(measure.DEFAULT)
            for topic, grades in scored.whole_grades.items()
        }


@dataclass(frozen=True)
class Standard(Measure):
    """A measure of ir-measures, computed here or by a package behind it.

    Attributes:
        way: how it is computed here; None leaves it to the packages.
        ir_measure: the measure with its parameters.
        uses_grades: whether grades change the value, if it has no parameter `rel`.
        takes: the values that parameters may have, of those that ir-measures takes.
        of_subtopics, has_bounds, only_rises: see `Measure`.
    """

    way: OfHits | OfRanking | None = None
    ir_measure: IrMeasure = None
    uses_grades: bool = True
    takes: Limits = field(default_factory=dict)
    of_subtopics: bool = False
    has_bounds: bool = True
    only_rises: bool = False

    def with_parameters(self, measure: IrMeasure) -> Standard:
        """Return the measure with its parameters."""
        return replace(self, ir_measure=measure)

    def is_computed_here(self, trec_eval: int = CURRENT) -> bool:
        """Return whether no package is needed."""
        return self.way is not None and self.way.suits(self.ir_measure, trec_eval)

    def values(self, scored: Scored) -> PerTopic:
        """Compute the values of all judged topics, without a package."""
        assert self.way is not None
        return self.way.values(self.ir_measure, scored)

    def value_without_results(self, grades: Mapping[str, float]) -> float:
        """Return the value of a topic without results, from its grades."""
        del grades
        return float(self.ir_measure.DEFAULT)

    def mean(self, values: PerTopic) -> float:
        """Average the values; add up those of a count."""
        aggregator = self.ir_measure.aggregator()
        # By id, as trec_eval adds: a mean between two printed digits falls to one by the sum's
        # order.
        for topic in sorted(values):
            aggregator.add(values[topic])
        return float(aggregator.result())

    def takes_whole(self) -> bool:
        """Return whether the measure uses the grade itself and takes whole grades only."""
        return self.uses_grades and "rel" not in self.ir_measure.SUPPORTED_PARAMS
