"""From names and settings to retrievers and rerankers with their options."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from irplatform.console import notice
from irplatform.errors import InputError, unknown
from irplatform.reranking.splits import MEMBERS
from irplatform.reranking.systems import RerankerChoice
from irplatform.retrieval.first_stage import RetrieverChoice

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from irplatform.collections import Collection
    from irplatform.registry import Registration, Registry

_EXPANDED_FIELDS = ("disease", "gene")
"""The fields that expanded queries are made of by default."""


def choose_systems(
    registry: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
    preset: str | None = None,
    members: int = MEMBERS,
) -> tuple[list[RetrieverChoice], list[RerankerChoice]]:
    """Resolve names, and give every option to the systems that have it.

    Args:
        registry: the installed plugins.
        retrievers: names.
        rerankers: names.
        settings: option to value; "delta.filters" sets an option of `delta` alone, and
            "loop.epochs" a part of the option `loop`.
        preset: the name of settings that rerankers bring, which take the place of the defaults of
            every reranker that has some under this name; `settings` take precedence over them.
        members: how many models of a reranker that learns are trained and averaged.

    Raises:
        InputError: an unknown name, an option that none of the systems has, a wrong value, or a
            preset that no reranker has.
    """
    for kind, names in (("retriever", retrievers), ("reranker", rerankers)):
        if twice := next((n for n in names if list(names).count(n) > 1), None):
            raise InputError(f"{kind} '{twice}' is named twice.")
    chosen: list[Registration[Any]] = [
        *(registry.retriever(name) for name in retrievers),
        *(registry.reranker(name) for name in rerankers),
    ]
    if preset is not None:
        check_preset(preset, chosen[len(retrievers) :])
    # By place: a retriever and a reranker may have the same name.
    given = [
        _settings_of(
            registration,
            _with_preset(registration, settings, preset),
            {option for r in chosen if r.name == registration.name for option in r.option_names()},
        )
        for registration in chosen
    ]
    for key in settings:
        if not any(key in used for used, _ in given):
            raise unknown_option(key, chosen, registry)
    made = [
        (registration, registration.options(values))
        for registration, (_, values) in zip(chosen, given, strict=True)
    ]
    count = len(retrievers)
    found = [RetrieverChoice(registration, options) for registration, options in made[:count]]
    second = [
        RerankerChoice(registration, options, members) for registration, options in made[count:]
    ]
    return found, told_of_expansion(second, found)


def told_of_expansion(
    rerankers: Sequence[RerankerChoice], retrievers: Sequence[RetrieverChoice]
) -> list[RerankerChoice]:
    """The rerankers, told which knowledge bases queries are expanded with."""
    bases = next((held for c in retrievers if (held := getattr(c.options, "expand", ()))), ())
    return [choice.expanding(tuple(bases)) for choice in rerankers]


def with_expansion_of(
    collection: Collection,
    registry: Registry,
    retrievers: Sequence[str],
    settings: Mapping[str, object],
) -> dict[str, object]:
    """Settings, and beneath them how the collection wants its queries expanded.

    Args:
        collection: what is searched.
        registry: the installed plugins.
        retrievers: names; those that cannot expand queries search as usual.
        settings: what the user said; `expand` or `plan` of a retriever take the place of the
            collection's, and parts of a plan (`bm25.plan.gene.weight`) go into it.

    Raises:
        InputError: the collection names a knowledge base that is not installed.
    """
    wanted: dict[str, object] = {}  # first, so that parts of a plan are set within it
    for name in retrievers:
        if "expand" not in registry.retriever(name).option_names():
            continue
        said = [settings[key] for key in ("expand", f"{name}.expand") if key in settings]
        if not said and collection.expand:
            _check_installed(collection)
            wanted[f"{name}.expand"] = list(collection.expand)
        expands = said[-1] if said else collection.expand
        if expands and collection.plan and not {"plan", f"{name}.plan"} & settings.keys():
            wanted[f"{name}.plan"] = dict(collection.plan)
    return {**wanted, **settings}


def expanded_for(
    rerankers: Sequence[RerankerChoice],
    retrievers: Sequence[RetrieverChoice],
    collection: Collection,
    given: Mapping[str, object],
) -> list[RetrieverChoice]:
    """The retrievers, told to expand queries where the rerankers are made for that.

    One that is not made for it has the first stage that it would have alone: then nothing is
    expanded, and a notice says so.

    Args:
        rerankers: what reranks.
        retrievers: the first stage.
        collection: what is searched.
        given: the settings that they were chosen by; who says `expand` there is obeyed.
    """
    from irplatform.knowledge import all_installed

    made_for = [choice.name for choice in rerankers if choice.wants_expansion]
    undecided = {
        choice.name
        for choice in retrievers
        if "expand" in choice.registration.option_names()
        and not {"expand", f"{choice.name}.expand"} & given.keys()
    }
    bases = all_installed() if made_for and undecided else ()
    if not bases or not any(
        topic.fields.get(name) for topic in collection.load_topics() for name in _EXPANDED_FIELDS
    ):
        return list(retrievers)
    if len(made_for) < len(rerankers):
        others = ", ".join(c.name for c in rerankers if not c.wants_expansion)
        notice(
            f"{', '.join(made_for)}: made for expanded queries, but {others} would have another "
            "first stage then. --expand KB,… expands them for all, --expand none for none."
        )
        return list(retrievers)
    notice(
        f"{', '.join(made_for)}: queries are expanded with {', '.join(bases)}. "
        "--expand KB,… chooses others, --expand none searches the topics' words."
    )
    return [
        replace(choice, options=choice.options.model_copy(update={"expand": bases}))
        if choice.name in undecided
        else choice
        for choice in retrievers
    ]


def refuse_idle_plan(
    retrievers: Sequence[RetrieverChoice],
    rerankers: Sequence[RerankerChoice],
    given: Iterable[str],
) -> None:
    """See that a query plan is set only where queries are expanded.

    Args:
        retrievers: the first stage, told what to expand queries with.
        rerankers: what reranks; an option `plan` of theirs is another one.
        given: names of settings.

    Raises:
        InputError: none of the retrievers that a part of the plan is for expands queries.
    """
    able = [c for c in retrievers if {"expand", "plan"} <= set(c.registration.option_names())]
    shared = not any("plan" in choice.registration.option_names() for choice in rerankers)
    for key in given:
        meant = [
            choice
            for choice in able
            if f"{key}.".startswith(f"{choice.name}.plan.")
            or (shared and f"{key}.".startswith("plan."))
        ]
        if meant and not any(getattr(choice.options, "expand", ()) for choice in meant):
            raise InputError(f"'{key}' has no effect without --expand KB,….")


def _check_installed(collection: Collection) -> None:
    from irplatform.knowledge import open_knowledge

    try:
        open_knowledge(collection.expand)
    except InputError as error:
        raise InputError(f"'{collection.id}' wants its queries expanded: {error}") from error


def check_preset(preset: str, chosen: Sequence[Registration[Any]]) -> None:
    """See that a preset has an effect.

    Raises:
        InputError: none of the rerankers has it.
    """
    if any(preset in registration.presets for registration in chosen):
        return
    known = sorted({name for registration in chosen for name in registration.presets})
    systems = ", ".join(registration.name for registration in chosen) or "a run without rerankers"
    if not known:
        raise InputError(f"--preset {preset} has no effect: {systems} has no presets.")
    raise unknown("preset", preset, known, of=systems)


def _with_preset(
    registration: Registration[Any], settings: Mapping[str, object], preset: str | None
) -> dict[str, object]:
    """A preset's settings for one reranker, beneath those that were given."""
    if preset is None or preset not in registration.presets:
        return dict(settings)
    prefix = f"{registration.name}."
    own = {key.removeprefix(prefix) for key in settings}
    brought = {
        prefix + key: value
        for key, value in flat(registration.presets[preset]).items()
        if not any(key == set_ or key.startswith(f"{set_}.") for set_ in own)
    }
    return {**brought, **settings}


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Nested settings by their full names: `{"loop": {"epochs": 3}}` is `{"loop.epochs": 3}`."""
    found: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found.update(flat(value, f"{prefix}{name}."))
        else:
            found[prefix + name] = value
    return found


def _settings_of(
    registration: Registration[Any], settings: Mapping[str, object], of_name: Container[str] = ()
) -> tuple[set[str], dict[str, object]]:
    """The settings that a system takes: which keys were used, and the nested values.

    Args:
        registration: the system.
        settings: all that were given.
        of_name: options of all systems with its name, which are left to those that have them.
    """
    used: set[str] = set()
    values: dict[str, Any] = {}
    names = set(registration.option_names())
    for key, value in settings.items():
        path = key.split(".")
        if path[0] == registration.name and path[0] not in names:
            path = path[1:]
        named = key.startswith(f"{registration.name}.")
        if path and (path[0] in names or (named and path[0] not in of_name)):
            used.add(key)
            place = values
            for part in path[:-1]:
                inner = place.setdefault(part, _base(registration, part))
                if not isinstance(inner, dict):
                    raise InputError(f"'{part}' cannot be set both as a whole and by '{key}'.")
                place = inner
            unset = value == "none" and _takes_none(registration.system.Options, path)
            place[path[-1]] = None if unset else deepcopy(value)  # parts of it may be set below
    return used, values


def unknown_option(name: str, chosen: Sequence[Registration[Any]], plugins: Registry) -> InputError:
    """An error for an option that none of some systems has.

    It names the nearest, and where all are; or says that the system it is meant for is not chosen.
    """
    system, dot, _ = name.partition(".")
    if dot and system not in {registration.name for registration in chosen}:
        tables: dict[str, Container[str]] = {
            "retriever": plugins.retrievers,
            "reranker": plugins.rerankers,
        }
        if kinds := [kind for kind, table in tables.items() if system in table]:
            return InputError(
                f"'{name}' has no effect: the {' or '.join(kinds)} '{system}' is not in this run."
            )
    known = {option for registration in chosen for option in registration.setting_names()}
    systems = ", ".join(registration.name for registration in chosen)
    listed = " or ".join(f"`platform {r.kind}s show {r.name}`" for r in chosen)
    return unknown("option", name, known, of=systems, hint=f"All are listed by {listed}.")


def _takes_none(options: Any, path: Sequence[str]) -> bool:
    """Whether an option may be unset, and "none" is no value of it."""
    for part in path:
        declared = getattr(options, "model_fields", {}).get(part)
        if declared is None:
            return False
        options = declared.annotation
    return type(None) in get_args(options) and not any(
        "none" in get_args(member) for member in get_args(options)
    )


def _base(registration: Registration[Any], option: str) -> dict[str, Any]:
    """The present values of an option that has parts, to change some of them.

    What is as in its class is left out, so that an option knows which of its parts were set.
    """
    if option not in registration.system.Options.model_fields:
        return {}
    held = getattr(registration.options({}), option)
    return dict(held.model_dump(exclude_unset=True)) if hasattr(held, "model_dump") else {}
