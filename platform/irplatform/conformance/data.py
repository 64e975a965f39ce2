"""The data that a plugin's systems are checked on, and a watch on the state of the process.

The data are a few judged topics with BM25's candidates. A plugin that changes the state of the
process, such as the default type of torch, changes the scores of other systems.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.data import LabelledTopic, Topic, TrainingData
from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.reranking.training_set import examples
from irplatform.retrieval.candidates import Request, Retrieved
from irplatform.system.console import QUICK, progress
from irplatform.system.packages import absent
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection
    from irplatform.registry.lookup import Registry


TopicCandidates = list[tuple[Topic, tuple[str, ...]]]
"""Topics with the ids of documents."""
DOCUMENTS = 30
"""Candidates of a topic."""
_TOPICS, _VALIDATION, _TRAINING = 3, 4, 12


@dataclass(frozen=True)
class _State:
    """State that the process has once; equal values are the same state.

    Random generators have no `restore`, since libraries use them at their first import. Making and
    training a network of torch may change state `of_networks`.
    """

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object] | None = None
    of_networks: bool = False


class Watch:
    """Compares the process before and after the work of a system, named `of` for the display."""

    def __init__(self, of: str = "") -> None:
        self._of = of
        self._states = _states()
        self._changes: dict[str, str] = {}

    @property
    def changes(self) -> list[str]:
        """The changes, each with the first work that made it."""
        return [*self._changes.values()]

    @contextmanager
    def during(self, work: str, *, networks: bool = False) -> Iterator[None]:
        """Compare the process before and after work such as "score()", perhaps of networks."""
        random.random()  # so that the same seed set twice is noticed
        np.random.random()
        if not absent("torch"):
            import torch

            torch.rand(1)
        with isolated(), progress(f"trying {work} of {self._of}", part=QUICK):
            imported = {*sys.modules}
            before = [state.read() for state in self._states]
            try:
                yield
            finally:
                first_import = not imported.issuperset(sys.modules)
                for state, old in zip(self._states, before, strict=True):
                    if (new := state.read()) == old:
                        continue
                    if state.restore:
                        state.restore(old)
                    elif first_import or (state.of_networks and networks):
                        continue
                    now = f"{new} instead of {old}" if state.restore else "different"
                    self._changes.setdefault(state.name, f"{state.name} is {now} after {work}")


def _states() -> Sequence[_State]:
    states = [
        _State("the working directory", os.getcwd, os.chdir),
        _State("the state of Python's random generator", random.getstate),
        _State(
            "the state of numpy's random generator", lambda: pickle.dumps(np.random.get_state())
        ),
        _State("the error state of numpy", np.geterr, lambda state: np.seterr(**state)),
    ]
    if absent("torch"):
        return states
    import torch

    return [
        *states,
        _State(
            "the state of torch's random generator",
            lambda: torch.get_rng_state().numpy().tobytes(),
            of_networks=True,
        ),
        _State("the default type of torch", torch.get_default_dtype, torch.set_default_dtype),
        _State("the grad mode of torch", torch.is_grad_enabled, torch.set_grad_enabled),
        _State("the number of threads of torch", torch.get_num_threads, torch.set_num_threads),
    ]


@dataclass(frozen=True)
class CheckData:
    """The data that systems are checked on: topics to score with their candidates, and others."""

    resources: CollectionResources
    topics: TopicCandidates
    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    watch: Watch = field(default_factory=Watch)

    @contextmanager
    def training_data(self) -> Iterator[TrainingData]:
        """Yield data for `fit`, with a temporary workspace."""
        with TemporaryDirectory() as workspace:
            yield TrainingData([*self.training], [*self.validation], Path(workspace))


def check_data_of(
    collection: Collection, plugins: Registry, resources: CollectionResources
) -> CheckData:
    """Search a collection and split its judged topics; InputError if they are too few."""
    retrievers, _ = choose_systems(plugins, ["bm25"], [], {})
    request = Request(collection, retrievers, DOCUMENTS, DOCUMENTS, resources)
    qrels = collection.load_qrels() if collection.load_qrels else {}
    judged = examples(replace(Retrieved().find(request), qrels=qrels), resources)
    usable = [e.labelled for e in judged if len(e.labelled.candidates) > 1]
    if len(usable) < _TOPICS + 2:
        raise InputError(
            f"'{collection.id}' has {len(usable)} judged topics with two candidates "
            f"or more; {_TOPICS + 2} are needed to check a plugin."
        )
    topics = [(labelled.topic, labelled.candidates) for labelled in usable[:_TOPICS]]
    rest = usable[_TOPICS:]
    validation_size = min(_VALIDATION, len(rest) // 2)
    training = rest[validation_size : validation_size + _TRAINING]
    return CheckData(resources, topics, training, rest[:validation_size])


@dataclass(frozen=True)
class Finding:
    """The result of a system's check.

    Attributes:
        kind: "reranker", "retriever" or "feature group".
        name: the system's name.
        problems: breaches of the contract.
        unchecked: why the check is incomplete, or "".
        remarks: possible improvements.
    """

    kind: str
    name: str
    problems: Sequence[str] = ()
    unchecked: str = ""
    remarks: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `platform plugins check --json`."""
        return {**asdict(self), "unchecked": self.unchecked or None}
