"""What a reranker that reads groups of features says of itself without opening them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    from irplatform.plugin import FeatureGroup
    from irplatform.registry import Registration

FEATURES_FORMAT = 2
"""Raise it when a group that comes with the platform computes something else within a version."""


def dependencies(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> Mapping[str, object]:
    """What some groups' features depend on: code, files of options, knowledge bases.

    Of knowledge bases those that the groups which read them name, else all that are installed.

    It belongs in `depends_on`, which is called before any work: what is wrong with names and
    settings is then told before documents are searched.

    Raises:
        InputError: there is no such group, one is named twice, settings are for another one, not
            among its options, or name what there is not.
    """
    from irplatform.knowledge import installed, open_knowledge
    from irplatform.registry import registry

    settings = settings or {}
    check_names(names, settings, among="the features", kind="group of features")
    of_groups: dict[str, object] = {}
    for name in names:
        registration = registry().feature_group(name)
        options = registration.options(settings.get(name, {}))
        of_group = {**registration.code(options), **registration.dependencies(options)}
        if of_group:
            of_groups[name] = of_group
    of_options = [
        settings.get(group.name, {}).get("knowledge")
        for group in _registrations(names)
        if group.system.reads_knowledge
    ]
    knowledge = [list(installed()) if bases is None else list(bases) for bases in of_options]
    marks = sorted({open_knowledge(bases).fingerprint for bases in knowledge if bases})
    return {
        **({"feature_format": FEATURES_FORMAT} if names else {}),
        **({"knowledge": marks[0] if len(marks) == 1 else marks} if marks else {}),
        **({"features": of_groups} if of_groups else {}),
    }


def with_knowledge(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], knowledge: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """The options of some groups, of which those that read knowledge bases are told which.

    Args:
        names: of groups.
        settings: their options, by name; a group whose options say it is left alone.
        knowledge: names of the knowledge bases.
    """
    of_knowledge = {
        group.name: {"knowledge": list(knowledge)}
        for group in _registrations(names)
        if group.system.reads_knowledge and "knowledge" in group.option_names()
    }
    return {
        name: {**of_knowledge.get(name, {}), **settings.get(name, {})}
        for name in (*settings, *(name for name in of_knowledge if name not in settings))
    }


def rerankers_with_knowledge(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], knowledge: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """The options of rerankers whose scores are features, told of knowledge bases likewise."""
    from irplatform.registry import registry

    options = {name: dict(its_options) for name, its_options in settings.items()}
    for name in names:
        registration = registry().reranker(name)
        current = registration.options(settings.get(name, {}))
        expanded = registration.expanding(current, tuple(knowledge))
        changed = {
            option: value
            for option in type(expanded).model_fields
            if (value := getattr(expanded, option)) != getattr(current, option)
        }
        if changed:
            options[name] = {**options.get(name, {}), **changed}
    return options


def check_systems(
    kind: Literal["reranker", "retriever"],
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    among: str,
) -> Mapping[str, object]:
    """See that there are the systems that a group's options name, with such settings.

    Returns:
        What they depend on beside options and documents, by name.

    Raises:
        InputError: one is unknown or named twice, settings fit none of them, or what they name is
            not there.
    """
    from irplatform.registry import registry

    check_names(names, settings, among=among, kind=kind)
    of_systems: dict[str, object] = {}
    for name in names:
        registration = (
            registry().retriever(name) if kind == "retriever" else registry().reranker(name)
        )
        try:
            options = registration.options(settings.get(name, {}))
            of_system = {**registration.code(options), **registration.dependencies(options)}
        except InputError as error:  # which says where options of a system of its own are
            beside = ".".join([*among.split(".")[:-1], "settings", name])
            raise InputError(
                f"{error} Here, as one of {among}, its options are those in {beside}."
            ) from error
        if of_system:
            of_systems[name] = of_system
    return of_systems


def check_names(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], *, among: str, kind: str
) -> None:
    """See that plugins are named once, and that settings are for one of them.

    Raises:
        InputError: they are not.
    """
    for name in settings:
        if name not in names:
            raise InputError(f"settings.{name} has no effect: '{name}' is not among {among}.")
    if twice := next((name for name in names if list(names).count(name) > 1), None):
        raise InputError(f"the {kind} '{twice}' is named twice.")


def hold_first_stage(names: Sequence[str]) -> bool:
    """Whether a first stage's score is among the features of some groups."""
    return any(group.system.holds_first_stage for group in _registrations(names))


def _registrations(names: Sequence[str]) -> list[Registration[FeatureGroup]]:
    from irplatform.registry import registry

    return [registry().feature_group(name) for name in names]
