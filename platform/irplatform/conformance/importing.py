"""What a plugin changes of a process when it is imported and registers, tried in one of its own."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pluggy

from irplatform import stdout
from irplatform.conformance.process import Watch, set_environment
from irplatform.plugin import Hooks
from irplatform.registry import GROUP
from irplatform.registry.contribution import Contribution
from irplatform.registry.entry_points import entry_points
from irplatform.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from irplatform.registry import Plugin


_HEAVY = (
    *("torch", "transformers", "sentence_transformers", "tensorflow", "jax", "spacy", "gensim"),
    *("pandas", "sklearn", "pyserini", "jnius", "nltk", "lightgbm"),
)
"""Packages that take long to import, from a second to a quarter of a minute."""


@contextmanager
def importing(
    plugin: Plugin, environment: Mapping[str, str]
) -> Iterator[Callable[[], tuple[list[str], list[str]]]]:
    """Import a plugin that can be loaded in a process of its own, while this one works.

    Args:
        plugin: the plugin, which this process has loaded.
        environment: `os.environ` before it did.

    Yields:
        What waits for the end, and returns what the plugin changes meanwhile, each in a line; and
        remarks.
    """
    with Workers(_changes, 1) as workers:
        workers.give(0, (plugin, environment))
        yield workers.result


def _changes(
    plugin_and_environment: tuple[Plugin, Mapping[str, str]],
) -> tuple[list[str], list[str]]:
    plugin, environment = plugin_and_environment
    set_environment(environment)
    (entry_point, *_) = (
        point
        for point in entry_points()
        if point.name == plugin.name
        and (point.dist is None or point.dist.name == plugin.distribution)
    )
    watch = Watch()
    before = {*sys.modules}
    with stdout.to_stderr():
        with watch.during("its import"):
            module = entry_point.load()
        heavy = [name for name in _HEAVY if name in sys.modules and name not in before]
        # Once more: what its libraries change when they are first imported is done by then.
        package = entry_point.module.partition(".")[0]
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
        with suppress(Exception), watch.during("its import", again=True):
            module = entry_point.load()
        manager = pluggy.PluginManager(GROUP)
        manager.add_hookspecs(Hooks)
        manager.register(module, name=str(plugin))
        for again in (False, True):
            with watch.during("its registration", again=again):
                Contribution(plugin).collect(manager)
    if not heavy:
        return watch.told, []
    remark = (
        f"its import loads {', '.join(heavy)}, which every command waits for: import that inside "
        "the functions that need it"
    )
    return watch.told, [remark]
