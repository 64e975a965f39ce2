"""What the command line calls and a notebook imports: `run`, `train`, `evaluate_runs`, `search`.

`run` reads as the story of a run: choose, retrieve, rerank, write, score.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform import pipeline
from irplatform.choices import choose_systems
from irplatform.collections import Collection
from irplatform.devices import choose_device
from irplatform.errors import InputError, unknown
from irplatform.evaluation import Evaluation, evaluate, parse_measures, read_qrels
from irplatform.plugin import RunEvent, Topic
from irplatform.registry import Registry, registry
from irplatform.reranking.fitting import train as train_system
from irplatform.reranking.systems import read_description
from irplatform.resources import CollectionResources, VectorSource
from irplatform.results import Recorder, RunReport
from irplatform.runs import read_run
from irplatform.storage import copy_folder, writable_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
        settings: options of retrievers and rerankers, see `choose_systems`.
        train_on: a collection to train on, instead of the collection's own partner.
        checkpoint: a trained reranker to use, instead of training.
        interpolate: the first stage's share in the final scores; None chooses it.
        vectors: a file of published word vectors.
        vectors_text: text files to train word vectors on, beside the documents.
        device: "auto", "cpu", "cuda" or "mps".
        seed: of everything random.
        threads: for indexing, searching and tokenizing; None takes all cores.
        model_threads: of torch on the CPU. Part of what a checkpoint depends on: with another
            number of threads sums round differently, and training gives other weights.
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
    model_threads: int = 1
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
    retrievers, rerankers = choose_systems(
        plugins, settings.retrievers, settings.rerankers, settings.settings
    )
    collection = plugins.collection(settings.collection)
    train_on = plugins.collection(settings.train_on) if settings.train_on else None
    measures = list(parse_measures(settings.measures or collection.measures, plugins.measures))
    rerankers = pipeline.apply_checkpoint(settings.checkpoint, rerankers)
    qrels = collection.load_qrels() if collection.load_qrels else None
    learns = bool(rerankers) and settings.checkpoint is None
    training = pipeline.find_training(collection, train_on) if learns else None
    folds = learns and not training and pipeline.check_teacher(collection, rerankers, qrels)
    resources = _resources(settings, collection)
    run_dir = writable_folder(settings.run_dir or Path("runs") / collection.id)
    recorder = Recorder(
        collection, qrels, measures, plugins.measures, run_dir, settings.tag, settings.command
    )
    names = [*settings.retrievers, *settings.rerankers]
    plugins.announce("run_started", RunEvent(collection.id, tuple(names), run_dir))

    pipeline.refuse_broken_corpus(collection, qrels, resources)
    indexed = dict(resources.seconds)
    candidates = pipeline.search(
        collection, retrievers, settings.depth, settings.rerank_depth, resources
    )
    first = candidates.first
    for retriever, found, seconds in zip(retrievers, first.runs, first.seconds, strict=True):
        recorder.add(found, [retriever.describe()], resources, {**indexed, **seconds})
        indexed = {}
    if len(retrievers) > 1:
        recorder.add(first.final, [c.describe() for c in retrievers], resources, {})

    lessons = None
    if training is not None:
        lessons = pipeline.learn_from(
            training, retrievers, settings.depth, settings.rerank_depth, resources
        )
    teacher = pipeline.Teacher(lessons, settings.checkpoint, folds)
    baseline = first.final.name
    for choice in rerankers:
        made = pipeline.rerank(choice, candidates, qrels, teacher, settings.interpolate, resources)
        recorder.add_reranked(made, [c.describe() for c in retrievers], baseline, resources)

    report = recorder.report(baseline, [choice.name for choice in rerankers])
    results = {system.name: system.measures for system in report.systems}
    plugins.announce("run_finished", RunEvent(collection.id, tuple(names), run_dir, results))
    return report


def train(settings: RunSettings, out: Path | None = None) -> dict[str, Any]:
    """Train a reranker on the topics of a collection.

    Args:
        settings: `collection` is what it learns from; `rerankers` names one.
        out: a folder to copy the checkpoint to; it must not exist.

    Returns:
        The checkpoint's description and its `path`.

    Raises:
        InputError: a wrong name, option or file, or a collection without judgments.
    """
    plugins = registry()
    retrievers, (choice,) = choose_systems(
        plugins, settings.retrievers, settings.rerankers, settings.settings
    )
    if not choice.trainable:
        raise InputError(f"'{choice.name}' does not learn: it needs no training.")
    if out is not None:
        if out.exists():
            raise InputError(
                "this exists already; choose another folder for the checkpoint.", path=out
            )
        writable_folder(out)
    collection = plugins.collection(settings.collection)
    if collection.load_qrels is None:
        raise InputError(f"'{collection.id}' has no judgments to train on.")
    resources = _resources(settings, collection)
    lessons = pipeline.learn_from(
        collection, retrievers, settings.depth, settings.rerank_depth, resources
    )
    built = train_system(choice, lessons, resources)
    if out is not None:
        copy_folder(built.path, out)
    path = out or built.path
    return {"path": str(path), **read_description(path, choice)}


def evaluate_runs(
    paths: Sequence[Path],
    *,
    collection: str | None = None,
    qrels: Path | None = None,
    measures: Sequence[str] = (),
) -> dict[str, Evaluation]:
    """Score run files.

    Args:
        paths: TREC runs.
        collection: whose judgments and measures to use.
        qrels: a file of judgments, instead of or beside a collection.
        measures: names; empty takes the collection's, or the usual ones.

    Returns:
        Path to evaluation.

    Raises:
        InputError: a bad name or file, or no judgments.
    """
    if (collection is None) == (qrels is None):
        raise InputError("give either --collection or --qrels.")
    plugins = registry()
    names: Sequence[str] = Collection.measures
    if collection is not None:
        held = plugins.collection(collection)
        names = held.measures
        if held.load_qrels is None:
            raise InputError(f"'{held.id}' has no judgments.")
        judgments = held.load_qrels()
    elif qrels is not None:
        judgments = read_qrels(qrels)
    parsed = list(parse_measures(measures or names, plugins.measures))
    return {
        str(path): evaluate(judgments, read_run(path), parsed, extra=plugins.measures)
        for path in paths
    }


def search(
    collection: str,
    *,
    retriever: str = "bm25",
    query: str | None = None,
    topic: str | None = None,
    depth: int = 10,
    settings: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Search a collection for some words, or for one of its topics.

    Returns:
        `topic`, `query` and `hits`: rank, score, id, title and grade (None: not judged).

    Raises:
        InputError: a wrong name, or neither or both of `query` and `topic`.
    """
    if (query is None) == (topic is None):
        raise InputError("give either --query or --topic.")
    if depth < 1:
        raise InputError("depth must be at least 1.")
    plugins = registry()
    (choice,), _ = choose_systems(plugins, (retriever,), (), settings or {})
    held = plugins.collection(collection)
    if topic is None:
        asked = Topic("query", query or "")
    else:
        topics = {t.id: t for t in held.load_topics()}
        if topic not in topics:
            raise unknown(f"topic of '{held.id}'", topic, topics)
        asked = topics[topic]
    grades = held.load_qrels().get(asked.id, {}) if topic and held.load_qrels else {}
    resources = _resources(RunSettings(collection), held)
    run = choice.registration.create(choice.options.model_dump()).retrieve(
        [asked], depth, resources
    )
    ranking = run.rankings[asked.id].top(depth)
    documents = resources.documents(ranking.doc_ids)
    hits = [
        {
            "rank": rank,
            "score": score,
            "id": doc_id,
            "title": document.title,
            "grade": grades.get(doc_id),
        }
        for rank, ((doc_id, score), document) in enumerate(
            zip(ranking, documents, strict=True), start=1
        )
    ]
    return {"topic": asked.id, "query": asked.query, "hits": hits}


def index(collection: str, *, threads: int | None = None) -> dict[str, Any]:
    """Build a collection's Lucene index, if it is not there.

    Returns:
        Where it is, its fingerprint, whether it was built now and in how many seconds, and
        Lucene's statistics.
    """
    held = registry().collection(collection)
    resources = _resources(RunSettings(collection, threads=threads), held)
    built = resources.index_artifact()
    return {
        "path": str(built.path),
        "fingerprint": built.fingerprint,
        "built now": built.built,
        "seconds": round(built.seconds, 1),
        **resources.index().stats(),
    }


def _resources(settings: RunSettings, collection: Collection) -> CollectionResources:
    return CollectionResources(
        corpus=collection.corpus,
        device=choose_device(settings.device, settings.model_threads)
        if settings.rerankers
        else "cpu",
        seed=settings.seed,
        threads=settings.threads or os.cpu_count() or 1,
        source=VectorSource(settings.vectors, tuple(settings.vectors_text)),
        resume=settings.resume,
        model_threads=settings.model_threads,
    )
