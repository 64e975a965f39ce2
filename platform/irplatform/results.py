"""What a run leaves behind: run files with metadata, scores, and the table.

A run file appears together with its metadata as soon as it is ranked, so that a later failure loses
nothing that was finished.
"""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.console import notice
from irplatform.evaluation import Comparison, Evaluation, MeasureFunction, compare, evaluate
from irplatform.reports.table import ResultRow, mark, print_table
from irplatform.runs import Run, write_run
from irplatform.runs.metadata import metadata_path, run_metadata, write_metadata
from irplatform.storage import atomic_write, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.collections import Collection, Qrels
    from irplatform.pipeline import RerankedRun
    from irplatform.resources import CollectionResources


@dataclass(frozen=True)
class SystemResult:
    """One run, written and scored.

    Attributes:
        name: the system.
        path: its run file.
        measures: measure name to mean; empty where the collection has no judgments.
        per_topic: measure name to topic id to value.
        seconds: per stage.
        interpolation: the first stage's share in a reranker's final run.
        measures_alone: what the reranker's own scores give.
    """

    name: str
    path: Path
    measures: Mapping[str, float]
    per_topic: Mapping[str, Mapping[str, float]]
    seconds: Mapping[str, float]
    interpolation: float | None = None
    measures_alone: Mapping[str, float] | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry of `platform run --json`."""
        entry: dict[str, Any] = {
            "name": self.name,
            "path": str(self.path),
            "measures": dict(self.measures),
            "seconds": {stage: round(spent, 3) for stage, spent in self.seconds.items()},
        }
        if self.interpolation is not None:
            entry["interpolation"] = self.interpolation
            entry["measures_alone"] = dict(self.measures_alone or {})
        return entry


@dataclass(frozen=True)
class RunReport:
    """All runs of a command.

    Attributes:
        collection: the collection's id.
        note: what a reader of the scores must know.
        measures: names, in the order of the table.
        systems: the retrievers, their fusion, the rerankers.
        baseline: the first stage that rerankers start from and are tested against.
        comparisons: reranker (and "NAME alone") to measure to comparison with the baseline.
    """

    collection: str
    note: str
    measures: Sequence[str]
    systems: Sequence[SystemResult]
    baseline: str
    comparisons: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """What `platform run --json` prints."""
        return {
            "collection": self.collection,
            "runs": [system.as_json() for system in self.systems],
        }

    def print_table(self) -> None:
        """Print the table that ends a run."""
        rows = []
        for system in self.systems:
            share = system.interpolation
            name = system.name if share is None else f"{system.name} (first stage × {share:.2f})"
            spent = sum(system.seconds.values())
            rows.append(
                ResultRow(name, system.measures, self._marks(system.name), 0, seconds=spent)
            )
            if system.measures_alone is not None:
                marks = self._marks(alone(system.name))
                rows.append(ResultRow("alone", system.measures_alone, marks, 1))
        print_table(rows, self.measures, note=self.note, baseline=self.baseline)

    def _marks(self, name: str) -> dict[str, int]:
        return {measure: mark(c) for measure, c in self.comparisons.get(name, {}).items()}


def alone(name: str) -> str:
    """The name of a reranker's own scores, without the first stage's."""
    return f"{name}-alone"


class Recorder:
    """Writes and scores runs as they come.

    Args:
        collection: what was searched.
        qrels: its judgments, if it has any.
        measures: what to report.
        extra_measures: measures of plugins.
        run_dir: where run files go.
        tag: their last column, or None for each run's name.
        command: how this was asked for.
    """

    def __init__(
        self,
        collection: Collection,
        qrels: Qrels | None,
        measures: Sequence[str],
        extra_measures: Mapping[str, MeasureFunction],
        run_dir: Path,
        tag: str | None,
        command: Sequence[str],
    ) -> None:
        self._collection = collection
        self._qrels = qrels
        self._measures = measures
        self._extra = extra_measures
        self._run_dir = run_dir
        self._tag = tag
        self._command = command
        self._evaluations: dict[str, Evaluation] = {}
        self._systems: list[SystemResult] = []
        self._data = self._describe_data()
        self._told: Mapping[str, float] = {}

    def add(
        self,
        run: Run,
        retrieval: Sequence[Mapping[str, Any]],
        resources: CollectionResources,
        seconds: Mapping[str, float],
    ) -> None:
        """Write and score a run of the first stage.

        Args:
            run: the run.
            retrieval: the retrievers, as they describe themselves.
            resources: what it was made with.
            seconds: per stage, what it took.
        """
        started = time.monotonic()
        evaluation = self._evaluate(run)
        seconds = _stages(seconds, time.monotonic() - started)
        self._told = dict(resources.seconds)
        if empty := [topic for topic, ranking in run.rankings.items() if not len(ranking)]:
            shown = ", ".join(empty[:10]) + (", …" if len(empty) > 10 else "")
            notice(f"{run.name} finds nothing for {len(empty):,} topics: {shown}")
        path = self._write(run, {"retrieval": list(retrieval)}, seconds, resources, None)
        self._keep(
            SystemResult(run.name, path, evaluation.aggregate, evaluation.per_topic, seconds),
            evaluation,
        )

    def add_reranked(
        self,
        made: RerankedRun,
        retrieval: Sequence[Mapping[str, Any]],
        baseline: str,
        resources: CollectionResources,
    ) -> None:
        """Write and score a reranker's run, with and without the first stage's scores.

        Args:
            made: the two runs.
            retrieval: the retrievers, as they describe themselves.
            baseline: the name of the first stage's run.
            resources: what they were made with.
        """
        started = time.monotonic()
        evaluation, own = self._evaluate(made.final), self._evaluate(made.alone)
        seconds = _stages(resources.seconds_since(self._told), time.monotonic() - started)
        self._told = dict(resources.seconds)
        method = {
            "retrieval": [*retrieval, {**made.systems[0].choice.describe(), "reranks": baseline}],
            "seed": resources.seed,
            "device": resources.device,
            "model_threads": resources.model_threads,
            "training": [dict(system.description) for system in made.systems],
            "weights": [system.fingerprint for system in made.systems],
        }
        self._write(made.alone, {**method, "interpolation": 0.0}, seconds, resources, baseline)
        method["interpolation"] = made.weight
        path = self._write(made.final, method, seconds, resources, baseline)
        self._keep(
            SystemResult(
                made.final.name,
                path,
                evaluation.aggregate,
                evaluation.per_topic,
                seconds,
                made.weight,
                own.aggregate,
            ),
            evaluation,
        )
        self._evaluations[made.alone.name] = own

    def _keep(self, result: SystemResult, evaluation: Evaluation) -> None:
        self._systems.append(result)
        self._evaluations[result.name] = evaluation

    def _write(
        self,
        run: Run,
        method: Mapping[str, Any],
        seconds: Mapping[str, float],
        resources: CollectionResources,
        baseline: str | None,
    ) -> Path:
        """Write a run file and its metadata."""
        path = self._run_dir / f"{run.name}.run"
        write_run(run.renamed(self._tag or run.name), path)
        content = run_metadata(
            tag=self._tag or run.name,
            command=self._command,
            data={**self._data, "artifacts": dict(resources.artifacts)},
            method=method,
            timings=seconds,
            measures=self._measures,
            baseline=baseline,
            java=resources.java_version,
        )
        write_metadata(metadata_path(path), content)
        return path

    def _evaluate(self, run: Run) -> Evaluation:
        if self._qrels is None:
            return Evaluation({}, {})
        return evaluate(self._qrels, run, self._measures, extra=self._extra)

    def _describe_data(self) -> dict[str, Any]:
        topics = [[t.id, t.query, dict(t.fields)] for t in self._collection.load_topics()]
        judged = {q: dict(grades) for q, grades in (self._qrels or {}).items()}
        return {
            "test collection": {
                "name": self._collection.id,
                "documents": self._collection.corpus.fingerprint,
                "topics": fingerprint({"topics": topics}),
                "qrels": fingerprint(judged) if judged else None,
            }
        }

    def report(self, baseline: str, rerankers: Sequence[str]) -> RunReport:
        """All runs so far, with the rerankers compared to the baseline; also written as JSON."""
        compared = {
            name: self._evaluations[name]
            for reranker in rerankers
            for name in (reranker, alone(reranker))
        }
        comparisons = {}
        if compared and self._qrels is not None:
            comparisons = compare(self._evaluations[baseline], compared)
        report = RunReport(
            self._collection.id,
            self._collection.note,
            list(self._systems[0].measures) or self._measures,
            self._systems,
            baseline,
            comparisons,
        )
        with atomic_write(self._run_dir / "report.json") as file:
            json.dump({**report.as_json(), "command": shlex.join(self._command)}, file, indent=1)
            file.write("\n")
        return report


def _stages(spent: Mapping[str, float], evaluating: float) -> dict[str, float]:
    """Seconds per stage, with the stages that every run is asked about, 0 where they took none."""
    usual = dict.fromkeys(("index", "retrieve", "train", "rerank"), 0.0)
    return {**usual, **spent, "evaluate": evaluating}
