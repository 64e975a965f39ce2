"""Checks that a system gives the same scores however it is asked.

Scores depend on the document and the topic alone: not on the order or the batches of documents, on
earlier calls, on saving and loading, or on a second training. A new process hashes text differently
and has only the saved files.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.plugin.rerankers import TrainableReranker

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from irplatform.conformance.data import CheckData
    from irplatform.conformance.process import TopicCandidates


Results = Iterator[tuple[str, str]]
"""Names of checks, each with the problem that it found, or ""."""

Values = npt.NDArray[np.floating[Any]]
"""[documents] or [documents, features]."""

Outputs = list[Values]
"""One for each topic."""

Learner = TypeVar("Learner", TrainableReranker, TrainableFeatureGroup)

NEW_PROCESS = "in another process, where text has other hashes and a set another order"
_FORGOTTEN = (
    "after save() and load(): it learned from this topic, and something kept for its documents "
    "is not saved"
)
_SPREAD, _SIZE = 1e-3, 1e-5
"""Differences that are rounding: shares of a column's spread, and of its largest number."""

_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
_PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""Beginnings of a pickle."""
_OBJECTS = re.compile(rb"\x93NUMPY[^}]*'\|O'")
"""The beginning of numpy's file of an array of objects."""


def train_system(
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


def results_of_learning(
    system: Learner,
    make: Callable[[], Learner],
    plugin_call: Callable[[str], AbstractContextManager[None]],
    outputs: Callable[[Learner, TopicCandidates], Outputs],
    data: CheckData,
    in_new_process: Callable[[Path], Outputs | None],
) -> Results:
    """Yield differences of a trained system after saving and loading, and a second training.

    `make` returns a new, prepared system; `outputs` are scores or features.
    """
    topics, learned_from = data.topics, data.learned_from
    expected, remembered = outputs(system, topics), outputs(system, learned_from)
    with TemporaryDirectory() as place:
        folder = Path(place)
        with plugin_call("saving"), data.watch.during("save()"):
            system.save(folder)
        problem = _unsafe(folder)
        yield "saved files", problem
        if any(folder.iterdir()):
            loaded = make()
            with plugin_call("loading"), data.watch.during("load()", networks=True):
                loaded.load(folder)
            change = difference(topics, expected, outputs(loaded, topics))
            forgotten = difference(learned_from, remembered, outputs(loaded, learned_from))
            yield "save and load", said(change, "after save() and load()")
            if change or forgotten:
                yield "save and load", "" if change else said(forgotten, _FORGOTTEN)
            else:
                answer = in_new_process(folder)
                if answer:
                    change = difference(topics, expected, answer)
                    yield "another process", said(change, f"after save() and load() {NEW_PROCESS}")
    again = train_system(make, plugin_call, data)
    change = difference(topics, expected, outputs(again, topics))
    yield "second training", said(change, "after a second training with the same topics and seed")


def said(difference: str, way: str) -> str:
    """Return a difference with the way of asking that shows it; "" for none."""
    return f"{difference} {way}" if difference else ""


def _unsafe(folder: Path) -> str:
    """Why the files in a folder cannot, or should not, be loaded; "" if they can."""
    if not any(folder.iterdir()):
        return "save() writes nothing, so that nothing can be loaded"
    pickled = [path.name for path in sorted(folder.rglob("*")) if _is_pickle(path)]
    if not pickled:
        return ""
    return f"save() writes a pickle ({pickled[0]}), which runs code when it is read"


def _is_pickle(path: Path) -> bool:
    """Whether reading a file runs code: a pickle, an array of objects, or an archive of them."""
    if not path.is_file() or path.suffix == ".safetensors":  # its length may look like a pickle
        return False
    with path.open("rb") as file:
        beginning = file.read(1024)
    if path.suffix in _PICKLES or beginning[:2] in _PROTOCOLS or _OBJECTS.match(beginning):
        return True
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith(_PICKLES) for name in archive.namelist())


def consistency(outputs: Callable[[TopicCandidates], Outputs], topics: TopicCandidates) -> Results:
    """Ask in other ways, and yield those that give other outputs."""
    expected = outputs(topics)
    reversed_topics = [(topic, ids[::-1]) for topic, ids in topics]
    dropout = " (is its network in eval()?)" if "torch" in sys.modules else ""
    for check, way, again in (
        ("asked again", f"when it is asked again{dropout}", outputs(topics)),
        (
            "another order",
            "when documents come in another order",
            [values[::-1] for values in outputs(reversed_topics)],
        ),
        ("other documents", "when other documents are with it", _halves(outputs, topics)),
        (
            "one topic at a time",
            "when topics come one at a time",
            [outputs([pair])[0] for pair in topics],
        ),
    ):
        yield check, said(difference(topics, expected, again), way)


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
        values = np.empty((len(first) + len(second), *first.shape[1:]))
        values[0::2], values[1::2] = first, second
        joined.append(values)
    return joined
