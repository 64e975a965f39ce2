"""The recorder of a run: it writes and scores runs as they come, and reports on all of them."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.comparison.compare import compare
from irplatform.comparison.tests import CORRECTION, TEST, compare_with
from irplatform.evaluation.judgments import Judgments, sampled_of
from irplatform.evaluation.known_values import KnownValues, judgments_digest
from irplatform.evaluation.scoring import Evaluation, evaluate, mean_evaluation
from irplatform.evaluation.topics import (
    cut_at,
    without_documents,
    without_judgments,
    without_relevant,
    without_results,
)
from irplatform.experiment.calls import (
    describe_data,
    method_of_reranking,
    method_of_retrieval,
)
from irplatform.files.code_digests import our_digest
from irplatform.files.writing import write_json
from irplatform.lucene.java import lucene_version
from irplatform.reports.comparison import ComparisonReport
from irplatform.reports.run_report import RunReport
from irplatform.reports.system_result import SystemResult
from irplatform.retrieval.lookup import without_match
from irplatform.run_folder.environment import accelerator_name
from irplatform.run_folder.folder import FolderScores, RunFolder, SystemScores, write_scores
from irplatform.run_folder.listed import REPORT
from irplatform.run_folder.metadata_files import run_metadata
from irplatform.run_folder.metadata_model import NOTHING, Data, Marks, Method
from irplatform.run_folder.mixture import mixture_of
from irplatform.runs import Run, read_run
from irplatform.runs.names import alone_name
from irplatform.system.console import notice, section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.comparison.tests import Difference
    from irplatform.data import Collection, Qrels
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.reranking.results import RerankedRun
    from irplatform.retrieval.candidates import Candidates
    from irplatform.run_folder.folder import WrittenRun
    from irplatform.run_folder.metadata_model import RunMetadata

RERANKING = 4
"""Share of a run's progress bar of each reranker; a chapter before reranking has a third of 1."""
_COMPARED = {"name": TEST, "correction method": CORRECTION}
"""How rerankers are compared with the first stage, in ir_metadata's words."""
_PHASES = {"index": 0.0, "retrieve": 0.0, "train": 0.0, "rerank": 0.0}
"""The phases whose seconds every run has."""
_EVALUATE = "evaluate"
"""The phase that a run's own metadata lack: they are written before it."""


class Recorder:
    """Writes and scores runs as they come: those of the first stage, then those of rerankers.

    Without judgments nothing has a score. Without a tag, the last column of a run is its name.
    `data` has the name of the collection, and fingerprints of its parts.
    """

    expects_judgments = True

    def __init__(
        self,
        collection: Collection,
        qrels: Qrels | None,
        measures: Sequence[str],
        extra_measures: Mapping[str, MeasureFunction],
        run_dir: Path,
        tag: str | None,
        command: str,
        call: Mapping[str, Any] | None = None,
        facts: RunMetadata | None = None,
        compress: bool = False,
    ) -> None:
        self._collection = collection
        self._qrels = qrels
        self._sampled = sampled_of(collection)
        self._measures = measures
        self._extra_measures = extra_measures
        self._tag = tag
        self._command = command
        self._call = call
        self._folder = RunFolder(run_dir, compress=compress)
        self.data = describe_data(collection, qrels)
        self._judgments = judgments_digest(qrels or {}, self.data.get("sampled qrels"))
        self._facts = facts or NOTHING
        self._systems: list[SystemResult] = []
        self._evaluations: dict[str, Evaluation] = {}
        self._warnings: list[str] = []
        self._lengths: dict[str, Mapping[str, int]] = {}
        self._missing: tuple[str, ...] = ()
        self._timed: Mapping[str, float] = {}

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the run files so far, in the order in which they were written."""
        return self._folder.run_names

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
        """Write and score the retrievers' runs."""
        timed, runs = self._seconds(resources), candidates.retrieved
        # The index was built before the first retriever searched.
        shared = {s: t for s, t in timed.items() if not any(s in r.seconds for r in runs)}
        for retrieved in runs:
            seconds = _PHASES | shared | {**retrieved.seconds}
            facts, artifacts = [retrieved.description], retrieved.artifacts
            identity = candidates.identity_of(retrieved.fingerprint)
            run = candidates.cut(retrieved.run)
            self._add(run, identity, facts, candidates, artifacts, seconds, resources)
            shared = {}

    def add_fused(self, candidates: Candidates, resources: CollectionResources) -> None:
        """Write and score the run that rerankers start from, if it is fused."""
        if len(candidates.retrieved) > 1:
            self._seconds(resources)
            run, facts = candidates.cut(candidates.first), candidates.describe()
            identity, artifacts = candidates.identity_of(run.name), candidates.artifacts
            self._add(run, identity, facts, candidates, artifacts, {**_PHASES}, resources)

    @section(RERANKING)
    def add_reranked(
        self, name: str, candidates: Candidates, attempts: Iterable[RerankedRun]
    ) -> None:
        """Write and score a reranker's runs, with and without the first stage's scores.

        Each attempt is written before the next one is asked for. Of several, one per seed, all runs
        carry their seed's number.
        """
        seeds: list[SystemResult] = []
        final: list[Evaluation] = []
        alone: list[Evaluation] = []
        for reranked in attempts:
            seconds = _PHASES | self._seconds(reranked.resources)
            method, resources = method_of_reranking(candidates, reranked), reranked.resources
            write = partial(self._write, candidates, resources.artifacts, seconds, resources)
            by_itself = method.having(interpolation=0.0, shares=[])
            written_alone = write(reranked.alone, by_itself, reranked.identity_of("alone"))
            final_file = write(reranked.final, method, reranked.identity_of("final"))
            final.append(self._score(final_file, seconds))
            alone.append(self._score(written_alone, seconds))
            seeds.append(
                SystemResult(
                    name=name,
                    path=final_file.path,
                    measures=final[-1].aggregate,
                    per_topic=final[-1].per_topic,
                    seconds=seconds,
                    interpolation=reranked.weight,
                    mixture=mixture_of(method),
                    measures_alone=alone[-1].aggregate,
                    warnings=reranked.warnings,
                    results=final_file.results,
                    seed=resources.seed,
                )
            )
        means = mean_evaluation(final), mean_evaluation(alone)
        self._evaluations |= dict(zip((name, alone_name(name)), means, strict=True))
        several = len(seeds) > 1
        self._systems.append(SystemResult.over_seeds(seeds, *means) if several else seeds[0])

    def report(self, candidates: Candidates) -> RunReport:
        """Return all runs so far of these candidates, compared, and write them as JSON.

        Rerankers are compared with the first stage. Without any, retrievers and their fusion are
        compared with the first retriever.
        """
        if warning := self._folder.warning_of_replaced():
            notice(warning)
            self.warn(warning)
        baseline = first_stage = candidates.first.name
        rerankers = [system.name for system in self._systems if system.interpolation is not None]
        names = [n for name in rerankers for n in (name, alone_name(name))]
        if not rerankers:
            baseline, *names = [system.name for system in self._systems]
        compared: Mapping[str, Mapping[str, Difference]] = {}
        scores = {}
        if names and self._qrels is not None:
            scores = {name: self._evaluations[name] for name in (baseline, *names)}
            compared = compare_with(scores[baseline], {name: scores[name] for name in names})
        measures = list(self._systems[0].measures) or self._measures
        scored = measures if self._qrels is not None else []
        report = RunReport(
            collection=self._collection.id,
            note=self._collection.note,
            measures=measures,
            systems=self._systems,
            baseline=baseline,
            comparisons=compared,
            candidates=candidates.provenance,
            warnings=[*self._warnings, *(w for system in self._systems for w in system.warnings)],
            cut_short=cut_at(scored, candidates.depth, candidates.most if rerankers else None),
            comparing=partial(self._compare, scores, measures) if scores else None,
            first_stage=first_stage,
            ceiling=self._ceiling(candidates) if scored else {},
            part=self._facts.data.topics_chosen.content(),
        )
        more = {"command": self._command, "files": self._folder.files}
        write_json(self._folder.path / REPORT, {**report.as_json(), **more})
        per_system = {
            name: SystemScores(evaluation.aggregate, evaluation.per_topic)
            for name, evaluation in self._evaluations.items()
        }
        write_scores(FolderScores(self._collection.id, measures, per_system), self._folder.path)
        self._folder.tell_of_others(first_stage, candidates.fingerprint)
        return report

    def _ceiling(self, candidates: Candidates) -> dict[str, float]:
        """The scores of a perfect reranking; none by shares of judged documents."""
        measures = [name for name in self._measures if not name.startswith("Judged")]
        run, identity = candidates.best_reranking(), candidates.identity_of("ceiling")
        known_values = KnownValues(identity, self._judgments, self._lengths[candidates.first.name])
        return dict(self._evaluate(run, measures, known_values).aggregate)

    def _compare(
        self,
        scores: Mapping[str, Evaluation],
        measures: Sequence[str],
        *,
        alone: bool = False,
        **options: Any,
    ) -> ComparisonReport:
        """Compare runs by their scores; the first is the baseline unless an option names another.

        A reranker's own scores are left out if its final run has the same. Means over seeds have no
        ranking of their own, hence no bounds.
        """
        alone_scores = {
            alone_name(name): evaluation.per_topic for name, evaluation in scores.items()
        }
        scores = {
            n: evaluation
            for n, evaluation in scores.items()
            if alone_scores.get(n) != evaluation.per_topic
        }
        seeded = any(system.seeds for system in self._systems)
        if not alone:
            names = {system.name for system in self._systems}
            scores = {name: evaluation for name, evaluation in scores.items() if name in names}
        runs = {
            name: Run(name, {}) if seeded else read_run(self._folder.file(name)) for name in scores
        }
        compared = compare(
            Judgments(self._qrels or {}, self._sampled, measures),
            runs,
            topics=self._collection.topics,
            extra=self._extra_measures,
            evaluations=scores,
            collection=self._collection.title,
            note=self._collection.note,
            bounds=not seeded,
            mixtures={system.name: system.mixture for system in self._systems},
            alone={
                n: evaluation for n in runs if (evaluation := self._evaluations.get(alone_name(n)))
            },
            **options,
        )
        return ComparisonReport.of(compared)

    def _seconds(self, resources: CollectionResources) -> dict[str, float]:
        """Seconds per phase since the runs before."""
        seconds = resources.stopwatch.since(self._timed)
        self._timed = dict(resources.stopwatch.seconds)
        return seconds

    def _add(
        self,
        run: Run,
        identity: str,
        facts: Sequence[Mapping[str, Any]],
        candidates: Candidates,
        artifacts: Mapping[str, str],
        seconds: dict[str, float],
        resources: CollectionResources,
    ) -> None:
        """Write and score a run of the first stage, with the facts of its retrievers."""
        self.warn(*(str(of_retriever.get("warning", "")) for of_retriever in facts))
        method = method_of_retrieval(facts)
        run_file = self._write(candidates, artifacts, seconds, resources, run, method, identity)
        self._lengths[run.name] = run_file.lengths
        evaluation = self._score(run_file, seconds)
        indexed = resources if "index" in artifacts else None
        self.warn(self._notice_topics(run, evaluation, indexed))
        self._evaluations[run.name] = evaluation
        self._systems.append(
            SystemResult(
                name=run.name,
                path=run_file.path,
                measures=evaluation.aggregate,
                per_topic=evaluation.per_topic,
                seconds=seconds,
                mixture=mixture_of(method),
                remark=str(facts[0].get("remark", "")) if len(facts) == 1 else "",
                results=run_file.results,
            )
        )

    def _write(
        self,
        candidates: Candidates,
        artifacts: Mapping[str, str],
        seconds: Mapping[str, float],
        resources: CollectionResources,
        run: Run,
        method: Method,
        identity: str,
    ) -> WrittenRun:
        """Write a run file and its metadata."""
        baseline = method.retrieval[-1].reranks
        content = run_metadata(
            tag=self._tag or run.name,
            command=self._command,
            data=Data(test_collection=Marks.model_validate(self.data)).having(
                **self._facts.data.content(), artifacts={**artifacts}
            ),
            method=method.having(
                **self._facts.method.content(),
                candidates={**candidates.provenance.facts},
                warnings=[*self._warnings, *method.warnings],
            ),
            timings=seconds,
            measures=self._measures,
            baseline=baseline,
            significance=[_COMPARED] if baseline is not None and self._qrels is not None else (),
            call=self._call,
            code=our_digest(),
            java=resources.java_version,
            lucene=lucene_version(),
            accelerator=accelerator_name(resources.device),
        )
        return self._folder.write(run, content, identity)

    def _score(self, run_file: WrittenRun, seconds: dict[str, float]) -> Evaluation:
        """Score a run, and add to the seconds what this takes."""
        if self._qrels is None:
            seconds.setdefault(_EVALUATE, 0.0)
            return Evaluation({}, {}, lengths=run_file.lengths)
        started = time.monotonic()
        known_values = KnownValues(run_file.sha256, self._judgments, run_file.lengths)
        evaluation = self._evaluate(run_file.run, self._measures, known_values)
        seconds[_EVALUATE] = seconds.get(_EVALUATE, 0.0) + time.monotonic() - started
        return evaluation

    def _evaluate(self, run: Run, measures: Sequence[str], known_values: KnownValues) -> Evaluation:
        extra, sampled, qrels = self._extra_measures, self._sampled, self._qrels or {}
        return evaluate(qrels, run, measures, extra=extra, sampled=sampled, known=known_values)

    def _notice_topics(
        self, run: Run, evaluation: Evaluation, indexed: CollectionResources | None
    ) -> str:
        """Name topics of a first stage's run that count otherwise; return a warning of all runs."""
        warning = ""
        if evaluation.missing not in ((), self._missing):  # the same as of the runs before
            warning = f"{run.name}: {without_results(evaluation, self._collection)}"
            queries = [t.query for t in self._collection.topics if t.id in evaluation.missing]
            warning += without_match(queries, indexed) if indexed and queries else ""
            notice(warning)
        if not self._evaluations:
            if self._qrels is None and self.expects_judgments:
                notice(f"{self._collection.id} has no judgments: runs are written and not scored")
            for remark in without_judgments(evaluation):
                notice(f"{run.name}: {remark}")
            if remark := without_relevant(evaluation):
                notice(remark)
        self._missing = evaluation.missing
        if remark := without_documents(evaluation):
            notice(f"{run.name} {remark}")
        return warning
