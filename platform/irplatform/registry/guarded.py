"""Functions that plugins register, guarded: what goes wrong inside of them names the plugin.

Systems have a `Registration`, whose users put the guard where they call them; collections,
measures and formats are plain functions, called far from the registry.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from irplatform.errors import PluginError, quoted
from irplatform.registry.plugin_calls import plugin_call
from irplatform.registry.sources import module_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.collections import Collection
    from irplatform.knowledge import Format
    from irplatform.registry.registration import Plugin
    from irplatform.runs import Run

    Measure = Callable[[Mapping[str, Mapping[str, float]], Run], Mapping[str, float]]


def guarded_collection(
    name: str, load: Callable[[], Collection], plugin: Plugin
) -> Callable[[], Collection]:
    """A function that loads a collection, and names the plugin where it does not."""
    who = f"collection '{name}' of {plugin}"
    module = module_of(load)

    @functools.wraps(load)
    def loaded() -> Collection:
        from irplatform.registry.guarded_collection import Guard

        with plugin_call(who, "being loaded", module, as_told=plugin.ours):
            collection = load()
        return Guard(who, module, plugin.ours).collection(collection)

    loaded.__module__ = module
    return loaded


def guarded_measure(name: str, compute: Measure, plugin: Plugin) -> Measure:
    """A function that computes a measure, and names the plugin where it does not."""
    who = f"measure '{name}' of {plugin}"
    module = module_of(compute)

    @functools.wraps(compute)
    def computed(qrels: Mapping[str, Mapping[str, float]], run: Run) -> Mapping[str, float]:
        judged_topics = list(qrels)
        with plugin_call(who, f"scoring {run.name}", module, as_told=plugin.ours):
            values = compute(qrels, run)
        if not isinstance(values, Mapping):
            raise PluginError(
                f"{who} returned {type(values).__name__}; a mapping of topic to number is needed."
            )
        return {topic: _number(who, topic, values.get(topic)) for topic in judged_topics}

    computed.__module__ = module  # whose source tells one measure from another
    return computed


def guarded_format(name: str, load: Callable[[], Format], plugin: Plugin) -> Callable[[], Format]:
    """A function that returns a format of knowledge bases, and names the plugin where it fails."""
    who = f"knowledge format '{name}' of {plugin}"
    module = module_of(load)

    def loaded() -> Format:
        from irplatform.knowledge import Format

        with plugin_call(who, "being loaded", module, as_told=plugin.ours):
            found = load()
        if not isinstance(found, Format) or found.name != name:
            raise PluginError(f"{who} is {quoted(found)}; a Format of this name is needed.")
        return found

    return loaded


def _number(who: str, topic: str, value: Any) -> float:
    """What a measure gave for a topic.

    Raises:
        PluginError: that is no finite number.
    """
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except Exception:  # whatever it is, it is not a number
        number = math.nan
    if not math.isfinite(number):
        raise PluginError(
            f"{who} gave {quoted(value)} for topic {topic}; a finite number for every judged "
            "topic is needed."
        )
    return number
