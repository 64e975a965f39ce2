"""Checks that a system gives the same scores in different ways of asking.

Scores depend on the document and the topic alone: not on the order or the batches of documents, not
on earlier calls, and not on saving and loading or a second training. A new process has only the
saved files and hashes text differently; within one process a set keeps its order, and what `load`
should have read may still be in memory.
"""

from __future__ import annotations

import gzip
import os
import pickle
import re
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, TypeVar

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
"""Beginnings of a pickle, whatever its name."""

_BEGINNING = 1 << 16

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
    """Yield differences after saving and loading, and after a second training.

    Args:
        system: the trained system.
        make: makes a new one, prepared.
        plugin_call: names the plugin if its code fails.
        outputs: its scores or features.
        data: the topics, and what it learns from.
        in_new_process: its scores or features after loading what it saved, in a new process.
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
    """Whether reading a file runs code: a pickle, or what torch or numpy pack one into."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if path.suffix in _PICKLES or _holds_pickle(file):
            return True
    with suppress(OSError, EOFError, zlib.error), gzip.open(path) as unpacked:
        return _holds_pickle(unpacked)
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as part:
                if name.endswith(_PICKLES) or _holds_pickle(part):
                    return True
    return False


def _holds_pickle(file: IO[bytes] | gzip.GzipFile) -> bool:
    """Whether bytes are a pickle, or numpy's array of pickled objects."""
    beginning = file.read(_BEGINNING)
    return beginning[:2] in _PROTOCOLS or bool(_OBJECTS.match(beginning))


def inconsistencies(
    outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates
) -> Iterator[str]:
    """Yield ways to ask the same that are answered differently, each in a line."""
    expected = outputs(topics)
    for way, again in (
        ("when it is asked again", outputs(topics)),
        ("when documents come in another order", _reversed(outputs, topics)),
        ("when other documents are with it", _halves(outputs, topics)),
        ("when topics come one at a time", [outputs([each])[0] for each in topics]),
    ):
        if deviation := difference(topics, expected, again):
            yield f"{deviation} {way}"


def difference(topics: TopicCandidates, expected: Outputs, actual: Outputs) -> str:
    """Return the first document with other values than before, in words, or ""."""
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


def _reversed(outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates) -> Outputs:
    return [values[::-1] for values in outputs([(topic, ids[::-1]) for topic, ids in topics])]


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
    """The input of a system in the new process, which loads plugins again.

    Attributes:
        system: its name.
        options: its options.
        topics: topics with candidates, to score or search.
        resources: the platform's, with nothing open.
        folder: what the system saved, if it learned.
    """

    system: str
    options: Options
    topics: TopicCandidates
    resources: CollectionResources
    folder: Path | None = None


def in_new_process(
    ask: Callable[[Question], Result], question: Question, registration: Registration[Any]
) -> Result:
    """Call a function of a module in a process of its own.

    Args:
        ask: asks the system.
        question: its argument.
        registration: the system, for messages.

    Raises:
        PlatformError: the function fails, or there is no answer.
    """
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
        message = f"{who} ended its process without an answer."
        raise PluginError(message) from error
    except _CANNOT_TRAVEL as error:
        raise PluginError(f"{who} cannot be asked in another process: {error}.") from error


def _answer(asked: tuple[Callable[[Question], Result], Question]) -> Result:
    ask, question = asked
    silence()
    choose_device(question.resources.device, 1)
    return ask(question)


@contextmanager
def _other_hashes() -> Iterator[None]:
    """Give processes that start within it other hashes than this one."""
    before = os.environ.get(_SEED)
    os.environ[_SEED] = "2" if before == "1" else "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SEED]
        else:
            os.environ[_SEED] = before
