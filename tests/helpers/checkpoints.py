"""Checkpoints without training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.training.checkpoints import write_checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.plugin import Topic


def described(
    folder: Path, reranker: str, topics: Sequence[Topic] = (), members: int = 1, **facts: Any
) -> Path:
    """A checkpoint of some members, whose folders are left to the caller."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"reranker": reranker, "options": {}, "interpolation": {"weight": 0.5}}
    write_checkpoint(folder, members, {}, topics, {**about, **facts})
    return folder
