"""Plugins of a Python session: systems, collections and measures that a program or a file adds.

They are found by their names like those of installed plugins, whose names they cannot take. A name
that is registered again, as when a cell of a notebook runs again, names the newer thing.
"""

from __future__ import annotations

import inspect
import re
import sys
from contextlib import suppress
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.data import Collection
from irplatform.errors import InputError, PluginError, sentence
from irplatform.plugin.rerankers import Reranker
from irplatform.registry.class_checks import BASES
from irplatform.registry.loading import check_hooks, discard, marked, registry, unmarked
from irplatform.registry.plugin_calls import with_place
from irplatform.registry.register_hooks import Contribution
from irplatform.registry.registration import Plugin
from irplatform.run_folder.resuming import SESSION
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Self

    from irplatform.plugin.declarations import Declared

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Registered:
    """What `register` and `load_plugin` added: a context that removes it again at its end.

    Attributes:
        names: what was registered, such as "reranker my-ranker".
    """

    def __init__(self, owner: Plugin, plugin: Plugin) -> None:
        self._owner = owner
        self._plugin = plugin
        self.names = plugin.provides

    def remove(self) -> None:
        """Remove what was registered, unless something newer has its name."""
        plugin_registry = registry()
        for provided in self._plugin.provides:
            if plugin_registry.owners.get(provided) is self._owner:
                plugin_registry.drop(provided)
        if plugin_registry.manager.has_plugin(str(self._plugin)):
            plugin_registry.manager.unregister(name=str(self._plugin))
        plugin_registry.plugins[:] = [
            plugin for plugin in plugin_registry.plugins if plugin is not self._plugin
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"registered: {', '.join(self.names)}"


def register(name: str, thing: Any, /, **options: object) -> Registered:
    """Give something of this program a name, so that it is used like that of a plugin.

    Args:
        name: in lower-case letters, digits, '-', '_' and '.'.
        thing: a class of rerankers, retrievers or feature groups, or an object of one; a
            `Collection`, or a function that returns one; or a measure, a function of judgments
            and a run that returns topic to value.
        options: defaults of the options of a system.

    Returns:
        What is registered. It stays until the program ends or its `remove()` is called; in a
        `with` statement, to the end of the block.

    Raises:
        InputError: the name is an installed plugin's, or the thing cannot be used.

    Examples:
        >>> import irplatform as ir
        >>> class Longest(ir.Reranker):
        ...     '''Ranks longer documents first.'''
        ...     def score(self, topic, documents):
        ...         return [len(document.text) for document in documents]
        >>> with ir.register("longest", Longest):
        ...     ir.reranker("longest").score("melanoma", ["BRAF in melanoma", "BRAF"])
        [16.0, 4.0]
    """
    plugin = Plugin(str(name), SESSION, "", installed=False)
    contribution = Contribution(plugin)
    system = thing if isinstance(thing, type) else type(thing)
    try:
        if (kind := _kind(system)) and isinstance(thing, type):
            contribution.add_system(kind, name, system, options)
        elif kind:
            instance = thing if {*vars(thing)} - {"options"} else None
            contribution.add_system(kind, name, system, {**_options_of(thing), **options}, instance)
        elif isinstance(thing, Collection):
            contribution.hooks["register_collections"](name, lambda: thing, title=thing.title)
        elif isinstance(thing, type) or not callable(thing):
            raise PluginError(
                f"'{name}' is {thing!r}, not a reranker, retriever, feature group, collection or "
                "measure"
            )
        elif _takes_nothing(thing):
            contribution.hooks["register_collections"](name, thing, title=str(name))
        else:
            contribution.hooks["register_measures"](name, thing)
        return Registered(plugin, _replace(contribution, plugin))
    except PluginError as error:
        raise InputError(sentence(str(error))) from error


def load_plugin(path: Path | str) -> Registered:
    r"""Load a plugin from a Python file, without a package.

    Args:
        path: a file with hooks, as in a package; or with classes of rerankers, retrievers and
            feature groups, which are then named after their classes: `MyRanker` is `my-ranker`.

    Raises:
        InputError: there is no such file, it fails, or it has nothing to register.

    Examples:
        >>> import irplatform as ir, pathlib
        >>> code = "from irplatform import Reranker\nclass Same(Reranker):\n"
        >>> code += "    def score(self, topic, documents):\n        return [0] * len(documents)\n"
        >>> _ = pathlib.Path("same.py").write_text(code)
        >>> ir.load_plugin("same.py")
        registered: reranker same
    """
    from irplatform.files.digests import digest

    path = Path(path).expanduser()
    if not path.is_file():
        raise InputError("there is no such file of a plugin.", path=path)
    mark = digest(path)[:16]
    plugin = Plugin(path.stem, path.name, "", installed=False, source=mark, file=path.absolute())
    contribution = Contribution(plugin)
    manager = registry().manager
    if manager.has_plugin(str(plugin)):
        manager.unregister(name=str(plugin))
    name = f"irplatform_file_{re.sub(r'[^0-9a-zA-Z_]', '_', path.stem)}"
    try:
        with isolated():
            module = _imported(name, path)
            check_hooks(manager, module)
            if [*marked(manager, module)]:
                manager.register(module, name=str(plugin))
                contribution.collect(manager)
            else:
                _register_classes(module, contribution)
            forgotten = unmarked(manager, module)
        if forgotten:
            raise PluginError(f"{' and '.join(forgotten)} will not be called without @hookimpl")
        if not contribution.provides:
            raise PluginError("it has no hooks, and no class of a reranker or retriever")
        return Registered(plugin, _replace(contribution, plugin))
    except BaseException as error:
        discard(manager, plugin, error)
        raise InputError(
            sentence(f"this plugin cannot be used: {with_place(error, name)}"), path=path
        ) from error


def registered_as(thing: Any) -> str:
    """Return the name that a class or an object of a system has, or would get."""
    system = thing if isinstance(thing, type) else type(thing)
    plugin_registry = registry()
    table = (
        plugin_registry.rerankers if issubclass(system, Reranker) else plugin_registry.retrievers
    )
    if isinstance(thing, type):
        for name, registration in table.items():
            if registration.declared in (thing, f"{thing.__module__}:{thing.__qualname__}"):
                return name
    return name_of(system)


def register_system(thing: Any, label: str = "") -> str:
    """Register a class or an object of a reranker or retriever, and return its name.

    Raises:
        InputError: an installed plugin has the name, or the class is wrong.
    """
    name = label or registered_as(thing)
    kind, plugin_registry = _kind(thing if isinstance(thing, type) else type(thing)), registry()
    owner = plugin_registry.owners.get(f"{kind} {name}")
    if not (isinstance(thing, type) and owner is not None and owner.installed and not label):
        register(name, thing)
    return name


def name_of(system: type) -> str:
    """Return the name that a class gets: that of `MyBM25Ranker` is "my-bm25-ranker".

    >>> name_of(type("MyBM25Ranker", (), {}))
    'my-bm25-ranker'
    """
    return _WORD.sub("-", system.__name__.strip("_")).replace("_", "-").lower()


def _options_of(instance: Declared) -> dict[str, object]:
    """The options that an object was made with."""
    options = getattr(instance, "options", None)
    return {} if options is None else {n: getattr(options, n) for n in options.model_fields_set}


def _kind(system: type) -> str:
    return next((kind for kind, base in BASES.items() if issubclass(system, base)), "")


def _takes_nothing(function: Callable[..., Any]) -> bool:
    """Tell a function that loads a collection from a measure, which takes judgments and a run."""
    with suppress(TypeError, ValueError):
        return not inspect.signature(function).parameters
    return False


def _imported(name: str, path: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError("it is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _register_classes(module: ModuleType, contribution: Contribution) -> None:
    """Register the classes of systems that a module defines, under names made of theirs."""
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    for system in classes:
        of_module = system.__module__ == module.__name__ and not system.__name__.startswith("_")
        if of_module and (kind := _kind(system)):
            contribution.add_system(kind, name_of(system), system, {})


def _replace(contribution: Contribution, plugin: Plugin) -> Plugin:
    """Add what a plugin registers, in place of what the session registered under these names."""
    plugin_registry = registry()
    for provided in contribution.provides:
        owner = plugin_registry.owners.get(provided)
        if owner is not None and not owner.installed:
            plugin_registry.drop(provided)
    plugin_registry.add(contribution.tables)
    plugin_registry.plugins[:] = [
        p for p in plugin_registry.plugins if p.installed or p.name != plugin.name
    ]
    plugin = replace(plugin, provides=tuple(contribution.provides))
    plugin_registry.plugins.append(plugin)
    return plugin
