"""The registry: everything that plugins registered, by name; it also calls their other hooks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pluggy

from irplatform.errors import InputError, nearest, show_traceback, unknown
from irplatform.files.code_digests import GROUP
from irplatform.registry.plugin_calls import with_place
from irplatform.registry.register_hooks import Tables
from irplatform.spelling import option
from irplatform.system.console import notice
from irplatform.system.process import is_interruption, isolated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import click

    from irplatform.data import Collection
    from irplatform.plugin.features import FeatureGroup
    from irplatform.plugin.hooks import RunEvent
    from irplatform.plugin.judges import Judge
    from irplatform.plugin.rerankers import Reranker
    from irplatform.plugin.retrievers import Retriever
    from irplatform.registry.registration import Plugin, Registration, System


_COMMANDS = {
    "reranker": "rerankers",
    "retriever": "retrievers",
    "feature group": "features",
    "judge": "judges",
}


@dataclass
class Registry(Tables):
    """Everything that the installed plugins registered.

    Attributes:
        plugins: all plugins, broken ones too.
        manager: the hooks of all others.
    """

    plugins: list[Plugin] = field(default_factory=list)
    manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(GROUP))

    @property
    def broken(self) -> list[Plugin]:
        """The plugins that cannot be used."""
        return [plugin for plugin in self.plugins if plugin.error]

    def reranker(self, name: str) -> Registration[Reranker]:
        """Return the reranker of a name; InputError if it is unknown."""
        return self._find("reranker", self.rerankers, name)

    def retriever(self, name: str) -> Registration[Retriever]:
        """Return the retriever of a name; InputError if it is unknown."""
        return self._find("retriever", self.retrievers, name)

    def feature_group(self, name: str) -> Registration[FeatureGroup]:
        """Return the feature group of a name; InputError if it is unknown."""
        return self._find("feature group", self.features, name)

    def judge(self, name: str) -> Registration[Judge]:
        """Return the judge of a name; InputError if it is unknown."""
        return self._find("judge", self.judges, name)

    def collection(self, name: str, *, also: Sequence[str] = ()) -> Collection:
        """Return the collection of a name, path or ir_datasets id.

        `also` has other words that the user may give; an error lists them.
        """
        from irplatform.collections.names import resolve

        return resolve(name, self.collections, also)

    def documents_of(self, name: str) -> Collection:
        """Return a collection whose documents alone are needed; a folder's split may be missing."""
        from irplatform.collections.names import documents_of

        return documents_of(name, self.collections)

    def _find(
        self, kind: str, table: Mapping[str, Registration[System]], name: str
    ) -> Registration[System]:
        if name in table:
            return table[name]
        for other, setting, others in (
            ("reranker", "rerankers", self.rerankers),
            ("retriever", "first_stages", self.retrievers),
        ):
            if name in others:
                raise InputError(
                    f"'{name}' is a {other}, not a {kind}: name it with {option(setting)}, or in "
                    f"`platform {other}s show {name}`."
                )
        failures = "; ".join(
            f"{plugin} could not be loaded: {plugin.error}"
            if plugin.error
            else f"{plugin}: {plugin.wrong}"
            for plugin in self.plugins
            if plugin.error or plugin.wrong
        )
        list_command = "" if nearest(name, table) else f"`platform {_COMMANDS[kind]} list`."
        raise unknown(kind, name, table, hint=" ".join(filter(None, [list_command, failures])))

    def implementations(self, hook: str, plugin: Plugin) -> list[pluggy.HookImpl]:
        """Return a plugin's functions for a hook."""
        implementations = getattr(self.manager.hook, hook).get_hookimpls()
        return [
            implementation
            for implementation in implementations
            if implementation.plugin_name == str(plugin)
        ]

    def announce(self, event: str, details: RunEvent) -> None:
        """Call a life-cycle hook of every plugin, in pluggy's order (last registered first)."""
        for implementation in reversed(getattr(self.manager.hook, event).get_hookimpls()):
            _call(implementation, event, details)

    def add_commands(self, cli: click.Group) -> None:
        """Let plugins add commands; `plugins` then lists them, or the failure."""
        hook = "register_commands"
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():
            before = {**cli.commands}
            failure = _call(implementation, hook, cli)
            if conflicts := [name for name in before if cli.commands.get(name) is not before[name]]:
                cli.commands.update(before)
                failure = f"{hook} failed: there is a command '{conflicts[0]}' already"
                notice(f"{implementation.plugin_name}: {failure}")
            added = tuple(f"command {name}" for name in cli.commands if name not in before)
            self.plugins = [
                replace(plugin, provides=plugin.provides + added, failed=failure)
                if str(plugin) == implementation.plugin_name
                else plugin
                for plugin in self.plugins
            ]


def _call(implementation: pluggy.HookImpl, hook: str, argument: object) -> str:
    """Call a hook of a plugin; show and return its failure, or return ""."""
    try:
        with isolated():
            implementation.function(*[argument][: len(implementation.argnames)])
    except BaseException as error:
        if is_interruption(error):
            raise
        show_traceback(error)
        failure = f"{hook} failed: {with_place(error, implementation.function.__module__)}"
        notice(f"{implementation.plugin_name}: {failure}")
        return failure
    return ""
