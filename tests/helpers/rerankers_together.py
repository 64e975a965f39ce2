"""Every kind of reranker that learns, trained by two processes on the planted task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graph_resources import graph_resources
from planted import planted_topics, saved
from pretrained_models import save_transformer_of_vectors

from irplatform.plugin import TrainableReranker, TrainingData
from irplatform.registry.loading import registry
from irplatform.training.distributed import joined, quiet_torch

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.training.distributed import Place

QUICK = {"loop": {"epochs": 1, "batch_size": 16}}
OPTIONS = {"mbm": {}, "ltr": {"features": ("lexical", "embedding")}}
"""Of those without a training loop."""


def kinds() -> list[str]:
    """The first name of every class of rerankers that learn."""
    names: dict[type, str] = {}
    for name, registration in sorted(registry().rerankers.items()):
        if issubclass(registration.system, TrainableReranker) and not registration.defaults:
            names.setdefault(registration.system, name)
    return list(names.values())


@dataclass(frozen=True)
class Share:
    """What one process does.

    Attributes:
        place: among the others; its files are those of the first reranker.
        folder: for what it builds.
    """

    place: Place
    folder: Path


def train_all(share: Share) -> dict[str, dict[str, bytes] | str]:
    """Train each of them with the others; what it saves, or what went wrong."""
    import torch

    quiet_torch()
    torch.set_num_threads(1)
    resources = graph_resources(share.folder)
    found: dict[str, dict[str, bytes] | str] = {}
    for name in kinds():
        place = share.place
        at = [path / name for path in (place.meeting, place.workspace, place.shared)]
        for path in at[1:]:
            path.mkdir(parents=True, exist_ok=True)
        place = replace(place, meeting=at[0], workspace=at[1], shared=at[2])
        settings = OPTIONS.get(name, QUICK)
        if name == "vanilla-bert":
            begun = save_transformer_of_vectors(share.folder / "bert", resources.word_vectors)
            settings = {**settings, "model": str(begun)}
        made = registry().reranker(name).create(settings)
        data = TrainingData(planted_topics(range(12)), planted_topics(range(70, 73)), at[1])
        try:
            with joined(place, "cpu"):
                made.prepare(resources)
                made.fit(data)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
        else:
            found[name] = saved(made, share.folder / name)
    return found
