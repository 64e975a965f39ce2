"""Scores of candidates, kept in the cache: who asks for the same ones again does not wait."""

from __future__ import annotations

import zipfile
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform import __version__
from irplatform.cache import artifact, kept_json
from irplatform.errors import InputError
from irplatform.registry import our_digest
from irplatform.reranking.scoring import Values, final_scores
from irplatform.resources import Noted
from irplatform.storage import fingerprint, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Topic
    from irplatform.reranking.systems import System
    from irplatform.resources import CollectionResources

_FORMAT = 2
_SCORES = "scores.npz"
_NOTED = "noted.json"
_FINISHED = "finished.jsonl"
"""Scores of finished topics, from which an interrupted call goes on."""


def kept_scores(
    system: System,
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: CollectionResources,
) -> dict[str, Values]:
    """Score the candidates of topics, or take their scores from the cache.

    Args:
        system: what scores.
        topics: the topics.
        candidates: topic id to the ids of its candidates.
        resources: the harness's resources.

    Returns:
        Topic id to float64 scores, in the order of the candidates.
    """

    def build(folder: Path) -> None:
        finished, told = folder / _FINISHED, folder / _NOTED
        with resources.noting() as noted:
            if told.exists():  # when an interrupted call scored the topics that are finished
                resources.recall(_read(told))
            try:
                made = system.choice.registration, system.members
                scores = final_scores(*made, topics, candidates, resources, finished)
            finally:
                write_json(told, asdict(noted))
        np.savez(folder / _SCORES, *(scores[topic.id] for topic in topics))
        finished.unlink(missing_ok=True)

    depends_on = _dependencies(system, topics, candidates, resources)
    cached = artifact("scores", system.choice.name, depends_on, build, resumable=resources.resume)
    if not cached.built:
        resources.recall(_read(cached.path / _NOTED))
    try:
        with np.load(cached.path / _SCORES, allow_pickle=False) as arrays:
            return {topic.id: arrays[f"arr_{number}"] for number, topic in enumerate(topics)}
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            "these scores cannot be read. Delete their folder, and they are computed again.",
            path=cached.path,
        ) from error


def _read(noted: Path) -> Noted:
    return Noted(**kept_json(noted))


def _dependencies(
    system: System,
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: CollectionResources,
) -> dict[str, Any]:
    ranked = [[*topic.describe(), candidates[topic.id]] for topic in topics]
    return {
        "format": _FORMAT,
        "irplatform": __version__,
        # Training takes hours, so that a version's checkpoints outlast a commit. Scores are cheap.
        "code": our_digest(),
        "system": system.fingerprint,
        "corpus": resources.corpus.fingerprint,
        "candidates": fingerprint({"ranked": ranked}),
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
