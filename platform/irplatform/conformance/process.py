"""Whether a plugin leaves the process as it found it.

Other systems compute in the same process, and users' paths are relative to its working directory.
What is found changed is put back, random generators excepted, so that each system is tried alike.
"""

from __future__ import annotations

import locale
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform import directory
from irplatform.console import QUICK, progress
from irplatform.errors import listing
from irplatform.packages import absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_CATEGORIES = ("LC_COLLATE", "LC_CTYPE", "LC_MONETARY", "LC_NUMERIC", "LC_TIME")


@dataclass(frozen=True)
class Aspect:
    """Something that a process has once.

    Attributes:
        name: in words.
        read: what it is now; equal to another answer where it is as it was then.
        restore: makes it what was read.
        of_libraries: whether libraries change it when they are first imported, which is not the
            doing of a plugin that needs them.
        of_networks: whether making and training a network changes it: torch draws first weights
            and dropout from its global generator, and from no other.
    """

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object] = lambda _: None
    of_libraries: bool = False
    of_networks: bool = False

    def told(self, before: object, after: object) -> str:
        """The change, in words; values of variables may be secrets."""
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            names = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
            return f"{self.name} is another one ({listing(names)})"
        if isinstance(before, str | int | float):
            return f"{self.name} is {after} instead of {before}"
        return f"{self.name} is another one"


def aspects() -> Sequence[Aspect]:
    """All that a plugin must leave alone."""
    return (
        Aspect("the working directory", os.getcwd, os.chdir),
        Aspect("os.environ", lambda: dict(os.environ), set_environment, of_libraries=True),
        Aspect("the list of warnings filters", lambda: [*warnings.filters], of_libraries=True),
        Aspect("the table of signal handlers", _handlers, _set_handlers),
        Aspect("the locale", _locale, _set_locale, of_libraries=True),
        Aspect("the state of Python's random generator", random.getstate, of_libraries=True),
        Aspect("the state of numpy's random generator", _numpys_state, of_libraries=True),
        Aspect("the error state of numpy", np.geterr, lambda state: np.seterr(**state)),
        *(() if absent("torch") else _aspects_of_torch()),
    )


def _aspects_of_torch() -> Sequence[Aspect]:
    import torch

    return (
        Aspect(
            "the state of torch's random generator",
            lambda: torch.get_rng_state().numpy().tobytes(),
            of_libraries=True,
            of_networks=True,
        ),
        Aspect(
            "the default type of torch",
            lambda: str(torch.get_default_dtype()),
            lambda state: torch.set_default_dtype(getattr(torch, state.partition(".")[2])),
        ),
        Aspect("the grad mode of torch", torch.is_grad_enabled, torch.set_grad_enabled),
        Aspect("the number of threads of torch", torch.get_num_threads, torch.set_num_threads),
        Aspect(
            "the use of deterministic algorithms in torch",
            torch.are_deterministic_algorithms_enabled,
            torch.use_deterministic_algorithms,
        ),
        *(
            Aspect(
                f"torch.backends.cudnn.{flag}",
                partial(getattr, torch.backends.cudnn, flag),
                partial(setattr, torch.backends.cudnn, flag),
            )
            for flag in ("deterministic", "benchmark", "allow_tf32")
        ),
    )


class Watch:
    """Looks at a process before and after the work of a plugin.

    Args:
        of: whose work it is, for the progress display.
    """

    def __init__(self, of: str = "") -> None:
        self._of = of
        self._aspects = aspects()
        self._changes: dict[str, str] = {}

    @property
    def told(self) -> list[str]:
        """What was changed, each in a line, the first time that it was."""
        return [*self._changes.values()]

    @contextmanager
    def during(self, work: str, *, networks: bool = False, again: bool = False) -> Iterator[None]:
        """Compare before and after.

        Args:
            work: what the plugin does, for the line: "score()".
            networks: whether it makes or trains networks meanwhile.
            again: whether the same was done before. Importing a library then explains no change.
        """
        _draw()
        # Within a block of ours, those around a plugin's work leave the directory to be looked at
        label = f"trying {work} of {self._of}" if self._of else f"trying {work}"
        with warnings.catch_warnings(), directory.restored(), progress(label, part=QUICK):
            imported = {*sys.modules}
            before = [aspect.read() for aspect in self._aspects]
            try:
                yield
            finally:
                first_import = bool({*sys.modules} - imported) and not again
                for aspect, old_state in zip(self._aspects, before, strict=True):
                    new_state = aspect.read()
                    if new_state == old_state:
                        continue
                    aspect.restore(old_state)
                    if (aspect.of_libraries and first_import) or (aspect.of_networks and networks):
                        continue
                    self._changes.setdefault(
                        aspect.name, f"{aspect.told(old_state, new_state)} after {work}"
                    )


def _draw() -> None:
    """Move the generators on: one that is seeded twice with one number is then seen to be."""
    random.random()
    np.random.random()
    if not absent("torch"):
        import torch

        torch.rand(1)


def _numpys_state() -> object:
    kind, keys, *rest = np.random.get_state()
    return kind, np.asarray(keys).tobytes(), *rest


def set_environment(variables: Mapping[str, str]) -> None:
    """Make `os.environ` what was read of it."""
    for name in [name for name in os.environ if name not in variables]:
        del os.environ[name]
    os.environ.update(variables)


def _handlers() -> dict[str, object]:
    return {
        signal.Signals(each).name: signal.getsignal(each)
        for each in signal.valid_signals()
        if each in {*signal.Signals}
    }


def _set_handlers(handlers: Mapping[str, Any]) -> None:
    for name, handler in handlers.items():
        if handler is not None and signal.getsignal(signal.Signals[name]) != handler:
            signal.signal(signal.Signals[name], handler)


def _locale() -> dict[str, str]:
    return {name: locale.setlocale(getattr(locale, name)) for name in _CATEGORIES}


def _set_locale(locales: Mapping[str, str]) -> None:
    for name, value in locales.items():
        locale.setlocale(getattr(locale, name), value)
