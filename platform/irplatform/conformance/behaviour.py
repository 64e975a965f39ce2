"""Checks that a system gives the same scores however it is asked.

Scores depend on the document and the topic alone: not on the order or the batches of documents, on
earlier calls, on saving and loading, or on a second training. A new process hashes text differently
and has only the saved files.
"""

from __future__ import annotations

import os
import pickle
import re
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from irplatform.errors import PluginError
from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import progress, silence
from irplatform.system.workers import WorkerKilledError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from irplatform.collection_resources import CollectionResources
    from irplatform.conformance.data import CheckData, TopicCandidates
    from irplatform.options import Options
    from irplatform.registry.registration import Registration


Result = TypeVar("Result")

Values = npt.NDArray[np.floating[Any]]
"""[documents] or [documents, features]."""

Outputs = list[Values]
"""One for each topic."""

Learner = TypeVar("Learner", TrainableReranker, TrainableFeatureGroup)

NEW_PROCESS = "in another process, where text has other hashes and a set another order"
_SEED = "PYTHONHASHSEED"

_CANNOT_TRAVEL = (pickle.PicklingError, TypeError, AttributeError, ImportError)
"""Raised if options cannot be sent, or the new process does not find their module."""
_SPREAD, _SIZE = 1e-3, 1e-5
"""Differences that are rounding: shares of a column's spread, and of its largest number."""

_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
_PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""Beginnings of a pickle."""
_OBJECTS = re.compile(rb"\x93NUMPY[^}]*'\|O'")
"""The beginning of numpy's file of an array of objects."""


def train(
    make: Callable[[], Learner],
    plugin_call: Callable[[str], AbstractContextManager[None]],
    data: CheckData,
) -> Learner:
    """Train a new system on the topics for training."""
    learner = make()
    with (
        data.training_data() as training_data,
        plugin_call("learning"),
        data.watch.during("fit()", networks=True),
    ):
        learner.fit(training_data)
    return learner


def problems_of_learning(
    system: Learner,
    make: Callable[[], Learner],
    plugin_call: Callable[[str], AbstractContextManager[None]],
    outputs: Callable[[Learner, TopicCandidates], Outputs],
    data: CheckData,
    in_new_process: Callable[[Path], Outputs | None],
) -> Iterator[str]:
    """Yield differences of a trained system after saving and loading, and a second training.

    `make` returns a new, prepared system; `outputs` are scores or features.
    """
    expected = outputs(system, data.topics)
    with TemporaryDirectory() as place:
        folder = Path(place)
        with plugin_call("saving"), data.watch.during("save()"):
            system.save(folder)
        if not any(folder.iterdir()):
            yield "save() writes nothing, so that nothing can be loaded"
            return
        if pickled := [path.name for path in sorted(folder.rglob("*")) if _is_pickle(path)]:
            yield f"save() writes a pickle ({pickled[0]}), which runs code when it is read"
        loaded = make()
        with plugin_call("loading"), data.watch.during("load()", networks=True):
            loaded.load(folder)
        if deviation := difference(data.topics, expected, outputs(loaded, data.topics)):
            yield f"{deviation} after save() and load()"
        else:
            found = in_new_process(folder)
            if found and (deviation := difference(data.topics, expected, found)):
                yield f"{deviation} after save() and load() {NEW_PROCESS}"
    again = train(make, plugin_call, data)
    if deviation := difference(data.topics, expected, outputs(again, data.topics)):
        yield f"{deviation} after a second training with the same topics and seed"


def _is_pickle(path: Path) -> bool:
    """Whether reading a file runs code: a pickle, an array of objects, or an archive of them."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        beginning = file.read(1024)
    if path.suffix in _PICKLES or beginning[:2] in _PROTOCOLS or _OBJECTS.match(beginning):
        return True
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith(_PICKLES) for name in archive.namelist())


def inconsistencies(
    outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates
) -> Iterator[str]:
    """Yield the ways of asking that give other outputs."""
    expected = outputs(topics)
    reversed_topics = [(topic, ids[::-1]) for topic, ids in topics]
    for way, again in (
        ("when it is asked again", outputs(topics)),
        ("when documents come in another order", [each[::-1] for each in outputs(reversed_topics)]),
        ("when other documents are with it", _halves(outputs, topics)),
        ("when topics come one at a time", [outputs([each])[0] for each in topics]),
    ):
        if deviation := difference(topics, expected, again):
            yield f"{deviation} {way}"


def difference(topics: TopicCandidates, expected: Outputs, actual: Outputs) -> str:
    """Return the first document whose values differ, in words, or ""."""
    for (topic, doc_ids), before, after in zip(topics, expected, actual, strict=True):
        spread = np.ptp(before, axis=0)
        allowed = _SPREAD * spread + _SIZE * np.abs(before).max(axis=0)
        wrong = np.argwhere(np.abs(after - before) > allowed)
        if len(wrong):
            place = tuple(wrong[0])
            return (
                f"document {doc_ids[place[0]]} of topic {topic.id} has "
                f"{after[place]:.6g} instead of {before[place]:.6g}"
            )
    return ""


def _halves(outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates) -> Outputs:
    """Every other document, then those between them."""
    even, odd = (outputs([(topic, ids[start::2]) for topic, ids in topics]) for start in (0, 1))
    joined = []
    for first, second in zip(even, odd, strict=True):
        both = np.empty((len(first) + len(second), *first.shape[1:]))
        both[0::2], both[1::2] = first, second
        joined.append(both)
    return joined


@dataclass(frozen=True)
class Question:
    """The input of a system in a new process; `folder` has what it saved, if it learned."""

    system: str
    options: Options
    topics: TopicCandidates
    resources: CollectionResources
    folder: Path | None = None


def in_new_process(
    ask: Callable[[Question], Result], question: Question, registration: Registration[Any]
) -> Result:
    """Call `ask(question)` in a new process; PlatformError if it fails or gives no answer."""
    name, who = registration.name, registration.who
    try:
        with (
            progress(f"asking {name} in another process", part=0.3),
            _other_hashes(),
            Workers[Any, Result](_answer, 1) as workers,
        ):
            workers.give(0, (ask, question))
            return workers.result()
    except WorkerKilledError as error:
        raise PluginError(f"{who} ended its process without an answer.") from error
    except _CANNOT_TRAVEL as error:
        raise PluginError(f"{who} cannot be asked in another process: {error}.") from error


def _answer(asked: tuple[Callable[[Question], Result], Question]) -> Result:
    ask, question = asked
    silence()
    choose_device(question.resources.device, 1)
    return ask(question)


@contextmanager
def _other_hashes() -> Iterator[None]:
    before = os.environ.get(_SEED, "random")
    os.environ[_SEED] = "2" if before == "1" else "1"
    try:
        yield
    finally:
        os.environ[_SEED] = before
