"""The result of one system of a run: scores, what the run is made of, and the spread over seeds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from irplatform.reports.table import ResultRow
from irplatform.run_folder.mixture import Mixture
from irplatform.system.progress import added

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.evaluation.scoring import Evaluation


@dataclass(frozen=True)
class SystemResult:
    """One run, written and scored; or, for several seeds, their mean.

    Attributes:
        name: the system.
        path: its run file; for several seeds the first one's.
        measures: measure name to mean; empty if the collection has no judgments.
        per_topic: measure name to topic id to value.
        seconds: per stage, over all seeds.
        interpolation: the first stage's weight in a reranker's final run.
        mixture: what the run is made of: the same, and weights of fused retrievers.
        measures_alone: the means of the reranker's own scores.
        remark: a note for readers of the scores.
        seeds: the results of each seed, if there were several.
        warnings: warnings given during the run, such as that it learned from evaluated topics.
        results: number of documents for each topic with results.
        seed: the seed, of the result of one of several.
    """

    name: str
    path: Path
    measures: Mapping[str, float]
    per_topic: Mapping[str, Mapping[str, float]] = field(repr=False)
    seconds: Mapping[str, float]
    interpolation: float | None = None
    measures_alone: Mapping[str, float] | None = None
    remark: str = ""
    seeds: Sequence[SystemResult] = ()
    warnings: Sequence[str] = ()
    results: Sequence[int] = field(default=(), repr=False)
    seed: int | None = None
    mixture: Mixture = field(default_factory=Mixture)

    @classmethod
    def over_seeds(
        cls, seeds: Sequence[SystemResult], scores: Evaluation, alone: Evaluation
    ) -> SystemResult:
        """Return the mean of several seeds, whose mean scores are given."""
        share = fmean(result.interpolation or 0.0 for result in seeds)
        return replace(
            seeds[0],
            mixture=replace(seeds[0].mixture, share=share, shares=()),
            measures=scores.aggregate,
            per_topic=scores.per_topic,
            seconds=reduce(added, (result.seconds for result in seeds)),
            interpolation=share,
            measures_alone=alone.aggregate,
            warnings=tuple(dict.fromkeys(w for result in seeds for w in result.warnings)),
            seeds=seeds,
            seed=None,
        )

    def spread(self, *, own_scores: bool = False) -> dict[str, dict[str, float]]:
        """Return `std` (n - 1), `min` and `max` over seeds per measure; empty for one seed.

        Args:
            own_scores: of the reranker's own scores.
        """
        per_seed = [
            (result.measures_alone or {}) if own_scores else result.measures
            for result in self.seeds
        ]
        spread = {}
        for measure in per_seed[0] if per_seed else ():
            values = [measures[measure] for measures in per_seed]
            spread[measure] = {"std": stdev(values), "min": min(values), "max": max(values)}
        return spread

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the JSON object of `platform run`."""
        entry: dict[str, Any] = {
            "name": self.name,
            "path": str(self.path),
            "measures": dict(self.measures),
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
        }
        if self.interpolation is not None:
            entry["interpolation"] = self.interpolation
            entry["measures_alone"] = dict(self.measures_alone or {})
        if self.mixture.shares:
            entry["interpolations"] = [*self.mixture.shares]
        if self.ranking_of:
            entry["ranking_of"] = self.ranking_of
        if self.mixture.fused:
            entry["fused"] = dict(self.mixture.fused)
        if self.seeds:
            entry["seeds"] = [
                {
                    "seed": result.seed,
                    "path": str(result.path),
                    "measures": dict(result.measures),
                    "interpolation": result.interpolation,
                    "measures_alone": dict(result.measures_alone or {}),
                }
                for result in self.seeds
            ]
            entry["spread"] = self.spread()
            entry["spread_alone"] = self.spread(own_scores=True)
        if self.remark:
            entry["remark"] = self.remark
        return entry

    @property
    def ranking_of(self) -> str:
        """The run whose ranking it is, if it was given no weight; else ""."""
        return (self.mixture.first_stage or "the first stage") if self.interpolation == 1 else ""

    @property
    def label(self) -> str:
        """Its name in the table, with what a reranker's final run is made of."""
        details = [] if self.interpolation is None else [f"first stage × {self.interpolation:.2f}"]
        details += [f"mean of {len(self.seeds)} seeds"] if self.seeds else []
        return f"{self.name} ({', '.join(details)})" if details else self.name

    def rows(self, marks: Mapping[str, int], alone: Mapping[str, int]) -> Iterator[ResultRow]:
        """Yield its lines in the table, with the marks of its final run and of its own scores."""
        borrowed, seconds = bool(self.ranking_of), sum(self.seconds.values())
        marks = {} if borrowed else marks
        yield ResultRow(self.label, self.measures, marks, seconds=seconds, borrowed=borrowed)
        yield from _spread_rows(self.spread(), 1)
        if self.measures_alone is not None:
            yield ResultRow("alone", self.measures_alone, alone, 1)
            yield from _spread_rows(self.spread(own_scores=True), 2)


def _spread_rows(spread: Mapping[str, Mapping[str, float]], indent: int) -> Iterator[ResultRow]:
    for name in ("std", "min", "max") if spread else ():
        values = {measure: figures[name] for measure, figures in spread.items()}
        yield ResultRow(f"{name} of the seeds", values, indent=indent, aside=True)
