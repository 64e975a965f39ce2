"""A system asked in another process, where it has its files alone and text has other hashes.

Within a process a set has one order, and what `load` should have read may still be in memory.
"""

from __future__ import annotations

import os
import pickle
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform import console
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


def elsewhere(
    ask: Callable[[Parcel], Result], parcel: Parcel, registration: Registration[Any]
) -> Result:
    """Ask a system in another process.

    Args:
        ask: a function of a module; it begins with `settle`.
        parcel: what it is asked.
        registration: of the system.

    Raises:
        PlatformError: of the function, or there is no answer.
    """
    try:
        with _other_hashes(), Workers(ask, 1) as workers:
            workers.give(0, parcel)
            ((_, answer),) = workers.results()
    except WorkerKilledError as error:
        raise PluginError(
            f"{registration.who} ended the process that it was asked in, without an answer."
        ) from error
    except _CANNOT_TRAVEL as error:
        raise PluginError(
            f"{registration.who} cannot be asked in another process: {error}."
        ) from error
    return answer


def settle(parcel: Parcel) -> None:
    """Prepare a process as the one that asks is: its device is chosen, and it says nothing."""
    console.say_nothing()
    choose_device(parcel.resources.device, parcel.resources.model_threads)


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
