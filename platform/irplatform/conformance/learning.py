"""Checks that a trained system scores alike after loading and after a second training."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, TypeVar

from irplatform.conformance.consistency import difference
from irplatform.conformance.elsewhere import NEW_PROCESS
from irplatform.plugin import TrainableFeatureGroup, TrainableReranker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from irplatform.conformance.check_data import CheckData, TopicCandidates
    from irplatform.conformance.consistency import Outputs

_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
_PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""How a pickle begins, by the name that it has or not."""
_BEGINNING = 1 << 16
_OBJECTS = re.compile(rb"\x93NUMPY[^}]*'\|O'")
"""How numpy's file of an array with objects begins."""

Learner = TypeVar("Learner", TrainableReranker, TrainableFeatureGroup)


def train(
    make: Callable[[], Learner],
    plugin_call: Callable[[str], AbstractContextManager[None]],
    data: CheckData,
) -> Learner:
    """A new one, trained on the topics that are for it."""
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
    """Differences after saving and loading a trained system, and after a second training.

    Args:
        system: it is trained.
        make: makes a new one, prepared.
        plugin_call: names the plugin where its code fails.
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
            yield f"save() writes a pickle ({pickled[0]}), which runs code when somebody reads it"
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
    """Whether bytes are a pickle, or numpy's array of objects, which are pickled behind it."""
    beginning = file.read(_BEGINNING)
    return beginning[:2] in _PROTOCOLS or bool(_OBJECTS.match(beginning))
