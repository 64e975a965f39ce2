"""Writes the runs of a command as they come, scores them, and reports on all of them."""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any

from irplatform.errors import counted, listing
from irplatform.evaluation.measures import MeasureFunction, beyond
from irplatform.evaluation.sampled import read_sampled_qrels
from irplatform.evaluation.scoring import Evaluation, evaluate, mean_evaluation
from irplatform.evaluation.significance import CORRECTION, TEST, compare
from irplatform.evaluation.topics import without_judgments, without_relevant, without_results
from irplatform.lucene.java import lucene_version
from irplatform.reports.run_report import RunReport, SeedResult, SystemResult
from irplatform.runs.folder import (
    FIRST_STAGE,
    REPORT,
    RunFolder,
    Scores,
    SystemScores,
    write_scores,
)
from irplatform.runs.metadata import accelerator_name, run_metadata
from irplatform.runs.names import alone_name
from irplatform.system.console import notice
from irplatform.system.digests import file_digest, fingerprint
from irplatform.system.progress import added
from irplatform.system.writing import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Qrels
    from irplatform.evaluation.significance import Comparison
    from irplatform.reranking.rerank import RerankedRun
    from irplatform.retrieval.candidates import Candidates
    from irplatform.runs import Run

_COMPARED = {"name": TEST, "correction method": CORRECTION}
"""How rerankers are compared with the first stage, in ir_metadata's words."""
_STAGES = ("index", "retrieve", "train", "rerank")
"""The stages whose seconds every run has, 0 where they took none."""
_EVALUATE = "evaluate"
"""The stage that a run's own metadata do not have: they are written before it."""
_SHOWN = 10
"""How many topics a notice names."""


class Recorder:
    """Writes and scores runs as they come: those of the first stage, then those of rerankers.

    Args:
        collection: what was searched.
        qrels: its judgments, if it has any.
        measures: what to report.
        extra_measures: measures of plugins.
        run_dir: where run files go.
        tag: their last column, or None for each run's name.
        command: how this was asked for.
    """

    _candidates: Candidates

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
        self._data = _describe_data(collection, qrels)
        self._systems: list[SystemResult] = []
        self._rerankers: list[str] = []
        self._warnings: list[str] = []
        self._timed: Mapping[str, float] = {}

    @property
    def data(self) -> Mapping[str, Any]:
        """The name of the collection, and fingerprints of its parts."""
        data: Mapping[str, Any] = self._data["test collection"]
        return data

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the run files so far, in the order in which they were written."""
        return self._folder.written

    @property
    def results(self) -> dict[str, dict[str, float]]:
        """The means of the measures, by the systems' names."""
        return {system.name: dict(system.measures) for system in self._systems}

    def plan(self, runs: Mapping[str, Mapping[str, Any]], *, force: bool = False) -> None:
        """Say which runs will be written; see `RunFolder.plan`."""
        self._folder.plan(runs, force=force)

    def warn(self, *warnings: str) -> None:
        """Add warnings to all runs that are written from now on; an empty one is ignored."""
        for warning in warnings:
            if warning and warning not in self._warnings:
                self._warnings.append(warning)

    def add_retrieved(self, candidates: Candidates, resources: CollectionResources) -> None:
        """Write and score the retrievers' runs.

        Args:
            candidates: what they found.
            resources: what they searched with.
        """
        self._candidates = candidates
        timed, retrievals = self._seconds(resources), candidates.first.retrievals
        # The index was built before the first retriever searched.
        shared = {s: t for s, t in timed.items() if not any(s in r.seconds for r in retrievals)}
        for each in retrievals:
            seconds = {**shared, **each.seconds}
            self._add(each.run, [each.description], each.artifacts, seconds, resources)
            shared = {}

    def add_fused(self, candidates: Candidates, resources: CollectionResources) -> None:
        """Take the candidates that rerankers are given; write and score their run if it is fused.

        Args:
            candidates: those of `add_retrieved`, fused as the training topics ask for.
            resources: what was searched with.
        """
        self._candidates, first = candidates, candidates.first
        if len(first.retrievals) > 1:
            self._seconds(resources)
            self._add(first.cut(first.final), first.describe(), first.used, {}, resources)

    def add_reranked(self, name: str, attempts: Iterable[RerankedRun]) -> None:
        """Write and score a reranker's runs, with and without the first stage's scores.

        Args:
            name: the reranker.
            attempts: its runs for each seed; they are written before the next ones are asked for.
                Of several, all runs carry their seed's number.
        """
        self._rerankers.append(name)
        seeds: list[SeedResult] = []
        final: list[Evaluation] = []
        alone: list[Evaluation] = []
        seconds: dict[str, float] = {}
        warnings: dict[str, None] = {}
        results: Sequence[int] = ()
        for reranked in attempts:
            warnings |= dict.fromkeys(reranked.warnings)
            seed_seconds = _all_stages(self._seconds(reranked.resources))
            path = self._write_reranked(reranked, seed_seconds)
            for run, evaluations in ((reranked.final, final), (reranked.alone, alone)):
                evaluation, evaluation_seconds = self._scores.score(run)
                evaluations.append(evaluation)
                seed_seconds = added(seed_seconds, {_EVALUATE: evaluation_seconds})
            seconds = added(seconds, seed_seconds)
            results = results or _lengths(reranked.final)
            measures, alone_measures = final[-1].aggregate, alone[-1].aggregate
            seed = reranked.resources.seed
            seeds.append(SeedResult(seed, path, reranked.weight, measures, alone_measures))
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

    def report(self) -> RunReport:
        """All runs so far, compared with a baseline; also written as JSON.

        Rerankers are compared with the first stage; without any, retrievers and their fusion with
        the first retriever.
        """
        if warning := self._folder.warning_of_replaced():
            notice(warning)
            self.warn(warning)
        candidates, first = self._candidates, self._candidates.first
        baseline = first.final.name
        names = [n for name in self._rerankers for n in (name, alone_name(name))]
        if not self._rerankers:
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
            candidates=candidates.provenance,
            warnings=[*self._warnings, *(w for system in self._systems for w in system.warnings)],
            cut_short=_cut_short(scored, first.depth, candidates.most if self._rerankers else None),
        )
        with atomic_write(self._folder.path / REPORT) as file:
            json.dump({**report.as_json(), "command": shlex.join(self._command)}, file, indent=1)
            file.write("\n")
        self._scores.write(report.measures, self._folder.path)
        self._folder.tell_of_others(first.final.name, first.fingerprint)
        return report

    def _seconds(self, resources: CollectionResources) -> dict[str, float]:
        """Seconds per stage since the runs before."""
        seconds = resources.stopwatch.since(self._timed)
        self._timed = dict(resources.stopwatch.seconds)
        return seconds

    def _add(
        self,
        run: Run,
        retrieval: Sequence[Mapping[str, Any]],
        artifacts: Mapping[str, str],
        seconds: Mapping[str, float],
        resources: CollectionResources,
    ) -> None:
        """Write and score a run of the first stage.

        Args:
            run: the run.
            retrieval: the retrievers, as they describe themselves.
            artifacts: fingerprints of what it was made with.
            seconds: per stage, what it took.
            resources: what it was made with.
        """
        self.warn(*(str(description.get("warning", "")) for description in retrieval))
        seconds = _all_stages(seconds)
        method = {"retrieval": list(retrieval)}
        path = self._write(run, method, artifacts, seconds, resources, None)
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

    def _write_reranked(self, reranked: RerankedRun, seconds: Mapping[str, float]) -> Path:
        """Write both runs of a reranker, the final one last."""
        first, resources = self._candidates.first, reranked.resources
        baseline, artifacts = first.final.name, resources.artifacts
        choice = reranked.systems[0].choice
        system = {**choice.describe(), "reranks": baseline}
        if choice.name != choice.registration.name:
            system = {"label": choice.name, **system}
        method = {
            "retrieval": [*first.describe(), system],
            "seed": resources.seed,
            "device": resources.device,
            "model_threads": resources.model_threads,
            "training": [dict(system.description) for system in reranked.systems],
            "weights": [system.fingerprint for system in reranked.systems],
            FIRST_STAGE: first.fingerprint,
            "warnings": list(reranked.warnings),
        }
        alone, final = ({**method, "interpolation": w} for w in (0.0, reranked.weight))
        self._write(reranked.alone, alone, artifacts, seconds, resources, baseline)
        return self._write(reranked.final, final, artifacts, seconds, resources, baseline)

    def _write(
        self,
        run: Run,
        method: Mapping[str, Any],
        artifacts: Mapping[str, str],
        seconds: Mapping[str, float],
        resources: CollectionResources,
        baseline: str | None,
    ) -> Path:
        """Write a run file and its metadata."""
        content = run_metadata(
            tag=self._tag or run.name,
            command=self._command,
            data={**self._data, "artifacts": dict(artifacts)},
            method={
                **method,
                "candidates": dict(self._candidates.provenance.facts),
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

    def _keep(self, result: SystemResult, evaluation: Evaluation) -> None:
        self._systems.append(result)
        self._scores.keep(result.name, evaluation)


class Scoreboard:
    """Scores runs with a collection's judgments, and keeps the scores by name.

    Args:
        collection: what was searched.
        qrels: its judgments, if it has any; without them nothing has a score.
        measures: what to report.
        extra: measures of plugins.
    """

    def __init__(
        self,
        collection: Collection,
        qrels: Qrels | None,
        measures: Sequence[str],
        extra: Mapping[str, MeasureFunction],
    ) -> None:
        self._collection = collection
        self._qrels = qrels
        sampled = collection.sampled_qrels
        self._sampled = read_sampled_qrels(sampled) if sampled is not None else None
        self._measures = measures
        self._extra = extra
        self._evaluations: dict[str, Evaluation] = {}
        self._missing: tuple[str, ...] = ()

    def score(self, run: Run) -> tuple[Evaluation, float]:
        """Score a run, which is not kept yet; and the seconds that it took."""
        if self._qrels is None:
            return Evaluation({}, {}), 0.0
        started = time.monotonic()
        evaluation = evaluate(
            self._qrels, run, self._measures, extra=self._extra, sampled=self._sampled
        )
        return evaluation, time.monotonic() - started

    def keep(self, name: str, evaluation: Evaluation) -> None:
        """Keep scores under a name, to be compared and written."""
        self._evaluations[name] = evaluation

    def compared(
        self, baseline: str, names: Sequence[str]
    ) -> Mapping[str, Mapping[str, Comparison]]:
        """Kept scores against a baseline's; empty where nothing has a score."""
        if not names or self._qrels is None:
            return {}
        return compare(
            self._evaluations[baseline], {name: self._evaluations[name] for name in names}
        )

    def tell_of_topics(self, run: Run, evaluation: Evaluation) -> str:
        """Name the topics of a first stage's run that do not count as all others do.

        Returns:
            What a reader of all runs from now on must know; "" is nothing.
        """
        topic_ids = {topic.id for topic in self._collection.topics}
        missing = evaluation.missing
        warning = ""
        if missing and missing != self._missing:  # the same as of the runs before
            warning = f"{run.name}: {without_results(evaluation)}"
            if strange := [topic for topic in missing if topic not in topic_ids]:
                warning += (
                    f"; judged, but no topics of '{self._collection.id}': "
                    f"{listing(strange, _SHOWN)}"
                )
            notice(warning)
        if not self._evaluations:
            if self._qrels is None:
                notice(f"{self._collection.id} has no judgments: runs are written and not scored")
            for remark in without_judgments(evaluation):
                notice(f"{run.name}: {remark}")
            if remark := without_relevant(evaluation):
                notice(remark)
        self._missing = missing
        rankings = run.rankings.items()
        if empty := [
            topic for topic, ranking in rankings if not len(ranking) and topic not in missing
        ]:
            topics = counted(len(empty), "topic")
            notice(f"{run.name} finds nothing for {topics}: {listing(empty, _SHOWN)}")
        return warning

    def write(self, measures: Sequence[str], folder: Path) -> None:
        """Write all kept scores, topic by topic."""
        systems = {
            name: SystemScores(evaluation.aggregate, evaluation.per_topic)
            for name, evaluation in self._evaluations.items()
        }
        write_scores(Scores(self._collection.id, measures, systems), folder)


def _describe_data(collection: Collection, qrels: Qrels | None) -> dict[str, Any]:
    """The name of the collection and fingerprints of its parts, for metadata."""
    topics = [topic.describe() for topic in collection.topics]
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


def _cut_short(measures: Sequence[str], depth: int | None, reranked: int | None) -> list[str]:
    """Lines about measures that look deeper than runs, or rerankers, go."""
    lines = []
    if depth is not None and (deeper := beyond(measures, depth)):
        lines.append(f"{listing(deeper)}: no run has more than {depth:,} documents per topic")
    if reranked is not None and (deeper := beyond(measures, reranked)):
        lines.append(
            f"{listing(deeper)}: no more than {counted(reranked, 'document')} per topic were "
            "reranked; the others follow in the first stage's order"
        )
    return lines


def _lengths(run: Run) -> list[int]:
    """How many documents a run has per topic, but for topics without any."""
    return [len(ranking) for ranking in run.rankings.values() if len(ranking)]


def _all_stages(seconds: Mapping[str, float]) -> dict[str, float]:
    return {**dict.fromkeys(_STAGES, 0.0), **seconds}
