"""How fast rerankers are on this machine: milliseconds from ids of documents to scores.

Measured as Mohan et al. do (WWW 2018, section 5.3.2): 500 documents of a query, transfers included,
the model loaded. One model is timed, not the members of a run; features are computed anew each
time. A network's cost does not depend on its weights. Trees and learned features do, and are
trained on a few topics if need be.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from irplatform.collection_resources import CollectionResources
from irplatform.data import LabelledTopic, TrainingData
from irplatform.errors import InputError, PlatformError
from irplatform.experiment.systems import choose_systems, refuse_large_downloads, with_expansion_of
from irplatform.features.calculator import forget_features
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.registry.loading import registry
from irplatform.reranking.scoring import checked_scores
from irplatform.retrieval.first_stage import FirstStage
from irplatform.spelling import option
from irplatform.system.arithmetic import choose_device, settings_kept
from irplatform.system.console import notice, progress
from irplatform.training.checkpoints import cached_checkpoints, member_folder
from irplatform.workers.distribution import available_cores, within_cores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.plugin.rerankers import Reranker
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.candidates import Candidates

CHECKPOINT, UNTRAINED, BRIEFLY, NONE = "checkpoint", "untrained", "briefly trained", "none"
_RETRIEVERS = ("bm25",)
_BRIEF_TOPICS = 10
"""Topics that a model learns from where its untrained form cannot score."""


@dataclass(frozen=True)
class Timing:
    """How long a reranker takes on a device: milliseconds of each measurement, or the problem.

    The weights are "checkpoint" (of the cache), "untrained", "briefly trained", or "none".
    """

    name: str
    device: str
    weights: str = NONE
    milliseconds: Sequence[float] = ()
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """An entry in the JSON object of `platform bench rerankers`."""
        measured = self.milliseconds
        return {
            "reranker": self.name,
            "device": self.device,
            "weights": self.weights,
            "median_ms": round(median(measured), 3) if measured else None,
            "quickest_ms": round(min(measured), 3) if measured else None,
            "slowest_ms": round(max(measured), 3) if measured else None,
            "measurements": len(measured),
            "problem": self.problem or None,
        }


@settings_kept()
def time_rerankers(
    collection: str,
    rerankers: Sequence[str],
    *,
    documents: int,
    topics: int,
    rounds: int,
    devices: Sequence[str],
    model_threads: int,
    settings: Mapping[str, object],
    preset: str | None,
) -> list[Timing]:
    """Measure how long rerankers take for the documents of a topic, on each device.

    `documents` is their number per topic, `rounds` the measurements of each topic. No names mean
    all rerankers; no devices mean the CPU, and a GPU if there is one. For `settings` and `preset`
    see `choose_systems`. A reranker that cannot be timed has a reason in its place.

    Raises:
        InputError: a wrong name, option or device, or too few documents.
    """
    plugins = registry()
    source = plugins.collection(collection)
    options = with_expansion_of(source, plugins, _RETRIEVERS, settings)
    names = rerankers or sorted(plugins.rerankers)
    retrievers, choices = choose_systems(plugins, _RETRIEVERS, names, options, preset)
    refuse_large_downloads(source, collection)
    threads = within_cores("model_threads", model_threads)
    targets = list(dict.fromkeys(choose_device(d, threads) for d in devices or ("cpu", "auto")))
    resources = CollectionResources(
        source.corpus, targets[0], seed=42, threads=available_cores(), model_threads=threads
    )
    first_stage = FirstStage(choices=retrievers, depth=documents, rerank_depth=documents)
    candidates = first_stage.candidates(source, resources)
    topic_pools = pools(candidates, topics, documents)
    judgments = source.qrels
    timings = []
    with progress("timing rerankers", len(choices) * len(targets)) as advance:
        for choice in choices:
            for device in targets:
                on_device = replace(resources, device=device)
                timings.append(time_reranker(choice, topic_pools, rounds, on_device, judgments))
                advance(1)
    return timings


def pools(candidates: Candidates, topics: int, documents: int) -> list[tuple[Topic, list[str]]]:
    """Return the topics with the most candidates, with exactly `documents` ids each.

    A topic's own candidates come first, then those of other topics. InputError if all topics
    together have fewer.
    """
    all_ids = dict.fromkeys(d for ids in candidates.per_topic.values() for d in ids)
    if len(all_ids) < documents:
        raise InputError(
            f"the topics have {len(all_ids):,} different candidates, not {documents:,}; "
            f"ask for fewer with {option('documents')}."
        )
    by_size = sorted(candidates.topics, key=lambda t: -len(candidates.per_topic[t.id]))
    return [
        (topic, list(dict.fromkeys([*candidates.per_topic[topic.id], *all_ids]))[:documents])
        for topic in by_size[:topics]
    ]


def time_reranker(
    choice: ChosenReranker,
    topic_pools: Sequence[tuple[Topic, Sequence[str]]],
    rounds: int,
    resources: CollectionResources,
    judgments: Mapping[str, Mapping[str, float]],
) -> Timing:
    """Time a reranker on the device of the resources; it may have to train on the judgments."""
    milliseconds = []
    try:
        member, weights = ready(choice, topic_pools, resources, judgments)
        for topic, doc_ids in topic_pools:
            for turn in range(rounds + 1):
                documents = resources.documents(doc_ids)
                forget_features()
                with choice.registration.plugin_call(f"scoring topic {topic.id}"):
                    started = time.perf_counter()
                    scores = member.score(topic, documents)
                    seconds = time.perf_counter() - started
                checked_scores(choice.registration.full_title, topic, documents, scores)
                if turn:  # the first one warms up
                    milliseconds.append(seconds * 1000)
    except PlatformError as error:
        return Timing(choice.name, resources.device, problem=str(error))
    return Timing(choice.name, resources.device, weights, milliseconds)


def ready(
    choice: ChosenReranker,
    topic_pools: Sequence[tuple[Topic, Sequence[str]]],
    resources: CollectionResources,
    judgments: Mapping[str, Mapping[str, float]],
) -> tuple[Reranker, str]:
    """Return a reranker that can score, and its weights; see `time_reranker`."""
    member = choice.create(resources)
    if not isinstance(member, TrainableReranker):
        return member, NONE
    for folder in _checkpoints(choice, resources):
        with choice.registration.plugin_call("loading a checkpoint"):
            member.load(folder)
        return member, CHECKPOINT
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with choice.registration.plugin_call("scoring untrained"):
                member.save(Path(scratch))  # what has no weights yet fails here, and learns below
                member.load(Path(scratch))
                member.score(topic_pools[0][0], resources.documents(topic_pools[0][1][:2]))
        except Exception:  # any that a model raises that has not learned
            notice(f"{choice.name} cannot score untrained: training it on a few topics")
        else:
            return member, UNTRAINED
    member = choice.create(resources)
    assert isinstance(member, TrainableReranker)
    labelled = [_labelled(topic, ids, judgments.get(topic.id, {})) for topic, ids in topic_pools]
    half = max(1, min(_BRIEF_TOPICS, len(labelled)) // 2)
    with tempfile.TemporaryDirectory() as workspace, choice.registration.plugin_call("learning"):
        member.fit(TrainingData(labelled[:half], labelled[half : 2 * half], Path(workspace)))
    return member, BRIEFLY


def _labelled(
    topic: Topic, doc_ids: Sequence[str], judgments: Mapping[str, float]
) -> LabelledTopic:
    """A topic to learn from; if no document is relevant, the first one counts as relevant."""
    grades = {d: grade for d, grade in judgments.items() if d in doc_ids}
    if not any(grade > 0 for grade in grades.values()):
        grades[doc_ids[0]] = 1
    falling = tuple(float(-place) for place in range(len(doc_ids)))
    return LabelledTopic(topic, tuple(doc_ids), grades, falling)


def _checkpoints(choice: ChosenReranker, resources: CollectionResources) -> Iterator[Path]:
    """The first members of the reranker's checkpoints in the cache, on these documents."""
    expected = choice.describe()
    for checkpoint in cached_checkpoints():
        description = checkpoint.description
        depends_on = description.get("depends_on", {})
        if (
            all(description.get(key) == value for key, value in expected.items())
            and depends_on.get("corpus") == resources.corpus.fingerprint
            and depends_on.get("vectors") == resources.source.describe()
        ):
            yield member_folder(checkpoint.folder, 0)
