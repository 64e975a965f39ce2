"""Judges that are rankers, too: a run by the model that judges it gets what it wants to see."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from irplatform.errors import listing
from irplatform.settings import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from irplatform.judging.judgments import Source
    from irplatform.run_folder.metadata_model import RunMetadata

_OPTION = "model"
"""The option of retrievers and rerankers that names a model, also within other options."""


def told_of_shared_models(judges: Iterable[Source], runs: Mapping[str, RunMetadata]) -> list[str]:
    """Warn of each judge whose model ranks in a run, by the run's metadata.

    Names are compared as they are written: of a folder, its own name counts, too. A model that a
    checkpoint was trained from is not known here.
    """
    told = []
    for judge in judges:
        ranked = [name for name, metadata in runs.items() if judge.model in _models(metadata)]
        if judge.model and ranked:
            told.append(
                f"WARNING: the model of judge {judge.name}, {judge.model}, also ranks in "
                f"{listing(ranked)}: its judgments favour them"
            )
    return told


def _models(metadata: RunMetadata) -> Iterator[str]:
    for step in metadata.method.retrieval:
        for name, value in flat(step.options).items():
            if name.rpartition(".")[2] == _OPTION and isinstance(value, str):
                yield "_".join(value.split())
                yield "_".join(PurePath(value).name.split())
