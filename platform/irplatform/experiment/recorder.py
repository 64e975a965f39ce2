"""Writes the runs of a command as they come, scores them, and reports on all of them."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from irplatform.errors import counted, listing
from irplatform.evaluation.measures import MeasureFunction, beyond
from irplatform.evaluation.scoring import Evaluation, mean_evaluation
from irplatform.evaluation.significance import CORRECTION, TEST
from irplatform.experiment.scoreboard import Scoreboard
from irplatform.lucene.jar import lucene_version
from irplatform.reports.run_report import RunReport, SeedResult, SystemResult
from irplatform.retrieval.candidates import Provenance
from irplatform.runs.folder import FIRST_STAGE, REPORT, RunFolder
from irplatform.runs.metadata import accelerator_name, run_metadata
from irplatform.runs.run import alone_name
from irplatform.system.console import notice
from irplatform.system.digests import file_digest, fingerprint
from irplatform.system.progress import added
from irplatform.system.writing import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Qrels
    from irplatform.reranking.rerank import RerankedRun
    from irplatform.resources import CollectionResources
    from irplatform.runs import Run


# What the metadata of a run say of the data and of how a reranker came to its scores.


def describe_data(collection: Collection, qrels: Qrels | None) -> dict[str, Any]:
    """What was searched and judged, by name and fingerprints.

    Args:
        collection: what was searched.
        qrels: its judgments, if it has any.
    """
    topics = [topic.describe() for topic in collection.load_topics()]
    judged = {q: dict(grades) for q, grades in (qrels or {}).items()}
    sampled = collection.sampled_qrels
    return {
        "test collection": {
            "name": collection.id,
            "documents": collection.corpus.fingerprint,
            "topics": fingerprint({"topics": topics}),
            "qrels": fingerprint(judged) if judged else None,
            **({"sampled qrels": file_digest(sampled)} if sampled is not None else {}),
        }
    }


def describe_reranking(
    reranked: RerankedRun,
    retrieval: Sequence[Mapping[str, Any]],
    baseline: str,
    resources: CollectionResources,
    first_stage: str,
) -> dict[str, Any]:
    """How a reranker's scores were made, but for the first stage's share in them.

    Args:
        reranked: its runs, and the systems that scored them.
        retrieval: the retrievers, as they describe themselves.
        baseline: the name of the first stage's run.
        resources: what it was made with.
        first_stage: a fingerprint of all that the first stage's run depends on.
    """
    return {
        "retrieval": [
            *retrieval,
            {**reranked.systems[0].choice.describe(), "reranks": baseline},
        ],
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
        "training": [dict(system.description) for system in reranked.systems],
        "weights": [system.fingerprint for system in reranked.systems],
        FIRST_STAGE: first_stage,
        "warnings": list(reranked.warnings),
    }


_COMPARED = {"name": TEST, "correction method": CORRECTION}
"""How rerankers are compared with the first stage, in ir_metadata's words."""
_EVALUATE = "evaluate"
"""The stage that a run's own metadata say nothing about: they are written before it."""


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
        self._measures = measures
        self._tag = tag
        self._command = command
        self._folder = RunFolder(run_dir)
        self._scores = Scoreboard(collection, qrels, measures, extra_measures)
        self._systems: list[SystemResult] = []
        self._data = describe_data(collection, qrels)
        self._recorded_seconds: Mapping[str, float] = {}
        self._warnings: list[str] = []
        self.candidates = Provenance()
        self.first_stage = ""

    @property
    def data(self) -> Mapping[str, Any]:
        """What is searched and judged, by name and fingerprints."""
        data: Mapping[str, Any] = self._data["test collection"]
        return data

    def plan(self, runs: Mapping[str, Mapping[str, Any]], *, force: bool = False) -> None:
        """Say which runs will be written; see `RunFolder.plan`."""
        self._folder.plan(runs, force=force)

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the run files so far, in the order in which they were written."""
        return self._folder.written

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
        self._recorded_seconds = dict(resources.stopwatch.seconds)
        for description in retrieval:
            self.warn(str(description.get("warning", "")))
        seconds = _stages(seconds)
        path = self._write(run, {"retrieval": list(retrieval)}, seconds, resources, None)
        evaluation, evaluation_seconds = self._scores.score(run)
        self.warn(self._scores.tell_of_topics(run, evaluation))
        self._keep(
            SystemResult(
                name=run.name,
                path=path,
                measures=evaluation.aggregate,
                per_topic=evaluation.per_topic,
                seconds={**seconds, _EVALUATE: evaluation_seconds},
                remark=str(retrieval[0].get("remark", "")) if len(retrieval) == 1 else "",
                results=_lengths(run),
            ),
            evaluation,
        )

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
        alone: list[Evaluation] = []
        seconds: dict[str, float] = {}
        warnings: dict[str, None] = {}
        results: Sequence[int] = ()
        for reranked, resources in attempts:
            warnings |= dict.fromkeys(reranked.warnings)
            stage_seconds = _stages(resources.stopwatch.since(self._recorded_seconds))
            self._recorded_seconds = dict(resources.stopwatch.seconds)
            path = self._write_reranked(reranked, retrieval, baseline, resources, stage_seconds)
            for run, evaluations in ((reranked.final, final), (reranked.alone, alone)):
                evaluation, evaluation_seconds = self._scores.score(run)
                evaluations.append(evaluation)
                stage_seconds = added(stage_seconds, {_EVALUATE: evaluation_seconds})
            seconds = added(seconds, stage_seconds)
            results = results or _lengths(reranked.final)
            measures, alone_measures = final[-1].aggregate, alone[-1].aggregate
            seeds.append(
                SeedResult(resources.seed, path, reranked.weight, measures, alone_measures)
            )
        evaluation, alone_evaluation = mean_evaluation(final), mean_evaluation(alone)
        self._keep(
            SystemResult(
                name=name,
                path=seeds[0].path,
                measures=evaluation.aggregate,
                per_topic=evaluation.per_topic,
                seconds=seconds,
                interpolation=sum(seed.interpolation for seed in seeds) / len(seeds),
                measures_alone=alone_evaluation.aggregate,
                seeds=seeds if len(seeds) > 1 else (),
                warnings=tuple(warnings),
                results=results,
            ),
            evaluation,
        )
        self._scores.keep(alone_name(name), alone_evaluation)

    def _write_reranked(
        self,
        reranked: RerankedRun,
        retrieval: Sequence[Mapping[str, Any]],
        baseline: str,
        resources: CollectionResources,
        seconds: Mapping[str, float],
    ) -> Path:
        method = describe_reranking(reranked, retrieval, baseline, resources, self.first_stage)
        self._write(reranked.alone, {**method, "interpolation": 0.0}, seconds, resources, baseline)
        final = {**method, "interpolation": reranked.weight}
        return self._write(reranked.final, final, seconds, resources, baseline)

    def _keep(self, result: SystemResult, evaluation: Evaluation) -> None:
        self._systems.append(result)
        self._scores.keep(result.name, evaluation)

    def _write(
        self,
        run: Run,
        method: Mapping[str, Any],
        seconds: Mapping[str, float],
        resources: CollectionResources,
        baseline: str | None,
    ) -> Path:
        """Write a run file and its metadata."""
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
            lucene=lucene_version(),
            accelerator=accelerator_name(resources.device),
        )
        return self._folder.write(run, content)

    def report(
        self,
        first_stage: str,
        rerankers: Sequence[str],
        depth: int | None = None,
        reranked: int | None = None,
    ) -> RunReport:
        """All runs so far, compared with a baseline; also written as JSON.

        Args:
            first_stage: the name of its final run, which rerankers are compared with.
            rerankers: names; without any, retrievers and their fusion are compared with the first
                retriever.
            depth: most documents per topic that a run may have, if there is a limit.
            reranked: most documents per topic that rerankers were given, if they were not given
                all.
        """
        if warning := self._folder.warning_of_replaced():
            notice(warning)
            self.warn(warning)
        baseline, names = first_stage, [n for name in rerankers for n in (name, alone_name(name))]
        if not rerankers:
            baseline, *names = [system.name for system in self._systems]
        measures = list(self._systems[0].measures) or self._measures
        scored = measures if self._qrels is not None else []
        report = RunReport(
            collection=self._collection.id,
            note=self._collection.note,
            measures=measures,
            systems=self._systems,
            baseline=baseline,
            comparisons=self._scores.compared(baseline, names),
            candidates=self.candidates,
            warnings=[*self._warnings, *(w for system in self._systems for w in system.warnings)],
            cut_short=_cut_short(scored, depth, reranked if rerankers else None),
        )
        with atomic_write(self._folder.path / REPORT) as file:
            json.dump({**report.as_json(), "command": shlex.join(self._command)}, file, indent=1)
            file.write("\n")
        self._scores.write(report.measures, self._folder.path)
        self._folder.tell_of_others(first_stage, self.first_stage)
        return report


def _cut_short(measures: Sequence[str], depth: int | None, reranked: int | None) -> list[str]:
    """Lines about measures that look deeper than runs, or rerankers, go."""
    told = []
    if depth is not None and (deeper := beyond(measures, depth)):
        told.append(f"{listing(deeper)}: no run has more than {depth:,} documents per topic")
    if reranked is not None and (deeper := beyond(measures, reranked)):
        told.append(
            f"{listing(deeper)}: no more than {counted(reranked, 'document')} per topic were "
            "reranked; the others follow in the first stage's order"
        )
    return told


def _lengths(run: Run) -> list[int]:
    """How many documents a run has per topic, but for topics without any."""
    return [len(ranking) for ranking in run.rankings.values() if len(ranking)]


def _stages(seconds: Mapping[str, float]) -> dict[str, float]:
    """Seconds per stage, with the stages that every run is asked about, 0 where they took none."""
    return {**dict.fromkeys(("index", "retrieve", "train", "rerank"), 0.0), **seconds}
