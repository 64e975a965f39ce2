"""What retrievers think of documents: their scores and ranks over the whole collection.

Each retriever searches as deep as is asked for, independently of the candidates, so that a
document's features do not depend on the others. What it does not find gets the last score that it
gave, and a rank twice as deep as it searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from irplatform.plugin import Documents, FeatureGroup, Options, Resources, Retriever, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.runs import Ranking
    from irplatform.text.arrays import Float32


class FirstStageOptions(Options):
    """Options of the first-stage scores."""

    retrievers: tuple[str, ...] = Field(
        ("bm25", "rm3"), description="retrievers whose scores are features"
    )
    settings: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="their options, by name"
    )
    depth: int = Field(1000, gt=0, description="how many documents they find")


class FirstStage(FeatureGroup):
    """Scores and ranks of documents by several retrievers."""

    Options = FirstStageOptions
    holds_first_stage = True
    options: FirstStageOptions
    _resources: Resources
    _retrievers: dict[str, Retriever]

    def depends_on(self) -> Mapping[str, object]:
        """See that the retrievers and their options are there; what they depend on."""
        from irplatform.features.dependencies import check_systems

        options = self.options
        return check_systems(
            "retriever", options.retrievers, options.settings, among="first-stage.retrievers"
        )

    def checkpoints(self) -> Sequence[Path]:
        """Those that the retrievers search with."""
        from irplatform.features.named import named_systems

        named = named_systems("retriever", self.options.retrievers, self.options.settings)
        return named.checkpoints()

    def prepare(self, resources: Resources) -> None:
        """Make the retrievers."""
        self._resources = resources
        self._retrievers = {
            name: resources.retriever(name, self.options.settings.get(name))
            for name in self.options.retrievers
        }

    def names(self) -> tuple[str, ...]:
        """Score, share of the best score, and rank, per retriever."""
        kinds = ("score", "share", "rank")
        return tuple(f"{name}_{kind}" for name in self.options.retrievers for kind in kinds)

    def prepared_with(self) -> Mapping[str, object]:
        """Seed, device and threads of models, of retrievers whose rankings depend on them."""
        device, seed = self._resources.device, self._resources.seed
        threads = self._resources.model_threads
        retrievers = self._retrievers.items()
        return {
            name: {
                **({"device": device} if retriever.on_device and device != "cpu" else {}),
                **({"model_threads": threads} if retriever.on_device else {}),
                **({"seed": seed} if retriever.seeded else {}),
            }
            for name, retriever in retrievers
            if retriever.seeded or retriever.on_device
        }

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        """The features, with one search of all topics per retriever."""
        searches, depth = _searches(topic for topic, _ in batch), self.options.depth
        parts: list[list[Float32]] = [[] for _ in batch]
        for retriever in self._retrievers.values():
            found = [
                (topics, retriever.retrieve(list(topics.values()), depth, self._resources))
                for topics in searches
            ]
            for columns, (topic, documents) in zip(parts, batch, strict=True):
                run = next(run for topics, run in found if topics.get(topic.id) == topic)
                columns.append(_columns(run.rankings[topic.id], documents.ids, depth))
        return [np.hstack(columns) for columns in parts]


def _searches(topics: Iterable[Topic]) -> list[dict[str, Topic]]:
    """The topics by id, in two searches where those to learn from and to validate on share ids."""
    searches: list[dict[str, Topic]] = []
    for topic in topics:
        if not any(search.setdefault(topic.id, topic) == topic for search in searches):
            searches.append({topic.id: topic})
    return searches


def _columns(ranking: Ranking, doc_ids: Sequence[str], depth: int) -> Float32:
    """Score, share and log rank of documents, from a search so many documents deep."""
    scores = dict(zip(ranking.doc_ids, ranking.scores.tolist(), strict=True))
    ranks = {doc_id: rank for rank, doc_id in enumerate(ranking.doc_ids, start=1)}
    last = float(ranking.scores[-1]) if len(ranking) else 0.0
    best = float(ranking.scores[0]) if len(ranking) else 0.0
    score = np.array([scores.get(d, last) for d in doc_ids], dtype=np.float64)
    rank = np.array([ranks.get(d, 2 * depth + 1) for d in doc_ids], dtype=np.float64)
    share = score / best if best > 0 else np.zeros(len(doc_ids))
    return np.asarray(np.stack([score, share, np.log1p(rank)], axis=1), dtype=np.float32)
