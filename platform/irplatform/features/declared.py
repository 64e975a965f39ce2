"""What a reranker that reads groups of features says of itself without opening them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from irplatform.errors import InputError
from irplatform.plugin.rerankers import Reranker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import TextPair, Topic
    from irplatform.options import Options
    from irplatform.plugin.features import FeatureGroup
    from irplatform.plugin.retrievers import Retriever
    from irplatform.registry.registration import Registration

if TYPE_CHECKING:
    AnyRegistration = Registration[FeatureGroup] | Registration[Reranker] | Registration[Retriever]


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
    from irplatform.registry.loading import registry

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
    from irplatform.registry.loading import registry

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
    from irplatform.registry.loading import registry

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
    from irplatform.registry.loading import registry

    return [registry().feature_group(name) for name in names]


# What systems say of themselves that the options of others name, as stacked rerankers.
#
# Whoever reads scores of others has to pass these answers on, or a run does not learn what its
# scores come from.


@dataclass(frozen=True)
class NamedSystems:
    """Systems with their options."""

    systems: Sequence[tuple[AnyRegistration, Options]]

    def checkpoints(self) -> tuple[Path, ...]:
        """The checkpoints that they read; for the `checkpoints` of who names them."""
        return tuple(
            dict.fromkeys(
                path for system, options in self.systems for path in system.checkpoints(options)
            )
        )

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterator[TextPair]:
        """The pairs of texts that they learn from; for the `pairs_learned` of who names them."""
        for system, options in self.systems:
            yield from system.pairs_learned(options, topics)

    def check_training(self) -> None:
        """Ask those that learn; for the `check_training` of who names them.

        Raises:
            InputError: what one of them learns from beside topics is not there.
        """
        for system, options in self.systems:
            system.check_training(options)


def named_groups(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> NamedSystems:
    """Groups of features by their names, with options by name where they are not the defaults."""
    return named_systems("feature_group", names, settings or {})


def named_systems(
    kind: Literal["feature_group", "reranker", "retriever"],
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
) -> NamedSystems:
    """Systems of one kind, likewise."""
    from irplatform.registry.loading import registry

    registrations = map(getattr(registry(), kind), names)
    return NamedSystems([(r, r.options(settings.get(r.name, {}))) for r in registrations])


# What a reranker says of itself whose options name groups of features.


class ReadsFeatures(Reranker):
    """A further base, named first, of a reranker that reads groups of features.

    Its options have `features`, the groups' names, and `feature_settings`, their options by name.
    """

    def expanding(self, knowledge: tuple[str, ...]) -> Options:
        """The options whose features read the same knowledge bases."""
        settings = with_knowledge(*_groups_and_settings(self.options), knowledge)
        return self.options.model_copy(update={"feature_settings": settings})

    def depends_on(self) -> Mapping[str, object]:
        """What the features depend on: the knowledge bases, where features read them."""
        return dependencies(*_groups_and_settings(self.options))

    def check_training(self) -> None:
        """Ask the groups that learn whether they have what they learn from."""
        named_groups(*_groups_and_settings(self.options)).check_training()

    def checkpoints(self) -> Sequence[Path]:
        """Those whose scores are features."""
        return named_groups(*_groups_and_settings(self.options)).checkpoints()

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterable[TextPair]:
        """Those of its features."""
        return named_groups(*_groups_and_settings(self.options)).pairs_learned(topics)


def _groups_and_settings(options: Any) -> tuple[Sequence[str], Mapping[str, Mapping[str, Any]]]:
    return options.features, options.feature_settings
