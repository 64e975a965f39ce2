"""Changes that a plugin leaves behind in the whole process.

Other systems compute in the same process: a seeded generator or another default type of torch would
change their scores. Settings are put back, so that each system is tried alike.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.registry.entry_points import entry_points
from irplatform.system.console import QUICK, progress
from irplatform.system.containment import isolated
from irplatform.system.packages import absent
from irplatform.system.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.registry.registration import Plugin

_HEAVY = (
    *("torch", "transformers", "sentence_transformers", "tensorflow", "jax", "spacy", "gensim"),
    *("pandas", "sklearn", "pyserini", "jnius", "nltk", "lightgbm"),
)
"""Packages that take long to import, from a second to a quarter of a minute."""


@dataclass(frozen=True)
class _State:
    """A value that a process has once.

    Attributes:
        name: in words.
        read: returns the value; equal values are the same state.
        restore: sets it; None for random generators, which libraries may use when they are first
            imported.
        of_networks: whether making and training a network changes it: torch draws first weights
            and dropout from its global generator, and from no other.
    """

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object] | None = None
    of_networks: bool = False


def _states() -> Sequence[_State]:
    """All that a plugin must leave alone."""
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


class Watch:
    """Compares the process before and after the work of a plugin.

    Args:
        of: whose work it is, for the progress display.
    """

    def __init__(self, of: str = "") -> None:
        self._of = of
        self._states = _states()
        self._changes: dict[str, str] = {}

    @property
    def changes(self) -> list[str]:
        """The changes, each in a line, with the first work that made it."""
        return [*self._changes.values()]

    @contextmanager
    def during(self, work: str, *, networks: bool = False) -> Iterator[None]:
        """Compare before and after.

        Args:
            work: what the plugin does, for the line: "score()".
            networks: whether it makes or trains networks.
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


def _draw() -> None:
    """Advance the generators, so that seeding one twice with the same number is a change, too."""
    random.random()
    np.random.random()
    if not absent("torch"):
        import torch

        torch.rand(1)


def slow_imports(plugin: Plugin) -> list[str]:
    """A remark on heavy packages that a plugin imports when it is loaded, in a process of its own.

    Args:
        plugin: one that can be loaded.
    """
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
