"""What a reranker that reads groups of features says of itself without opening them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    from irplatform.plugin import FeatureGroup


def dependencies(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> Mapping[str, object]:
    """The installed knowledge bases, where one of some groups reads them; else nothing.

    It belongs in `depends_on`, which is called before any work: what is wrong with names and
    settings is then told before documents are searched.

    Args:
        names: of groups.
        settings: their options, by name.

    Raises:
        InputError: there is no such group, one is named twice, settings are for another one, not
            among its options, or name what there is not.
    """
    from irplatform.knowledge import installed, open_knowledge
    from irplatform.registry import registry

    given = settings or {}
    check_names(names, given, among="the features", kind="group of features")
    for name in names:
        known = registry().feature_group(name)
        group = known.create(given.get(name, {}))
        with known.at_work("checking its options"):
            group.check()
    bases = list(installed()) if any(g.reads_knowledge for g in _known(names)) else []
    return {"knowledge": open_knowledge(bases).fingerprint} if bases else {}


def check_systems(
    kind: Literal["reranker", "retriever"],
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    among: str,
) -> None:
    """See that there are the systems that a group's options name, with such settings.

    Args:
        kind: of the systems.
        names: of them.
        settings: their options, by name.
        among: the option that names them, as "stack.rerankers".

    Raises:
        InputError: one is unknown or named twice, or settings fit none of them.
    """
    from irplatform.registry import registry

    check_names(names, settings, among=among, kind=kind)
    for name in names:
        given = settings.get(name, {})
        if kind == "retriever":
            registry().retriever(name).options(given)
        else:
            registry().reranker(name).create(given).depends_on()


def check_names(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], *, among: str, kind: str
) -> None:
    """See that plugins are named once, and that settings are for one of them.

    Args:
        names: of plugins of one kind.
        settings: their options, by name.
        among: what the names are, as "the features".
        kind: what one of them is, as "group of features".

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
    return any(group.holds_first_stage for group in _known(names))


def _known(names: Sequence[str]) -> list[type[FeatureGroup]]:
    from irplatform.registry import registry

    return [registry().feature_group(name).system for name in names]
