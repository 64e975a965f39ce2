"""What a run leaves behind: run files with metadata, scores, and the table.

A run file appears together with its metadata as soon as it is ranked and before it is scored, so
that a later failure loses nothing that was finished.
"""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any

from irplatform.console import notice
from irplatform.errors import listing
from irplatform.evaluation import (
    Evaluation,
    MeasureFunction,
    compare,
    evaluate,
    mean_evaluation,
    read_sampled_qrels,
)
from irplatform.evaluation.significance import CORRECTION, TEST
from irplatform.evaluation.topic_notices import without_judgments, without_results
from irplatform.reports.run_report import RunReport, SeedResult, SystemResult
from irplatform.retrieval.candidates import Provenance
from irplatform.runs import Run, write_run
from irplatform.runs.machine import accelerator_name
from irplatform.runs.metadata import metadata_path, read_metadata, run_metadata, write_metadata
from irplatform.runs.scores import Scores, SystemScores, alone, write_scores
from irplatform.storage import atomic_write, file_digest, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.collections import Collection, Qrels
    from irplatform.pipeline import RerankedRun
    from irplatform.resources import CollectionResources


_COMPARED = {"name": TEST, "correction method": CORRECTION}
"""How rerankers are compared with the first stage, in ir_metadata's words."""
_EVALUATE = "evaluate"
"""The stage that a run's own metadata say nothing about: they are written before it."""
_FIRST_STAGE = "first stage"
"""What metadata call the fingerprint of the run that a reranker started from."""
_SHOWN = 10
"""How many topics a notice names."""
_FILES_SHOWN = 3
"""How many files; each reranker leaves two for every seed."""


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

    Attributes:
        candidates: which documents rerankers are given, once that is known.
        first_stage: a fingerprint of all that the first stage's final run depends on, likewise.
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
        sampled = collection.sampled_qrels
        self._sampled = read_sampled_qrels(sampled) if sampled is not None else None
        self._measures = measures
        self._extra = extra_measures
        self._run_dir = run_dir
        self._tag = tag
        self._command = command
        self._evaluations: dict[str, Evaluation] = {}
        self._systems: list[SystemResult] = []
        self._missing: tuple[str, ...] = ()
        self._written: set[str] = set()
        self._data = self._describe_data()
        self._told: Mapping[str, float] = {}
        self._warnings: list[str] = []
        self.candidates = Provenance()
        self.first_stage = ""

    def warn(self, warning: str) -> None:
        """Record what a reader of all runs from now on must know, once; "" is nothing."""
        if warning and warning not in self._warnings:
            self._warnings.append(warning)

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
        self._told = dict(resources.seconds)
        for found in retrieval:
            self.warn(str(found.get("warning", "")))
        seconds = _stages(seconds)
        path = self._write(run, {"retrieval": list(retrieval)}, seconds, resources, None)
        evaluation, evaluating = self._evaluate(run)
        self._tell_of_topics(run, evaluation)
        self._keep(
            SystemResult(
                run.name,
                path,
                evaluation.aggregate,
                evaluation.per_topic,
                {**seconds, **evaluating},
                remark=str(retrieval[0].get("remark", "")) if len(retrieval) == 1 else "",
            ),
            evaluation,
        )

    def _tell_of_topics(self, run: Run, evaluation: Evaluation) -> None:
        """Name the topics that do not count as all others do, as `evaluate` does."""
        known = {topic.id for topic in self._collection.load_topics()}
        missing = evaluation.missing
        if missing and missing != self._missing:  # told of the runs before
            told = f"{run.name}: {without_results(missing, evaluation.aggregate)}"
            if strange := [topic for topic in missing if topic not in known]:
                told += (
                    f"; judged, but no topics of '{self._collection.id}': "
                    f"{listing(strange, _SHOWN)}"
                )
            notice(told)
            self.warn(told)
        if not self._systems:
            for told in without_judgments(evaluation):
                notice(f"{run.name}: {told}")
        self._missing = missing
        found = run.rankings.items()
        if empty := [topic for topic, held in found if not len(held) and topic not in missing]:
            topics = f"{len(empty):,} topic{'' if len(empty) == 1 else 's'}"
            notice(f"{run.name} finds nothing for {topics}: {listing(empty, _SHOWN)}")

    def add_reranked(
        self,
        name: str,
        attempts: Iterable[tuple[RerankedRun, CollectionResources]],
        retrieval: Sequence[Mapping[str, Any]],
        baseline: str,
    ) -> None:
        """Write and score a reranker's runs, with and without the first stage's scores.

        Args:
            name: the reranker.
            attempts: the two runs, and what they were made with, for each seed; each is written
                before the next one is asked for. Of several, all runs carry their seed's number.
            retrieval: the retrievers, as they describe themselves.
            baseline: the name of the first stage's run.
        """
        seeds: list[SeedResult] = []
        final: list[Evaluation] = []
        own: list[Evaluation] = []
        seconds: dict[str, float] = {}
        warnings: dict[str, None] = {}
        for made, resources in attempts:
            warnings |= dict.fromkeys(made.warnings)
            spent = _stages(resources.seconds_since(self._told))
            self._told = dict(resources.seconds)
            path = self._write_reranked(made, retrieval, baseline, resources, spent)
            for run, evaluations in ((made.final, final), (made.alone, own)):
                evaluation, evaluating = self._evaluate(run)
                evaluations.append(evaluation)
                spent = _sum(spent, evaluating)
            seconds = _sum(seconds, spent)
            measures, alone_measures = final[-1].aggregate, own[-1].aggregate
            seeds.append(SeedResult(resources.seed, path, made.weight, measures, alone_measures))
        evaluation, own_evaluation = mean_evaluation(final), mean_evaluation(own)
        self._keep(
            SystemResult(
                name,
                seeds[0].path,
                evaluation.aggregate,
                evaluation.per_topic,
                seconds,
                sum(seed.interpolation for seed in seeds) / len(seeds),
                own_evaluation.aggregate,
                seeds=seeds if len(seeds) > 1 else (),
                warnings=tuple(warnings),
            ),
            evaluation,
        )
        self._evaluations[alone(name)] = own_evaluation

    def _write_reranked(
        self,
        made: RerankedRun,
        retrieval: Sequence[Mapping[str, Any]],
        baseline: str,
        resources: CollectionResources,
        seconds: Mapping[str, float],
    ) -> Path:
        method = {
            "retrieval": [*retrieval, {**made.systems[0].choice.describe(), "reranks": baseline}],
            "seed": resources.seed,
            "device": resources.device,
            "model_threads": resources.model_threads,
            "training": [dict(system.description) for system in made.systems],
            "weights": [system.fingerprint for system in made.systems],
            _FIRST_STAGE: self.first_stage,
            "warnings": list(made.warnings),
        }
        self._write(made.alone, {**method, "interpolation": 0.0}, seconds, resources, baseline)
        method["interpolation"] = made.weight
        return self._write(made.final, method, seconds, resources, baseline)

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
        self._written.add(path.stem)
        content = run_metadata(
            tag=self._tag or run.name,
            command=self._command,
            data={**self._data, "artifacts": dict(resources.artifacts)},
            method={
                **method,
                "candidates": dict(self.candidates.facts),
                "warnings": [*self._warnings, *method.get("warnings", ())],
            },
            timings=seconds,
            measures=self._measures,
            baseline=baseline,
            significance=[_COMPARED] if baseline is not None and self._qrels is not None else (),
            java=resources.java_version,
            accelerator=accelerator_name(resources.device),
        )
        # In this order no run ever stands beside the metadata of another one.
        metadata_path(path).unlink(missing_ok=True)
        write_run(run.renamed(self._tag or run.name), path)
        write_metadata(metadata_path(path), content)
        return path

    def _evaluate(self, run: Run) -> tuple[Evaluation, dict[str, float]]:
        """Score a run that is written, since scoring may fail; and the seconds that it took."""
        if self._qrels is None:
            return Evaluation({}, {}), {_EVALUATE: 0.0}
        started = time.monotonic()
        scored = evaluate(
            self._qrels, run, self._measures, extra=self._extra, sampled=self._sampled
        )
        return scored, {_EVALUATE: time.monotonic() - started}

    def _describe_data(self) -> dict[str, Any]:
        topics = [topic.describe() for topic in self._collection.load_topics()]
        judged = {q: dict(grades) for q, grades in (self._qrels or {}).items()}
        sampled = self._collection.sampled_qrels
        return {
            "test collection": {
                "name": self._collection.id,
                "documents": self._collection.corpus.fingerprint,
                "topics": fingerprint({"topics": topics}),
                "qrels": fingerprint(judged) if judged else None,
                **({"sampled qrels": file_digest(sampled)} if sampled is not None else {}),
            }
        }

    def report(self, first_stage: str, rerankers: Sequence[str]) -> RunReport:
        """All runs so far, compared with a baseline; also written as JSON.

        Args:
            first_stage: the name of its final run, which rerankers are compared with.
            rerankers: names; without any, retrievers and their fusion are compared with the first
                retriever.
        """
        baseline, names = first_stage, [n for name in rerankers for n in (name, alone(name))]
        if not rerankers:
            baseline, *names = [system.name for system in self._systems]
        compared = {name: self._evaluations[name] for name in names}
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
            self.candidates,
            [*self._warnings, *(w for system in self._systems for w in system.warnings)],
        )
        with atomic_write(self._run_dir / "report.json") as file:
            json.dump({**report.as_json(), "command": shlex.join(self._command)}, file, indent=1)
            file.write("\n")
        self._write_scores(report.measures)
        self._tell_of_other_runs(first_stage)
        return report

    def _write_scores(self, measures: Sequence[str]) -> None:
        systems = {
            name: SystemScores(held.aggregate, held.per_topic)
            for name, held in self._evaluations.items()
        }
        write_scores(Scores(self._collection.id, measures, systems), self._run_dir)

    def _tell_of_other_runs(self, first_stage: str) -> None:
        """Name the run files in the folder that the report is not about; they are the user's."""
        others = sorted(p for p in self._run_dir.glob("*.run") if p.stem not in self._written)
        orphans = [path for path in others if self._is_orphan(path, first_stage)]
        if orphans:
            notice(
                f"WARNING: {first_stage}.run in {self._run_dir} has been replaced by another first "
                "stage's. Do not compare it with these runs of earlier commands, which rerank the "
                f"one that was there: {_files(orphans)}"
            )
        if rest := [path for path in others if path not in orphans]:
            notice(
                f"{self._run_dir} also holds runs of earlier commands, which the table, "
                f"report.json and scores.json are not about: {_files(rest)}"
            )

    def _is_orphan(self, path: Path, first_stage: str) -> bool:
        """Whether a run was made over a first stage that has been replaced under its name."""
        content = read_metadata(path)
        compared = content.get("research goal", {}).get("evaluation", {}).get("baseline", [])
        started_from = content.get("method", {}).get(_FIRST_STAGE, self.first_stage)
        return first_stage in compared and started_from != self.first_stage


def _files(paths: Sequence[Path]) -> str:
    """The first names, and how many more there are."""
    more = len(paths) - _FILES_SHOWN
    shown = ", ".join(path.name for path in paths[:_FILES_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _stages(spent: Mapping[str, float]) -> dict[str, float]:
    """Seconds per stage, with the stages that every run is asked about, 0 where they took none."""
    return {**dict.fromkeys(("index", "retrieve", "train", "rerank"), 0.0), **spent}


def _sum(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Seconds per stage of two spans."""
    stages = dict.fromkeys([*first, *second])
    return {stage: first.get(stage, 0.0) + second.get(stage, 0.0) for stage in stages}
