"""The data that a plugin's systems are checked on, and a watch on the state of the process.

Systems are asked about a few judged topics with BM25's candidates. Other systems compute in the
same process: a seeded generator or another default type of torch would change their scores, so that
such changes are reported and undone.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.data import LabelledTopic, Topic, TrainingData
from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.registry.entry_points import entry_points
from irplatform.reranking.training_set import examples
from irplatform.retrieval.candidates import Request, Retrieved
from irplatform.system.console import QUICK, progress
from irplatform.system.packages import absent
from irplatform.system.process import isolated
from irplatform.system.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection
    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Plugin


TopicCandidates = list[tuple[Topic, tuple[str, ...]]]
"""Topics with the ids of documents."""

DOCUMENTS = 30
"""Candidates of a topic."""

_TOPICS, _VALIDATION, _TRAINING = 3, 4, 12

_HEAVY = (
    *("torch", "transformers", "sentence_transformers", "tensorflow", "jax", "spacy", "gensim"),
    *("pandas", "sklearn", "pyserini", "jnius", "nltk", "lightgbm"),
)
"""Packages that take from a second to a quarter of a minute to import."""


@dataclass(frozen=True)
class _State:
    """A piece of state that the process has once.

    Attributes:
        name: in words.
        read: returns the value; equal values are the same state.
        restore: sets it; None for random generators, which libraries use at their first import.
        of_networks: making and training a network changes it, since torch draws first weights and
            dropout from its global generator.
    """

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object] | None = None
    of_networks: bool = False


class Watch:
    """Compares the process before and after the work of a plugin.

    Args:
        of: the system, for the progress display.
    """

    def __init__(self, of: str = "") -> None:
        self._of = of
        self._states = _states()
        self._changes: dict[str, str] = {}

    @property
    def changes(self) -> list[str]:
        """The changes, one a line, with the first work that made each."""
        return [*self._changes.values()]

    @contextmanager
    def during(self, work: str, *, networks: bool = False) -> Iterator[None]:
        """Compare before and after.

        Args:
            work: the plugin's work, such as "score()".
            networks: it makes or trains networks.
        """
        _draw()
        # Within a block of ours, those around a plugin's work leave the directory to be looked at
        label = f"trying {work} of {self._of}" if self._of else f"trying {work}"
        with isolated(), progress(label, part=QUICK):
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
                    told = f"{new} instead of {old}" if state.restore else "another one"
                    self._changes.setdefault(state.name, f"{state.name} is {told} after {work}")


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


def _draw() -> None:
    """Advance the generators, so that the same seed set twice is noticed."""
    random.random()
    np.random.random()
    if not absent("torch"):
        import torch

        torch.rand(1)


@dataclass(frozen=True)
class CheckData:
    """The data that systems are checked on.

    Attributes:
        resources: the platform's, for the collection's documents.
        topics: topics to score, with their candidates.
        training: other topics to learn from.
        validation: topics that validate it.
        watch: compares the process before and after.
    """

    resources: CollectionResources
    topics: TopicCandidates
    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    watch: Watch = field(default_factory=Watch)

    @contextmanager
    def training_data(self) -> Iterator[TrainingData]:
        """Yield what `fit` learns from, with a temporary workspace."""
        with TemporaryDirectory() as workspace:
            yield TrainingData([*self.training], [*self.validation], Path(workspace))


def check_data_of(
    collection: Collection, plugins: Registry, resources: CollectionResources
) -> CheckData:
    """Search a collection, and split its judged topics.

    Raises:
        InputError: it has too few judged topics with candidates.
    """
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
        kind: "reranker", "retriever" or "feature group"; "plugin" for remarks on the plugin.
        name: of the system, or the plugin.
        problems: breaches of the contract, one a line.
        unchecked: why it could not be checked completely, or "".
        remarks: possible improvements that are no breach.
    """

    kind: str
    name: str
    problems: Sequence[str] = ()
    unchecked: str = ""
    remarks: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """An entry of `platform plugins check --json`."""
        return {
            "kind": self.kind,
            "name": self.name,
            "problems": list(self.problems),
            "unchecked": self.unchecked or None,
            "remarks": list(self.remarks),
        }


def slow_imports(plugin: Plugin) -> list[str]:
    """Return a remark on heavy packages that loading a plugin imports, found in a new process."""
    with Workers[Any, list[str]](_heavy_imports, 1) as workers:
        workers.give(0, plugin)
        heavy = workers.result()
    if not heavy:
        return []
    return [
        f"its import loads {', '.join(heavy)}, which every command waits for: import that inside "
        "the functions that need it"
    ]


def _heavy_imports(plugin: Plugin) -> list[str]:
    before = {*sys.modules}
    for point in entry_points():
        if point.name == plugin.name and point.dist and point.dist.name == plugin.distribution:
            point.load()
    return [name for name in _HEAVY if name in sys.modules and name not in before]
