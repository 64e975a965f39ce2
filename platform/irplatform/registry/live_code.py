"""Digests of code and objects of this Python session, such as a class in a notebook.

Code counts as it is loaded: the instructions of functions, all that they read from their modules
(other functions, constants, models), closures and defaults. What comes with an installed package
counts by its version. An object whose content cannot be read makes results that are not kept.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import pickle
import sys
import uuid
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from irplatform.files.code_digests import (
    distribution_of,
    module_of,
    package_files,
    source_digest,
    top_package,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_OWN = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__annotate_func__"}
    | {"__firstlineno__", "__static_attributes__", "__qualname__", "__abstractmethods__"}
    | {"__annotate__", "__annotations_cache__", "_abc_impl"}
)
"""Attributes of a class that change no result."""
_READ = ("LOAD_GLOBAL", "LOAD_NAME")


class _Walk:
    """Feeds a digest with all that an object is made of; `unread` are the objects that hide it.

    With `code_only`, data count by their classes.
    """

    def __init__(self, *, code_only: bool = False) -> None:
        self._code_only = code_only
        self._digest = hashlib.sha256(f"Python {sys.version_info[:2]}".encode())
        self._objects: dict[int, object] = {}
        self.unread: dict[str, str] = {}

    def hexdigest(self) -> str:
        return self._digest.hexdigest()[:16]

    def _add(self, *parts: object) -> None:
        self._digest.update("\0".join(map(str, parts)).encode(errors="surrogatepass") + b"\1")

    def value(self, value: Any, name: str) -> None:
        if isinstance(value, _PLAIN) and not isinstance(value, Enum):
            self._add(type(value).__name__, repr(value))
            return
        if id(value) in self._objects:
            self._add("again", list(self._objects).index(id(value)))
            return
        self._objects[id(value)] = value  # held, so that no other object gets its id
        if isinstance(value, ModuleType):
            self._module(value.__name__)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, BuiltinFunctionType):
            self._add(value.__module__, value.__qualname__)
        elif (inner := _within(value)) is not None:
            self.value(inner, name)
        else:
            self._data(value, name)

    def _data(self, value: Any, name: str) -> None:
        self._add(type(value).__qualname__)
        if isinstance(value, Path):
            self._path(value)
        elif isinstance(value, BaseModel):
            self.value(dict(value), name)
        elif isinstance(value, Mapping):
            for key, entry in value.items():
                self.value(key, name)
                self.value(entry, f"{name}.{key}")
        elif isinstance(value, Set):
            self._add(*sorted(map(repr, value)))
        elif isinstance(value, Sequence):
            for entry in value:
                self.value(entry, name)
        else:
            self._object(value, name)

    def _object(self, value: Any, name: str) -> None:
        """Any other object: its class, and its content as it would be sent to another process."""
        self.value(type(value), name)
        if self._code_only:
            return
        try:
            content = pickle.dumps(value, protocol=4)
        except Exception:
            self.unread.setdefault(name, type(value).__name__)
            return
        self._digest.update(hashlib.sha256(content).digest())

    def _path(self, path: Path) -> None:
        from irplatform.files.digests import digest, folder_digests

        self._add(path)
        if path.is_dir():
            self._add(*sorted(folder_digests(path).items()))
        elif path.is_file():
            self._add(digest(path))

    def _module(self, name: str) -> None:
        self._add("module", name, distribution_of(name) or "")

    def _class(self, kind: type) -> None:
        self._add("class", kind.__module__, kind.__qualname__)
        if (brought_by := distribution_of(kind.__module__)) is not None:
            self._add(brought_by)
            return
        for base in kind.__bases__:
            self.value(base, base.__name__)
        of_options = issubclass(kind, BaseModel)  # the values of options are recorded
        for name, value in sorted(vars(kind).items()):
            if name not in _OWN and not (of_options and name.startswith(("__", "model_"))):
                self._add(name)
                self.value(value, f"{kind.__name__}.{name}")

    def _function(self, function: FunctionType) -> None:
        if (brought_by := distribution_of(function.__module__)) is not None:
            self._add(function.__module__, function.__qualname__, brought_by)
            return
        self._code(function.__code__)
        self.value(function.__defaults__, function.__name__)
        self.value(function.__kwdefaults__, function.__name__)
        for cell in function.__closure__ or ():
            try:
                self.value(cell.cell_contents, function.__name__)
            except ValueError:  # empty until its variable is assigned
                continue
        for name in sorted(_variables(function.__code__)):
            if name in function.__globals__:
                self._add(name)
                self._global(function.__globals__[name], name, function.__code__)

    def _global(self, value: Any, name: str, code: CodeType) -> None:
        """A variable of a module; of a module without a package, all that the code may read."""
        if isinstance(value, ModuleType) and distribution_of(value.__name__) is None:
            self._add("module", value.__name__)
            for attribute in sorted(_names(code)):
                if attribute in vars(value):
                    self.value(vars(value)[attribute], f"{name}.{attribute}")
            return
        self.value(value, name)

    def _code(self, code: CodeType) -> None:
        self._add(code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            elif isinstance(constant, frozenset):
                self._add(*sorted(map(repr, constant)))
            else:
                self._add(repr(constant))


def _within(value: Any) -> Any:
    """The functions, and what is bound to them, in methods, partials, properties and the like."""
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    if isinstance(value, property):
        return value.fget, value.fset
    if isinstance(value, functools.cached_property):
        return value.func
    return getattr(value, "__wrapped__", None)  # functools.cache


def _variables(code: CodeType) -> set[str]:
    """Variables of the module that code and the functions in it read."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in _READ}
    return names.union(*map(_variables, _inner(code)))


def _names(code: CodeType) -> set[str]:
    """Names of variables and attributes that code and the functions in it read."""
    return {*code.co_names}.union(*map(_names, _inner(code)))


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


_calls = [0]
_SESSION = uuid.uuid4().hex


def new_call() -> None:
    """Begin a call of a function of Python's interface, which finds no result of objects unread."""
    _calls[0] += 1


def this_call() -> int:
    """Return the number of the call; digests of a system are made once in each."""
    return _calls[0]


def live_digest(*values: object, name: str = "") -> tuple[str, str]:
    """Return a digest of classes, functions and objects, and the objects that could not be read.

    These are text, such as "model (Lock)", or "". The digest is then another one in each call of
    Python's interface, so that nothing made with it is taken from the cache.

    >>> live_digest(1) == live_digest(1), live_digest(1) == live_digest(2)
    (True, False)
    """
    walk = _Walk()
    for value in values:
        walk.value(value, name or getattr(value, "__name__", "object"))
    unread = ", ".join(f"{place} ({kind})" for place, kind in walk.unread.items())
    digest = walk.hexdigest()
    if unread:
        digest = hashlib.sha256(f"{digest} {_SESSION} {_calls[0]}".encode()).hexdigest()[:16]
    return digest, unread


def code_digest(function: object) -> str:
    """Return a digest of a function's code; data that it holds count by their classes."""
    walk = _Walk(code_only=True)
    walk.value(function, "function")
    return walk.hexdigest()


def function_digest(function: Callable[..., object]) -> str:
    """Return a digest of the distribution of a function; of its code if it is of this session."""
    module = module_of(function)
    if distribution_of(module) is not None or package_files(top_package(module)):
        return source_digest(module)
    return code_digest(function)
