"""A system asked in a new process, where it has only its files, and text hashes differently.

Within one process a set keeps its order, and what `load` should have read may still be in memory.
"""

from __future__ import annotations

import os
import pickle
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.console import progress, say_nothing
from irplatform.devices import choose_device
from irplatform.errors import PluginError
from irplatform.workers import WorkerKilledError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from irplatform.conformance.check_data import TopicCandidates
    from irplatform.plugin import Options
    from irplatform.registry import Registration
    from irplatform.resources import CollectionResources

Result = TypeVar("Result")

NEW_PROCESS = "in another process, where text has other hashes and a set another order"
_SEED = "PYTHONHASHSEED"
_CANNOT_TRAVEL = (pickle.PicklingError, TypeError, AttributeError, ImportError)
"""Raised where options cannot be sent, or the new process does not find their module."""


@dataclass(frozen=True)
class Question:
    """The input of a system in the new process, which loads plugins again.

    Attributes:
        system: its name.
        options: its options.
        topics: to score or search, with their candidates.
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
        registration: of the system, for messages.

    Raises:
        PlatformError: of the function, or there is no answer.
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
        message = f"{who} ended the process that it was asked in, without an answer."
        raise PluginError(message) from error
    except _CANNOT_TRAVEL as error:
        raise PluginError(f"{who} cannot be asked in another process: {error}.") from error


def _answer(asked: tuple[Callable[[Question], Result], Question]) -> Result:
    ask, question = asked
    say_nothing()
    choose_device(question.resources.device, 1)
    return ask(question)


@contextmanager
def _other_hashes() -> Iterator[None]:
    """Processes that start within it draw other hashes than this one."""
    before = os.environ.get(_SEED)
    os.environ[_SEED] = "2" if before == "1" else "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SEED]
        else:
            os.environ[_SEED] = before
