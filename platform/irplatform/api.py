"""What the command line calls and a notebook imports: `run` and `evaluate`.

`run` reads as the story of a run: choose, retrieve, rerank, write, score.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from irplatform import pipeline
from irplatform.devices import choose_device
from irplatform.errors import InputError
from irplatform.evaluation import parse_measures
from irplatform.plugin import RunEvent
from irplatform.registry import Registry, registry
from irplatform.resources import CollectionResources, VectorSource
from irplatform.results import Recorder, RunReport
from irplatform.storage import writable_folder


@dataclass(frozen=True)
class RunSettings:
    """Everything that a run can be told.

    Attributes:
        collection: a name, a path or an ir_datasets id.
        rerankers: names; none gives the first stage only.
        retrievers: names; several are fused.
        depth: documents that each retriever finds per topic.
        rerank_depth: first documents of each retriever that are reranked.
        measures: names; empty takes the collection's.
        settings: options of retrievers and rerankers, see `pipeline.choose_systems`.
        train_on: a collection to train on, instead of the collection's own partner.
        checkpoint: a trained reranker to use, instead of training.
        interpolate: the first stage's share in the final scores; None chooses it.
        vectors: a file of published word vectors.
        vectors_text: text files to train word vectors on, beside the documents.
        device: "auto", "cpu", "cuda" or "mps".
        seed: of everything random.
        threads: None takes all cores.
        run_dir: where runs are written; None is `runs/<collection>`.
        tag: the last column of run files; None is the run's name.
        resume: go on from what an interrupted run left.
        command: how the run was asked for, for its metadata.
    """

    collection: str
    rerankers: Sequence[str] = ()
    retrievers: Sequence[str] = ("bm25",)
    depth: int = 1000
    rerank_depth: int = 500
    measures: Sequence[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    train_on: str | None = None
    checkpoint: Path | None = None
    interpolate: float | None = None
    vectors: Path | None = None
    vectors_text: Sequence[Path] = ()
    device: str = "auto"
    seed: int = 42
    threads: int | None = None
    run_dir: Path | None = None
    tag: str | None = None
    resume: bool = True
    command: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("depth", "rerank_depth"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', '-')} must be at least 1.")
        if self.interpolate is not None and not 0 <= self.interpolate <= 1:
            raise InputError(f"the interpolation weight {self.interpolate} is not between 0 and 1.")
        if not self.retrievers:
            raise InputError("at least one retriever is needed.")


def run(settings: RunSettings, plugins: Registry | None = None) -> RunReport:
    """Take a collection to scored runs.

    Raises:
        InputError: a wrong name, option or file; nothing has been written then.
        PlatformError: something failed on the way; what was finished is kept, and the same call
            goes on from there.
    """
    plugins = plugins or registry()
    retrievers, rerankers = pipeline.choose_systems(
        plugins, settings.retrievers, settings.rerankers, settings.settings
    )
    collection = plugins.collection(settings.collection)
    train_on = plugins.collection(settings.train_on) if settings.train_on else None
    measures = list(parse_measures(settings.measures or collection.measures, plugins.measures))
    pipeline.check_checkpoint(settings.checkpoint, rerankers)
    qrels = collection.load_qrels() if collection.load_qrels else None
    training = pipeline.find_training(collection, train_on)
    folds = training is None and not settings.checkpoint
    folds = folds and pipeline.check_teacher(collection, rerankers, qrels)
    resources = CollectionResources(
        corpus=collection.corpus,
        device=choose_device(settings.device) if rerankers else "cpu",
        seed=settings.seed,
        threads=settings.threads or os.cpu_count() or 1,
        source=VectorSource(settings.vectors, tuple(settings.vectors_text)),
    )
    run_dir = writable_folder(settings.run_dir or Path("runs") / collection.id)
    recorder = Recorder(
        collection, qrels, measures, plugins.measures, run_dir, settings.tag, settings.command
    )
    names = [choice.name for choice in (*retrievers, *rerankers)]
    plugins.announce("run_started", RunEvent(collection.id, tuple(names), run_dir))

    candidates = pipeline.search(
        collection, retrievers, settings.depth, settings.rerank_depth, resources
    )
    # pipeline.refuse_broken_corpus(collection, qrels, resources)
    for choice, found in zip(retrievers, candidates.first.runs, strict=True):
        recorder.add(found, [choice.describe()], resources)
    if len(retrievers) > 1:
        recorder.add(candidates.first.final, [c.describe() for c in retrievers], resources)

    lessons = None
    if training is not None and rerankers and not settings.checkpoint:
        lessons = pipeline.learn_from(
            training, retrievers, settings.depth, settings.rerank_depth, resources
        )
    teacher = pipeline.Teacher(lessons, settings.checkpoint, folds)
    baseline = candidates.first.final.name
    for choice in rerankers:
        made = pipeline.rerank(choice, candidates, qrels, teacher, settings.interpolate, resources)
        recorder.add_reranked(made, [c.describe() for c in retrievers], baseline, resources)

    report = recorder.report(baseline, [choice.name for choice in rerankers])
    results = {system.name: system.measures for system in report.systems}
    plugins.announce("run_finished", RunEvent(collection.id, tuple(names), run_dir, results))
    return report
