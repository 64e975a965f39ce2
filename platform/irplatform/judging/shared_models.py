"""Judges that are rankers, too: a run by the model that judges it gets what it wants to see.

Models are compared by their names as they are written, of a folder by its own name, too, and by
digests of their files, so that a folder is known wherever it lies. A judge's version also has the
models that its own was trained from, as far as its checkpoint says.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import listing
from irplatform.settings import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from irplatform.judging.judgments import Source
    from irplatform.run_folder.metadata_model import RunMetadata

DIGITS = 12
"""Of a digest that marks a model."""


def told_of_shared_models(judges: Iterable[Source], runs: Mapping[str, RunMetadata]) -> list[str]:
    """Warn of each judge whose model ranks in a run, by the run's metadata."""
    warnings = []
    models = {name: _models(metadata) for name, metadata in runs.items()}
    for judge in judges:
        judge_marks = judge.of.union([judge.model] if judge.model else [])
        if ranked := [name for name, marks in models.items() if judge_marks & marks]:
            label = f", {judge.model}," if judge.model else ""
            warnings.append(
                f"WARNING: the model of judge {judge.name}{label} or one that it was trained from "
                f"also ranks in {listing(ranked)}: its judgments favour them"
            )
    return warnings


def models_in(options: Mapping[str, Any]) -> Iterator[str | Path]:
    """Yield the models that options of a system name, also within others."""
    for name, value in flat(options).items():
        if name.rpartition(".")[2] == "model" and value and isinstance(value, str | Path):
            yield value


def as_word(name: str) -> str:
    """Return the name of a model without white space, as versions of judges have it."""
    return "_".join(name.split())


def _models(metadata: RunMetadata) -> set[str]:
    """Names of the models of a run's own steps, and digests; what it read for other runs is not."""
    models = [str(model) for step in metadata.method.retrieval for model in models_in(step.options)]
    marks = {as_word(name) for model in models for name in (model, Path(model).name)}
    for entry in metadata.data.inputs:
        if isinstance(entry, dict) and (digest := entry.get("sha256")):
            is_checkpoint = entry.get("role") == "checkpoint" and any(metadata.method.training)
            if is_checkpoint or as_word(Path(str(entry.get("path"))).name) in marks:
                marks.add(str(digest)[:DIGITS])
    return marks
