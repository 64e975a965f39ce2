"""The scores of a reranker: in batches, halved when memory runs out, and kept in the cache."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.collection_resources import UsageLog
from irplatform.data import Documents, Topic
from irplatform.errors import InputError, PlatformError, PluginError, counted, lacks_memory
from irplatform.files.cache import artifact, kept_json
from irplatform.files.code_digests import our_digest
from irplatform.files.costs import Work
from irplatform.files.digests import fingerprint
from irplatform.files.journals import append_journal, is_kept, keep, read_journal
from irplatform.files.writing import as_json
from irplatform.plugin.rerankers import Reranker
from irplatform.registry.plugin_answers import numbers
from irplatform.reranking.sending import sent_system
from irplatform.spelling import option
from irplatform.system.console import LAST, progress, section, sections
from irplatform.version import __version__
from irplatform.workers.distribution import batched_by_size, cluster, ordered_map, takes_gpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.plugin.resources import Resources
    from irplatform.registry.registration import Registration
    from irplatform.reranking.sending import Block
    from irplatform.reranking.systems import FittedReranker

    Elsewhere = Callable[[Sequence[Block]], Iterator[list["Values"]]]
    """Returns the scores of blocks of topics."""


Batch = Sequence[tuple[Topic, Documents]]
Values = npt.NDArray[np.float64]

BATCH_DOCUMENTS = 2000
"""Documents that are scored in one call; a topic is never split without need."""
_LARGEST = float(np.finfo(np.float32).max)
"""Runs hold scores as 32-bit floats; squares of larger ones are beyond 64 bits, too."""


def score_topics(
    registration: Registration[Reranker],
    members: Sequence[Reranker],
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: Resources,
    journal: Path | None = None,
    elsewhere: Elsewhere | None = None,
) -> dict[str, Values]:
    """Score the candidates of topics; the scores of several members are averaged.

    Returns topic id to float64 scores, in the order of the candidates. `journal` is a file of
    finished topics, from which an interrupted call goes on. `elsewhere` scores blocks of topics in
    workers. PluginError for a wrong number of scores, or one that is not finite.
    """
    finished_before = read_journal(
        journal, lambda line: (line["topic"], np.array(line["scores"], dtype=np.float64))
    )
    by_topic = {t: v for t, v in finished_before if v.shape == (len(candidates.get(t, ())),)}
    by_topic |= {t.id: np.empty(0) for t in topics if not candidates[t.id]}
    open_topics = [topic for topic in topics if topic.id not in by_topic]
    requests = ((topic, candidates[topic.id]) for topic in open_topics)
    blocks = [*batched_by_size(requests, lambda pair: len(pair[1]), BATCH_DOCUMENTS)]

    def keep(block: Block, scores: list[Values]) -> None:
        finished = dict(zip((topic.id for topic, _ in block), scores, strict=True))
        append_journal(journal, ({"topic": t, "scores": v.tolist()} for t, v in finished.items()))
        by_topic.update(finished)

    label = f"reranking with {registration.name}"
    with progress(label, len(open_topics), "topics", part=LAST) as advance:
        if elsewhere is not None and (len(blocks) > 1 or cluster()):
            for block, scores in zip(blocks, elsewhere(blocks), strict=True):
                keep(block, scores)
                advance(len(block))
            blocks = []
        for block in blocks:
            with section(len(block)):
                batch = [(topic, resources.documents(doc_ids)) for topic, doc_ids in block]
                keep(block, mean_scores(registration, members, batch))
    return {topic.id: by_topic[topic.id] for topic in topics}


def mean_scores(
    registration: Registration[Reranker], members: Sequence[Reranker], batch: Batch
) -> list[Values]:
    """Return the mean of several members' scores, for each topic."""
    per_member = [_scores(registration, member, batch) for member in members]
    return [np.mean(values, axis=0) for values in zip(*per_member, strict=True)]


def rescore_topics(
    registration: Registration[Reranker],
    reranker: Reranker,
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    scores: Mapping[str, Values],
    resources: Resources,
) -> dict[str, Values]:
    """Return scores that depend on the other candidates, from those of `score_topics`.

    `reranker` is one member of the system. It is not asked about topics without candidates. The
    other arguments and errors are those of `score_topics`.
    """
    changed = dict(scores)
    reranked = [topic for topic in topics if candidates[topic.id]]
    requests = ((topic, resources.documents(candidates[topic.id])) for topic in reranked)
    with progress(f"reranking with {registration.name}", len(reranked), "topics", part=LAST):
        for batch in batched_by_size(requests, lambda pair: len(pair[1]), BATCH_DOCUMENTS):
            questions = [(copy(topic), read, scores[topic.id].tolist()) for topic, read in batch]
            doing = f"comparing the candidates of topics {_names(batch)}"
            with section(len(batch)), registration.plugin_call(doing):
                answer = reranker.rescore_batch(questions)
                returned = _per_topic(registration.full_title, answer, len(batch), "rescore_batch")
            for (topic, documents), values in zip(batch, returned, strict=True):
                changed[topic.id] = checked_scores(
                    registration.full_title, topic, documents, values
                )
    return changed


def final_scores(
    registration: Registration[Reranker],
    members: Sequence[Reranker],
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: Resources,
    journal: Path | None = None,
    elsewhere: Elsewhere | None = None,
) -> dict[str, Values]:
    """Return the scores that topics are ranked by: `score_topics`, then `Reranker.rescore`."""
    score = partial(
        score_topics, registration, members, topics, candidates, resources, journal, elsewhere
    )
    kind = type(members[0])
    if (kind.rescore, kind.rescore_batch) == (Reranker.rescore, Reranker.rescore_batch):
        return score()
    scoring = 1 - LAST if registration.traits(members[0].options).listwise else LAST
    with sections(1):
        with section(scoring):
            scores = score()
        with section(1 - scoring):
            return rescore_topics(registration, members[0], topics, candidates, scores, resources)


def _scores(registration: Registration[Reranker], reranker: Reranker, batch: Batch) -> list[Values]:
    with registration.plugin_call(f"scoring topics {_names(batch)}"):
        scores = _within_memory(registration, reranker, batch)
    return [
        checked_scores(registration.full_title, topic, documents, returned)
        for (topic, documents), returned in zip(batch, scores, strict=True)
    ]


def _names(batch: Batch) -> str:
    return ", ".join(topic.id for topic, _ in batch[:3]) + (", …" if len(batch) > 3 else "")


def checked_scores(label: str, topic: Topic, documents: Documents, returned: object) -> Values:
    """Return a reranker's answer for a topic, as one finite number per document.

    Raises:
        PluginError: the answer is something else.
    """
    values: Values = numbers(label, topic.id, returned, np.float64)
    if values.ndim != 1:
        kind = f"numbers of shape {values.shape}" if values.ndim else _kind(returned)
        raise PluginError(
            f"{label} returned {kind} for topic {topic.id}; a number for each of its "
            f"{len(documents)} documents is needed."
        )
    if len(values) != len(documents):
        raise PluginError(
            f"{label} returned {counted(values.size, 'score')} for the "
            f"{counted(len(documents), 'document')} of topic {topic.id}."
        )
    in_range = np.abs(values) <= _LARGEST  # false for nan, too
    if not in_range.all():
        at = int(np.flatnonzero(~in_range)[0])
        raise PluginError(
            f"{label} gave document {documents.ids[at]} of topic {topic.id} the score "
            f"{values[at]}; scores must be finite, as 32-bit floats."
        )
    return values


def _kind(answer: object) -> str:
    return "None" if answer is None else f"one {type(answer).__name__}"


def _within_memory(
    registration: Registration[Reranker], reranker: Reranker, batch: Batch
) -> list[Sequence[float]]:
    """Score a batch; when memory runs out, score its halves."""
    own_batch = [(copy(topic), documents) for topic, documents in batch]  # it may change them
    try:
        return _per_topic(registration.full_title, reranker.score_batch(own_batch), len(batch))
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        shortage = error.with_traceback(None)  # which would hold on to what was in memory
    _free_device_memory()
    if len(batch) > 1:
        middle = len(batch) // 2
        first = _within_memory(registration, reranker, batch[:middle])
        return first + _within_memory(registration, reranker, batch[middle:])
    topic, documents = batch[0]
    if len(documents) < 2:
        if isinstance(shortage, PlatformError):  # which says who needs it
            raise shortage
        raise PlatformError(
            f"not enough memory to score one document with '{registration.name}'. "
            f"Try smaller options, or {option('device', 'cpu')} if this was a GPU."
        )
    middle = len(documents) // 2
    halves = [documents.part(slice(None, middle)), documents.part(slice(middle, None))]
    scores = [_within_memory(registration, reranker, [(topic, half)])[0] for half in halves]
    return [np.concatenate([np.asarray(of_half) for of_half in scores]).tolist()]


def _per_topic(
    label: str, answer: object, topics: int, method: str = "score_batch"
) -> list[Sequence[float]]:
    """The answer of a method, as a list with an entry for every topic."""
    # A generator would run outside of all guards.
    if isinstance(answer, Mapping) or not hasattr(answer, "__getitem__"):
        raise PluginError(
            f"{label} returned {_kind(answer)} from {method}; a list with the scores of each "
            "topic is needed."
        )
    scores: list[Sequence[float]] = list(answer)  # type: ignore[call-overload]
    if len(scores) != topics:
        raise PluginError(f"{label} returned scores for {len(scores)} topics, not {topics}.")
    return scores


def _free_device_memory() -> None:
    import sys

    if "torch" in sys.modules:
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if torch.backends.mps.is_available():
            torch.mps.empty_cache()


_FORMAT = 2
_SCORES = "scores.npz"
_USED = "used.json"
_FINISHED = "finished.journal"
"""Scores of finished topics, from which an interrupted call goes on."""


def cached_scores(
    system: FittedReranker,
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: CollectionResources,
) -> dict[str, Values]:
    """Return `final_scores` of a system, from the cache if they are there."""
    score = partial(
        final_scores, system.choice.registration, system.members, topics, candidates, resources
    )
    if system.choice.traits.keeps_answers:
        return score(elsewhere=_elsewhere(system, resources))

    def build(folder: Path) -> None:
        finished, log = folder / _FINISHED, folder / _USED
        with resources.record() as usage:
            if is_kept(log):  # when an interrupted call scored the topics that are finished
                resources.replay(UsageLog(**kept_json(log)))
            elif log.exists():
                finished.unlink(missing_ok=True)
            try:
                scores = score(finished, _elsewhere(system, resources))
            finally:
                keep(log, as_json(asdict(usage)))
        np.savez(folder / _SCORES, *(scores[topic.id] for topic in topics))
        finished.unlink(missing_ok=True)

    ranked = [[*topic.describe(), candidates[topic.id]] for topic in topics]
    depends_on = {
        "format": _FORMAT,
        "irplatform": __version__,
        # Training takes hours, so a version's checkpoints outlast a commit. Scores are cheap.
        "code": our_digest(),
        "system": system.fingerprint,
        "corpus": resources.corpus.fingerprint,
        "candidates": fingerprint({"ranked": ranked}),
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    name = system.choice.registration.name
    documents = sum(len(candidates[topic.id]) for topic in topics)
    work = Work("rank", name, documents, system.choice.variant)
    cached = artifact("scores", name, depends_on, build, resumable=resources.resume, work=work)
    if not cached.built:
        resources.replay(UsageLog(**kept_json(cached.path / _USED)))
    try:
        with np.load(cached.path / _SCORES, allow_pickle=False) as arrays:
            return {topic.id: arrays[f"arr_{number}"] for number, topic in enumerate(topics)}
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            "these scores cannot be read. Delete their folder, and they are computed again.",
            path=cached.path,
        ) from error


def _elsewhere(system: FittedReranker, resources: CollectionResources) -> Elsewhere | None:
    """Let workers score blocks of topics, if there are several that can."""
    if (packed_system := sent_system(system, resources)) is None:
        return None

    def scores(blocks: Sequence[Block]) -> Iterator[list[Values]]:
        work, threads = partial(packed_system.score, mean_scores), resources.model_threads
        on_gpu = takes_gpu(resources.device)
        for values, usage in ordered_map(work, blocks, fewest=2, threads=threads, on_gpu=on_gpu):
            resources.replay(usage)
            yield values

    return scores
