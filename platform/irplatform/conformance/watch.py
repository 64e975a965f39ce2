"""A watch on what a plugin's code does to the process, and on the files that it reads.

State of the process, such as the default type of torch, changes the scores of other systems. A file
that a system does not declare may change without its cached results.
"""

from __future__ import annotations

import functools
import os
import pickle
import random
import signal
import sys
import time
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.files.code_digests import OURS, package_files, top_package
from irplatform.files.writing import home
from irplatform.system.console import QUICK, progress
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.registry.dependencies import ChosenSystem


class _State(NamedTuple):
    """State that the process has once; equal values are the same state.

    `advice` is what a plugin does instead. Random generators have no `restore`, since libraries use
    them when they are imported. `initial` is the state of torch when it is imported.
    """

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object] | None
    advice: str
    initial: Any = None

    def value(self) -> Any:
        """The state now; None if this version of a library cannot tell."""
        with suppress(Exception):
            return self.read()
        return None


class Watch:
    """Compares the process before and after the work of a system, named `of` for the display."""

    def __init__(self, of: str = "") -> None:
        self._of, self._module, self._work = of, "", ""
        self._declared: Sequence[Path] = ()
        self._began = time.time() - _TICK
        self._new_paths: set[Path] = set()
        self._changes: dict[str, str] = {}
        self._reads: dict[Path, str] = {}

    def look_at(self, choice: ChosenSystem[Any]) -> None:
        """Take notice of the files that a system reads."""
        self._module = choice.registration.system.__module__
        self._declared = [path.absolute() for path in choice.files()]

    @property
    def changes(self) -> list[str]:
        """The changes, each with the first work that made it."""
        return [*self._changes.values()]

    @property
    def remarks(self) -> list[str]:
        """Files that were read without being declared, and are no part of the code's digest."""
        digested = {path.absolute() for path in package_files(top_package(self._module))}
        return [
            f"{work} reads {path}, and results stay in the cache when it changes: name it in an "
            "option of the type Path, or in Reads(files=…)"
            for path, work in self._reads.items()
            if path not in digested
        ]

    @contextmanager
    def during(self, work: str, *, networks: bool = False) -> Iterator[None]:
        """Compare the process before and after work such as "score()", perhaps of networks."""
        random.random()  # so that the same seed set twice is noticed
        np.random.random()
        if torch := sys.modules.get("torch"):
            torch.rand(1)
        _listen()
        self._work = work
        with isolated(), progress(f"trying {work} of {self._of}", part=QUICK):
            imported = {*sys.modules}
            before = {state.name: state.value() for state in _states()}
            _watching.append(self)
            try:
                yield
            finally:
                _watching.remove(self)
                first_import = not imported.issuperset(sys.modules)
                for state in _states():
                    old, new = before.get(state.name, state.initial), state.value()
                    if old is None or new is None or new == old:
                        continue
                    if state.restore:
                        state.restore(old)
                    of_imports = state.restore is None or state.name == _ENVIRONMENT
                    if (first_import and of_imports) or (networks and state.name == _DRAWS):
                        continue
                    message = f"{state.name} is {_in_words(old, new)} after {work}: {state.advice}"
                    self._changes.setdefault(state.name, message)

    def note(self, name: Any, flags: int = os.O_RDONLY) -> None:
        """Take notice of a file that is opened, perhaps by the system's code."""
        if not isinstance(name, str | bytes | os.PathLike):
            return
        path = Path(os.fsdecode(name)).absolute()
        if flags & (os.O_TRUNC | os.O_EXCL):
            self._new_paths.add(path)
        if path in self._new_paths or flags & (os.O_WRONLY | os.O_RDWR):
            return
        frame, root = sys._getframe(2), top_package(self._module)
        while frame.f_back and root != top_package(module := str(frame.f_globals.get("__name__"))):
            if top_package(module) == OURS and not module.startswith(f"{OURS}.system."):
                return  # the platform reads it for the system
            frame = frame.f_back
        places = getattr(sys.modules.get(root), "__path__", ())
        of_package = any(path.is_relative_to(Path(place).absolute()) for place in places)
        library = any(path.is_relative_to(place) for place in (*_libraries(), *self._declared))
        of_python = path.suffix in _CODE or path.parent.suffix in _INSTALLED
        if not frame.f_back or of_python or not path.is_file():
            return
        if of_package or not (library or path.stat().st_mtime >= self._began):  # made by a library
            self._reads.setdefault(path, self._work)


_CODE, _INSTALLED = (".py", ".pyc", ".so", ".pyd"), (".dist-info", ".egg-info")
_TICK = 0.02
"""Seconds that a file system's clock may be behind: it moves with the ticks of the kernel."""
_watching: list[Watch] = []


@functools.cache
def _listen() -> None:
    """Let Python tell of files that are opened; such a hook cannot be removed."""

    def hear(event: str, arguments: Sequence[Any]) -> None:
        if event in ("open", "sqlite3.connect") and _watching:
            with suppress(Exception):  # it would become the plugin's
                _watching[-1].note(arguments[0], *(arguments[2:] if event == "open" else ()))

    sys.addaudithook(hear)


@functools.cache
def _libraries() -> tuple[Path, ...]:
    """Folders with the files of Python, of libraries, of the cache and of the system."""
    caches = map(os.environ.get, ("HF_HOME", "NLTK_DATA"))
    homes = [
        home(),
        Path.home() / ".cache",
        Path.home() / ".config",
        *map(Path, filter(None, caches)),
    ]
    system = (sys.prefix, sys.base_prefix, "/proc", "/sys", "/dev", "/etc", "/usr")
    return tuple(path.absolute() for path in [*homes, *map(Path, system)])


def _in_words(old: Any, new: Any) -> str:
    """A change in words; of a table, what differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        old, new = ({n: state[n] for n in names if n in state} for state in (old, new))
    text = f"{new} instead of {old}"
    return text if len(text) < _LONGEST else "different"


_LONGEST = 250
_DRAWS = "the state of torch's random generator"
_ENVIRONMENT = "the environment"
"""State that importing a library, or starting Java, may change."""
_OWN = "draw from a generator of your own, made of resources.seed"
_LEAVE = "leave it to the platform"
_TORCHS = (
    ("default type", "get_default_dtype", "set_default_dtype", "give tensors a dtype"),
    ("default device", "get_default_device", "set_default_device", "take resources.device"),
    ("grad mode", "is_grad_enabled", "set_grad_enabled", "use `with torch.no_grad()`"),
    ("number of threads", "get_num_threads", "set_num_threads", _LEAVE),
    ("matrix precision", "get_float32_matmul_precision", "set_float32_matmul_precision", _LEAVE),
    ("determinism", "are_deterministic_algorithms_enabled", "use_deterministic_algorithms", _LEAVE),
)
"""Settings of torch: a name, functions that read and set it, and advice."""
_CUDNN = ("benchmark", "deterministic", "enabled")


def _states() -> list[_State]:
    states = [
        _State("the working directory", os.getcwd, os.chdir, "name files by their whole path"),
        _State("the state of Python's random generator", random.getstate, None, _OWN),
        _State(
            "the state of numpy's random generator",
            lambda: pickle.dumps(np.random.get_state()),
            None,
            _OWN,
        ),
        _State(
            "the error state of numpy",
            np.geterr,
            lambda old: np.seterr(**old),
            "use `with numpy.errstate(…)`",
        ),
        _State(_ENVIRONMENT, lambda: {**os.environ}, _set_variables, "pass options instead"),
        _State("the table of signal handlers", _handlers, _set_handlers, "handle no signals"),
    ]
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "get_rng_state"):
        return states
    for name, read, write, advice in _TORCHS:
        first = {"default type": torch.float32, "default device": torch.device("cpu")}.get(name)
        first = name == "grad mode" if name in ("grad mode", "determinism") else first
        functions = attrgetter(read)(torch), attrgetter(write)(torch)
        if name == "default device":  # naming the CPU would slow all that follows
            functions = functions[0], lambda _: torch.set_default_device(None)
        states.append(_State(f"the {name} of torch", *functions, advice, first))
    draws, cudnn = torch.get_rng_state, torch.backends.cudnn
    states.append(_State(_DRAWS, lambda: bytes(draws().numpy()), None, "seed it in fit() alone"))
    settings, flags = partial(_settings, cudnn), partial(_set_settings, cudnn)
    return [*states, _State("the table torch.backends.cudnn", settings, flags, "use its flags(…)")]


def _set_variables(before: Mapping[str, str]) -> None:
    for name in {*os.environ} - {*before}:
        del os.environ[name]
    os.environ.update(before)


def _handlers() -> dict[signal.Signals, Any]:
    return {number: signal.getsignal(number) for number in signal.Signals}


def _set_handlers(before: Mapping[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) != handler:
            signal.signal(number, handler)


def _settings(cudnn: Any) -> dict[str, bool]:
    return {name: getattr(cudnn, name) for name in _CUDNN}


def _set_settings(cudnn: Any, before: Mapping[str, bool]) -> None:
    for name, value in before.items():
        setattr(cudnn, name, value)
