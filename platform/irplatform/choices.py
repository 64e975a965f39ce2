"""From names and settings to retrievers and rerankers with their options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, unknown
from irplatform.reranking.systems import RerankerChoice
from irplatform.retrieval.first_stage import RetrieverChoice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.registry import Registration, Registry


def choose_systems(
    registry: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
) -> tuple[list[RetrieverChoice], list[RerankerChoice]]:
    """Resolve names, and give every option to the systems that have it.

    Args:
        registry: the installed plugins.
        retrievers: names.
        rerankers: names.
        settings: option to value; "delta.filters" sets an option of `delta` alone, and
            "loop.epochs" a part of the option `loop`.

    Raises:
        InputError: an unknown name, an option that none of the systems has, a wrong value.
    """
    for kind, names in (("retriever", retrievers), ("reranker", rerankers)):
        if twice := next((n for n in names if list(names).count(n) > 1), None):
            raise InputError(f"{kind} '{twice}' is named twice.")
    chosen: list[Registration[Any]] = [
        *(registry.retriever(name) for name in retrievers),
        *(registry.reranker(name) for name in rerankers),
    ]
    given = {registration.name: _settings_of(registration, settings) for registration in chosen}
    for key in settings:
        if not any(key in used for used, _ in given.values()):
            known = {name for registration in chosen for name in registration.setting_names()}
            raise unknown(f"option of {', '.join(given)}", key, known)
    made = [
        (registration, registration.options(given[registration.name][1])) for registration in chosen
    ]
    count = len(retrievers)
    return (
        [RetrieverChoice(registration, options) for registration, options in made[:count]],
        [RerankerChoice(registration, options) for registration, options in made[count:]],
    )


def _settings_of(
    registration: Registration[Any], settings: Mapping[str, object]
) -> tuple[set[str], dict[str, object]]:
    """The settings that a system takes: which keys were used, and the nested values."""
    used: set[str] = set()
    values: dict[str, Any] = {}
    names = set(registration.option_names())
    for key, value in settings.items():
        path = key.split(".")
        if path[0] == registration.name and path[0] not in names:
            path = path[1:]
        if path and (path[0] in names or key.startswith(f"{registration.name}.")):
            used.add(key)
            place = values
            for part in path[:-1]:
                inner = place.setdefault(part, _base(registration, part))
                if not isinstance(inner, dict):
                    raise InputError(f"'{part}' cannot be set both as a whole and by '{key}'.")
                place = inner
            place[path[-1]] = value
    return used, values


def _base(registration: Registration[Any], option: str) -> dict[str, Any]:
    """The present values of an option that has parts, to change some of them."""
    if option not in registration.system.Options.model_fields:
        return {}
    held = getattr(registration.options({}), option)
    return dict(held.model_dump()) if hasattr(held, "model_dump") else {}
