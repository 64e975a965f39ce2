"""A system asked in another process, where it has its files alone and text has other hashes.

Within a process a set has one order, and what `load` should have read may still be in memory.
"""

from __future__ import annotations

import os
import pickle
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from irplatform.console import progress, say_nothing
from irplatform.devices import choose_device
from irplatform.errors import PluginError
from irplatform.registry import registry
from irplatform.workers import WorkerKilledError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from irplatform.conformance.check_data import TopicCandidates
    from irplatform.plugin import Options
    from irplatform.registry import Registration
    from irplatform.resources import CollectionResources

Result = TypeVar("Result")

ELSEWHERE = "in another process, where text has other hashes and a set another order"
_SEED = "PYTHONHASHSEED"
_CANNOT_TRAVEL = (pickle.PicklingError, TypeError, AttributeError, ImportError)
"""What is raised where options cannot be sent, or their module is not found there."""


@dataclass(frozen=True)
class Parcel:
    """What is told to the other process, which loads plugins anew.

    Attributes:
        system: its name.
        options: its options.
        topics: what it is asked about.
        resources: the harness's, with nothing open.
        folder: what it saved, if it learned.
    """

    system: str
    options: Options
    topics: TopicCandidates
    resources: CollectionResources
    folder: Path | None = None


class Elsewhere:
    """Other processes that systems are asked in: a new one for each question.

    The next one starts while this process works, since loading plugins and torch takes seconds.

    Args:
        device: where models compute.
        expected: how many questions there will be; more may be asked.
    """

    def __init__(self, device: str = "cpu", expected: int = 0) -> None:
        self._device = device
        self._expected = expected
        self._next: Workers[Any, Any] | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._next is not None:
            self._next.kill()

    def ask(
        self, ask: Callable[[Parcel], Result], parcel: Parcel, registration: Registration[Any]
    ) -> Result:
        """Ask a system.

        Args:
            ask: a function of a module.
            parcel: what it is asked.
            registration: of the system.

        Raises:
            PlatformError: of the function, or there is no answer.
        """
        if self._next is None:
            self._expected += 1
            self._start()
        process, self._next = self._next, None
        assert process is not None
        try:
            with progress(f"asking {registration.name} in another process", part=0.3):
                process.result()  # it has started
                self._start()
                process.give(1, (ask, parcel))
                answer: Result = process.result()
                return answer
        except WorkerKilledError as error:
            raise PluginError(
                f"{registration.who} ended the process that it was asked in, without an answer."
            ) from error
        except _CANNOT_TRAVEL as error:
            raise PluginError(
                f"{registration.who} cannot be asked in another process: {error}."
            ) from error
        finally:
            process.kill()

    def _start(self) -> None:
        if self._expected <= 0:
            return
        self._expected -= 1
        with _other_hashes():
            self._next = Workers(_answer, 1)
            self._next.__enter__()
        self._next.give(0, (_settle, self._device))


def _answer(question: tuple[Callable[[Any], Result], Any]) -> Result:
    function, argument = question
    return function(argument)


def _settle(device: str) -> None:
    """Prepare the process as the one that asks is: its device is chosen, and it says nothing."""
    say_nothing()
    registry()
    choose_device(device, 1)


@contextmanager
def _other_hashes() -> Iterator[None]:
    """Let processes that are started draw other hashes than this one did."""
    before = os.environ.get(_SEED)
    os.environ[_SEED] = "2" if before == "1" else "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SEED]
        else:
            os.environ[_SEED] = before
