"""A registered system with its options, and what its results depend on.

A system names what it reads in `Reads`: files, pairs, checkpoints, other systems. From that, and
from what those systems read, follow the cache key of its results, the checks before training, the
warning about topics that were learned from, and the knowledge bases of a run.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from irplatform.errors import InputError
from irplatform.files.digests import digest, fingerprint, folder_digests
from irplatform.plugin.declarations import FILLED
from irplatform.registry import loading
from irplatform.registry.plugin_answers import text_pairs
from irplatform.registry.registration import Registration, System
from irplatform.settings import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from irplatform.data import TextPair, Topic
    from irplatform.options import Options
    from irplatform.plugin.declarations import Kind, NamedSystem, Reads, Traits

FEATURES_FORMAT = 2
"""Raise it when a feature group of the platform changes what it computes within a version."""
GROUP: Kind = "feature group"


@dataclass(frozen=True)
class ChosenSystem(Generic[System]):
    """A registered system with its options."""

    registration: Registration[System]
    options: Options

    @property
    def name(self) -> str:
        """The name on the command line and in the table."""
        return self.registration.name

    @property
    def variant(self) -> str:
        """What tells its options from others, for forecasts."""
        marks: str = fingerprint(self.options.model_dump(mode="json"))
        return marks[:8]

    @property
    def traits(self) -> Traits:
        """Its traits with these options."""
        return self.registration.traits(self.options)

    @property
    def reads(self) -> Reads:
        """All that it reads besides documents, topics and options."""
        return self.registration.reads(self.options)

    def describe_reads(self) -> dict[str, object]:
        """Return what results depend on besides options, documents and topics, as JSON.

        Raises:
            InputError: something that its options name is missing.
        """
        reads = self.reads
        self._check_names(reads.systems)
        facts = {**reads.more, **_contents(reads)}
        knowledge: list[Sequence[str]] = []
        groups: dict[str, object] = {}
        for system in reads.systems:
            inner = self._opened(system)
            code = inner.registration.code(inner.options)
            try:
                depends_on = {**code, **inner.describe_reads()}
            except InputError as error:
                raise self._located(error, system) from error
            if system.kind == GROUP:
                knowledge += inner.knowledge()
            if depends_on:
                (groups if system.kind == GROUP else facts)[system.name] = depends_on
        if any(system.kind == GROUP for system in reads.systems):
            facts["feature_format"] = FEATURES_FORMAT
        if self.registration.kind != GROUP:  # `features.Group` adds its own
            knowledge += self.knowledge()
        facts |= knowledge_mark(knowledge)
        if groups:
            facts["features"] = groups
        return facts

    def files(self) -> tuple[Path, ...]:
        """Return the files and folders that it reads, also through other systems."""
        reads = self.reads
        paths = [Path(str(v)) for v in flat(self.options.model_dump()).values() if _names_file(v)]
        inner = (path for system in reads.systems for path in self._opened(system).files())
        return tuple(dict.fromkeys([*reads.files, *reads.checkpoints, *paths, *inner]))

    def checkpoints(self) -> tuple[Path, ...]:
        """Return the checkpoints whose scores it reads, also through other systems."""
        reads = self.reads
        inner = (path for system in reads.systems for path in self._opened(system).checkpoints())
        return tuple(dict.fromkeys([*reads.checkpoints, *inner]))

    def pairs_learned(self, topics: Sequence[Topic]) -> list[TextPair]:
        """Return the pairs of texts that it learns from, also through other systems.

        Pairs about these topics are left out.
        """
        reads = self.reads
        pairs: list[TextPair] = []
        if reads.pairs is not None:
            with self.registration.plugin_call("reading the pairs of texts that it learns from"):
                pairs += text_pairs(self.registration.full_title, reads.pairs.read(topics))
        for system in reads.systems:
            pairs += self._opened(system).pairs_learned(topics)
        return pairs

    def check_training(self) -> None:
        """Check what it learns from besides topics; this may open a model."""
        reads = self.reads
        if reads.check is not None:
            with self.registration.plugin_call("looking at what it learns from"):
                reads.check()
        for system in reads.systems:
            self._opened(system).check_training()

    def with_knowledge(self, bases: Sequence[str]) -> Options:
        """Return its options with these knowledge bases wherever an option names none.

        This includes the options of the systems that it names.
        """
        reads = self.reads
        changes: dict[str, Any] = {
            option: tuple(bases)
            for option in knowledge_options(type(self.options))
            if getattr(self.options, option) is None
        }
        for system in reads.systems:
            if system.settings_in not in type(self.options).model_fields:
                continue
            inner = self._opened(system)
            before = inner.options.model_dump(mode="json")
            filled = inner.with_knowledge(bases).model_dump(mode="json")
            changed = {name: value for name, value in filled.items() if value != before[name]}
            # The cache key of a stack has a table for each reranker, also an empty one.
            if changed or any(
                inner_system.kind == "reranker" for inner_system in inner.reads.systems
            ):
                settings = changes.get(
                    system.settings_in, getattr(self.options, system.settings_in)
                )
                of_system = {**settings.get(system.name, {}), **changed}
                changes[system.settings_in] = {**settings, system.name: of_system}
        return self.options.model_copy(update=changes) if changes else self.options

    def knowledge(self) -> list[Sequence[str]]:
        """Return the knowledge bases that it reads, a list per option."""
        from irplatform.knowledge import installed

        choices = [getattr(self.options, name) for name in knowledge_options(type(self.options))]
        return [list(installed()) if bases is None else bases for bases in choices]

    def _opened(self, system: NamedSystem) -> ChosenSystem[Any]:
        registration = registered_system(system.kind, system.name)
        try:
            return ChosenSystem(registration, registration.options(system.settings))
        except InputError as error:
            raise self._located(error, system) from error

    def _located(self, error: InputError, system: NamedSystem) -> InputError:
        if system.kind == GROUP:  # its options have one usual place
            return error
        name = self.registration.name
        return InputError(
            f"{error} Here, as one of {name}.{system.named_in}, its options are those in "
            f"{name}.{system.settings_in}.{system.name}."
        )

    def _check_names(self, systems: Sequence[NamedSystem]) -> None:
        by_place: dict[tuple[str, str, Kind], list[str]] = {}
        for system in systems:
            place = (system.named_in, system.settings_in, system.kind)
            by_place.setdefault(place, []).append(system.name)
        for (named_in, settings_in, kind), names in by_place.items():
            settings = getattr(self.options, settings_in, {})
            option_name = f"the {named_in}" if kind == GROUP else f"{self.name}.{named_in}"
            check_names(names, settings, among=option_name, kind=kind)


def _names_file(value: object) -> bool:
    """Tell if an option's value is a path, or a text that is meant as one."""
    is_path = isinstance(value, Path) or (isinstance(value, str) and os.sep in value)
    return is_path and Path(str(value)).exists()


def registered_system(kind: Kind, name: str) -> Registration[Any]:
    """Return a registered system; InputError if the name is unknown."""
    registry = loading.registry()
    find: dict[Kind, Callable[[str], Registration[Any]]] = {
        "reranker": registry.reranker,
        "retriever": registry.retriever,
        "feature group": registry.feature_group,
        "judge": registry.judge,
    }
    return find[kind](name)


def check_names(
    names: Sequence[str], settings: Iterable[str], *, among: str, kind: str = GROUP
) -> None:
    """Refuse a system that is named twice, and settings of a system that is not named."""
    for name in settings:
        if name not in names:
            raise InputError(f"settings.{name} has no effect: '{name}' is not among {among}.")
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        called = "group of features" if kind == GROUP else kind
        raise InputError(f"the {called} '{twice}' is named twice.")


def knowledge_options(options: type[Options]) -> Iterator[str]:
    """Return the names of options of the type `KnowledgeBases`."""
    return (name for name, option in options.model_fields.items() if FILLED in option.metadata)


def knowledge_mark(bases: Iterable[Sequence[str]]) -> dict[str, object]:
    """Return the fingerprint of knowledge bases, or of several choices of them."""
    from irplatform.knowledge import open_knowledge

    marks = sorted({open_knowledge(names).fingerprint for names in bases if names})
    return {"knowledge": marks[0] if len(marks) == 1 else marks} if marks else {}


def _contents(reads: Reads) -> dict[str, object]:
    for path in (*reads.files, *reads.checkpoints):
        if not path.exists():
            raise InputError("this file or folder does not exist.", path=path)
    files = [
        [[*entry] for entry in folder_digests(path).items()] if path.is_dir() else digest(path)
        for path in reads.files
    ]
    checkpoints = {
        str(number): [[name, mark] for name, mark in folder_digests(folder).items()]
        for number, folder in enumerate(reads.checkpoints)
    }
    return {**({"files": files} if files else {}), **checkpoints}
