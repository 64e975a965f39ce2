"""Another process, in which a plugin's systems must answer the same.

It hashes text differently, and has only what a system saved. It also notes which heavy packages the
plugin imports while it is loaded.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.data import Topic
from irplatform.errors import PluginError
from irplatform.registry.loading import entry_points
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import progress, silence
from irplatform.workers.pool import WorkerKilledError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from irplatform.collection_resources import CollectionResources
    from irplatform.options import Options
    from irplatform.registry.registration import Plugin


Result = TypeVar("Result")

TopicCandidates = list[tuple[Topic, tuple[str, ...]]]
"""Topics with the ids of documents."""

_SEED = "PYTHONHASHSEED"
_CANNOT_TRAVEL = (pickle.PicklingError, TypeError, AttributeError, ImportError)
"""Raised if options cannot be sent, or the new process does not find their module."""
_HEAVY = (
    *("torch", "transformers", "sentence_transformers", "tensorflow", "jax", "spacy", "gensim"),
    *("pandas", "polars", "sklearn", "pyserini", "pyterrier", "jnius", "nltk", "lightgbm"),
    *("scipy", "faiss", "matplotlib"),
)
"""Packages that take from a fifth of a second to a quarter of a minute to import."""


@dataclass(frozen=True)
class Inquiry:
    """The input of a system in a new process; `folder` has what it saved, if it learned."""

    system: str
    options: Options
    topics: TopicCandidates
    resources: CollectionResources
    folder: Path | None = None


class AnotherProcess:
    """A process with other hashes, which is asked one thing at a time."""

    def __init__(self) -> None:
        self._workers: Workers[Any, Any] | None = None

    def start(self) -> None:
        """Start the process, which takes a while."""
        with _other_hashes():
            self._workers = Workers[Any, Any](_answer, 1).__enter__()

    def heavy_imports(self, plugin: Plugin) -> list[str]:
        """Return the heavy packages that a plugin imports when it is loaded, with their lines."""
        return self._answered(_heavy_imports, plugin)

    def ask(
        self, function: Callable[[Any], Result], question: object, name: str, system: str
    ) -> Result:
        """Call `function(question)` in the process, of a `system`, shown by its name.

        Raises:
            PlatformError: it fails or gives no answer.
        """
        try:
            with progress(f"asking {name} in another process", part=0.3):
                return self._answered(function, question)
        except WorkerKilledError as error:
            raise PluginError(f"{system} ended its process without an answer.") from error
        except _CANNOT_TRAVEL as error:
            raise PluginError(f"{system} cannot be asked in another process: {error}.") from error

    def close(self) -> None:
        """End the process."""
        if self._workers is not None:
            self._workers.kill()
        self._workers = None

    def _answered(self, function: Callable[[Any], Result], question: object) -> Result:
        if self._workers is None:
            self.start()
        assert self._workers is not None
        try:
            self._workers.give(0, (function, question, "torch" in sys.modules))
            answer: Result = self._workers.result()
        except BaseException:  # it takes no further item
            self.close()
            raise
        return answer


def _answer(request: tuple[Callable[[Any], Any], Any, bool]) -> Any:
    function, question, torch = request
    silence()
    if torch and isinstance(question, Inquiry):
        choose_device(question.resources.device, 1)
    return function(question)


def _heavy_imports(plugin: Plugin) -> list[str]:
    for point in entry_points():
        if point.name == plugin.name and point.dist and point.dist.name == plugin.distribution:
            finder = _Finder(point.module.partition(".")[0])
            sys.meta_path.insert(0, finder)
            with suppress(Exception):  # a broken plugin is told elsewhere
                point.load()
            sys.meta_path.remove(finder)
            return [f"{name} ({place})" for place, name in finder.names_by_place.items()]
    return []


class _Finder:
    """Finds no module, but notes the line of a package that imports a heavy one."""

    def __init__(self, package: str) -> None:
        self._package = package
        self.names_by_place: dict[str, str] = {}

    def find_spec(self, name: str, *_: object) -> None:
        if name not in _HEAVY:
            return
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            if str(frame.f_globals.get("__name__")).partition(".")[0] == self._package:
                place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                self.names_by_place.setdefault(place, name)
                return


@contextmanager
def _other_hashes() -> Iterator[None]:
    before = os.environ.get(_SEED, "random")
    os.environ[_SEED] = "2" if before == "1" else "1"
    try:
        yield
    finally:
        os.environ[_SEED] = before
