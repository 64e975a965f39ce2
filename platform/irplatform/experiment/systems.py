"""From names and settings to retrievers and rerankers with their options.

Every command that searches or reranks chooses its systems here, so the same settings mean the same
systems. Names and options are checked before anything of the collection is read. Queries are
expanded as the user says, else as the collection says, else as the rerankers are made for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.collections.identical_ids import ignoring_identical_ids
from irplatform.collections.irds import refuse_silent_downloads
from irplatform.errors import InputError, listing, nearest, unknown
from irplatform.experiment.run_settings import NO_EXPANSION, label_and_name
from irplatform.experiment.topics import only_topics
from irplatform.lucene import is_indexed
from irplatform.options import option_values
from irplatform.reranking.systems import MEMBERS, ChosenReranker
from irplatform.retrieval.first_stage import JUDGED, SCORED
from irplatform.retrieval.indexed import in_index
from irplatform.retrieval.retrievers import ChosenRetriever
from irplatform.settings import flat
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Registration

_EXPANDED_FIELDS = ("disease", "gene")
"""The fields that expanded queries are made of by default."""


@dataclass(frozen=True)
class Systems:
    """The systems of a command, and the collection that they search.

    `user_settings` are the settings of systems that the user gave; `settings` also has the
    collection's own query expansion.
    """

    collection: Collection
    user_settings: Mapping[str, object]
    settings: Mapping[str, object]
    retrievers: Sequence[ChosenRetriever]
    rerankers: Sequence[ChosenReranker]

    def expanded(self) -> Systems:
        """Return the same, with queries expanded where the rerankers are made for that.

        Rerankers then read the same knowledge bases. InputError for a query plan without expansion.
        """
        retrievers = expanded_for(self.rerankers, self.retrievers, self.collection, self.settings)
        refuse_idle_plan(retrievers, self.rerankers, self.settings)
        expanding = with_expansion(self.rerankers, retrievers)
        return replace(self, retrievers=retrievers, rerankers=expanding)


def resolve_systems(
    settings: RunSettings,
    plugins: Registry,
    *,
    documents_only: bool = False,
    recorded: Mapping[str, Mapping[str, object]] = {},
) -> Systems:
    """Choose systems by their names, before queries are expanded; see `Systems.expanded`.

    `documents_only` leaves topics and judgments out; for `recorded` see `choose_systems`.
    InputError for a wrong name or option.
    """
    if settings.is_matrix:
        matrix_names = [*settings.collections, *settings.first_stages]
        raise InputError(
            f"this takes one collection and one first stage, not {listing(matrix_names)}; "
            "`platform run` takes several."
        )
    for name in settings.first_stage.retrievers:
        if name not in plugins.retrievers and (near := nearest(name, (JUDGED, SCORED))):
            raise InputError(f"unknown first stage '{name}'. Did you mean '{near}'?")
    collection = collection_of(settings, plugins, documents_only=documents_only)
    retriever_names = settings.first_stage.retrievers
    expansion = expansion_settings(plugins, retriever_names, settings.expand, settings.query_plan)
    user_settings = {**expansion, **settings.settings}
    all_settings = with_expansion_of(collection, plugins, retriever_names, user_settings)
    names, preset, members = settings.rerankers, settings.preset, settings.members
    retrievers, rerankers = choose_systems(
        plugins, retriever_names, names, all_settings, preset, members, recorded
    )
    return Systems(collection, user_settings, all_settings, retrievers, rerankers)


def collection_of(
    settings: RunSettings, plugins: Registry, *, documents_only: bool = False
) -> Collection:
    """Return the collection that settings name, with the topics and the index that they choose."""
    find = plugins.documents_of if documents_only else plugins.collection
    collection = only_topics(find(settings.collection), settings.topics)
    if settings.ignore_identical_ids:
        collection = ignoring_identical_ids(collection)
    return collection if settings.index is None else in_index(collection, settings.index)


def choose_systems(
    registry: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
    preset: str | None = None,
    members: int = MEMBERS,
    recorded: Mapping[str, Mapping[str, object]] = {},
) -> tuple[list[ChosenRetriever], list[ChosenReranker]]:
    """Resolve names, and give every option to the systems that have it.

    Args:
        registry: the installed plugins.
        retrievers: names.
        rerankers: names, or LABEL=NAME: one reranker may have several labels.
        settings: option to value; "delta.filters" sets an option of `delta`, "loop.epochs" a part
            of the option `loop`.
        preset: the name of settings that rerankers bring in place of their defaults; `settings`
            take precedence.
        members: how many models of a reranker that learns are trained and averaged.
        recorded: reranker to the options that a checkpoint was trained with, which settings change.

    Raises:
        InputError: an unknown name, an option that no system has, a wrong value, or a preset
            that no reranker has.
    """
    labelled = [label_and_name(text) for text in rerankers]
    if twice := _twice(retrievers):
        raise InputError(f"retriever '{twice}' is named twice.")
    if twice := _twice([label for label, _ in labelled]):
        name = next(name for label, name in labelled if label == twice)
        raise InputError(
            f"reranker '{twice}' is named twice: give one a label, as in "
            f"{option('rerankers', f'other={name}')}."
        )
    rankers = [registry.reranker(name) for _, name in labelled]
    registrations, count = registrations_of(registry, retrievers, rerankers), len(retrievers)
    if preset is not None:
        _check_preset(preset, registrations[count:])
    trained = [None] * count + [recorded.get(r.name) for r in rankers]
    keys: set[str] = set()
    tables = []
    for system, trained_with in zip(registrations, trained, strict=True):
        # A retriever and a reranker of one name share the settings under it.
        of_name = {n for o in registrations if o.name == system.name for n in o.option_names()}
        with_preset = _with_preset(system, settings, preset)
        system_keys, table = option_values(system, with_preset, of_name, trained_with)
        keys |= system_keys
        tables.append(table)
    for key in (key for key in settings if key not in keys):
        raise unknown_option(key, registrations, registry, dict(labelled))
    options = [r.options(table) for r, table in zip(registrations, tables, strict=True)]
    chosen_retrievers = [*map(ChosenRetriever, registrations, options[:count])]
    labels = [label if label != name else "" for label, name in labelled]
    chosen_rerankers = [
        ChosenReranker(r, of_reranker, members, label, trained=r.name in recorded)
        for r, label, of_reranker in zip(rankers, labels, options[count:], strict=True)
    ]
    return chosen_retrievers, with_expansion(chosen_rerankers, chosen_retrievers)


def registrations_of(
    registry: Registry, retrievers: Sequence[str], rerankers: Sequence[str]
) -> list[Registration[Any]]:
    """Return the systems of these names; rerankers are called by their labels."""
    labelled = map(label_and_name, rerankers)
    return [
        *(registry.retriever(name) for name in retrievers),
        *(replace(registry.reranker(name), name=label) for label, name in labelled),
    ]


def _twice(names: Sequence[str]) -> str:
    return next((name for name in names if [*names].count(name) > 1), "")


def _check_preset(preset: str, rankers: Sequence[Registration[Any]]) -> None:
    """Refuse a preset that none of the rerankers has."""
    if any(preset in registration.presets for registration in rankers):
        return
    presets = sorted({name for registration in rankers for name in registration.presets})
    systems = ", ".join(registration.name for registration in rankers) or "a run without rerankers"
    if not presets:
        have = "have" if len(rankers) > 1 else "has"
        raise InputError(f"{option('preset', preset)} has no effect: {systems} {have} no presets.")
    raise unknown("preset", preset, presets, of=systems)


def _with_preset(
    registration: Registration[Any], settings: Mapping[str, object], preset: str | None
) -> dict[str, object]:
    """A preset's settings of one reranker, beneath those that were given."""
    if preset is None or preset not in registration.presets:
        return dict(settings)
    prefix = f"{registration.name}."
    set_names = {key.removeprefix(prefix) for key in settings}
    preset_settings = {
        prefix + key: value
        for key, value in flat(registration.presets[preset]).items()
        if not any(key == set_name or key.startswith(f"{set_name}.") for set_name in set_names)
    }
    return {**preset_settings, **settings}


def unknown_option(
    name: str,
    registrations: Sequence[Registration[Any]],
    plugins: Registry,
    labelled: Mapping[str, str] | None = None,
) -> InputError:
    """Return an error for an option that none of the chosen systems has.

    It names the nearest option, or says that the option's system is not in this run. `labelled`
    maps labels of rerankers to registered names.
    """
    names = labelled or {}
    system, dot, _ = name.partition(".")
    if dot and not any(name.startswith(f"{registration.name}.") for registration in registrations):
        if labels := [label for label, registered in names.items() if registered == system]:
            return InputError(
                f"'{name}' has no effect: the reranker '{system}' is called {listing(labels)} here."
            )
        tables: dict[str, Container[str]] = {
            "retriever": plugins.retrievers,
            "reranker": plugins.rerankers,
        }
        if kinds := [kind for kind, table in tables.items() if system in table]:
            return InputError(
                f"'{name}' has no effect: the {' or '.join(kinds)} '{system}' is not in this run."
            )
    options = {option for registration in registrations for option in registration.setting_names()}
    systems = ", ".join({registration.name: None for registration in registrations})
    pairs = dict.fromkeys((r.kind, names.get(r.name, r.name)) for r in registrations)
    commands = " or ".join(f"`platform {kind}s show {system_name}`" for kind, system_name in pairs)
    return unknown("option", name, options, of=systems, hint=f"All are listed by {commands}.")


def refuse_large_downloads(collection: Collection, name: str, *, scored: bool = False) -> None:
    """Refuse to download gigabytes without a question; the error says what to do.

    `scored` has the candidates that the collection brings downloaded, too.
    """
    if "ir_datasets id" in collection.metadata:
        documents = not is_indexed(collection.corpus)
        refuse_silent_downloads(collection, name, documents=documents, scored=scored)


def with_expansion(
    rerankers: Sequence[ChosenReranker], retrievers: Sequence[ChosenRetriever]
) -> list[ChosenReranker]:
    """Return the rerankers, filled with the knowledge bases that queries are expanded with."""
    bases = next((expand for c in retrievers if (expand := getattr(c.options, "expand", ()))), ())
    return [choice.expanding(tuple(bases)) for choice in rerankers]


def expansion_settings(
    registry: Registry,
    retrievers: Sequence[str],
    expand: Sequence[str],
    query_plan: Path | None = None,
) -> dict[str, object]:
    """Return the settings of retrievers that `expand` and `query_plan` stand for.

    A notice names retrievers that cannot expand queries. InputError if none can, a knowledge base
    is not installed, or the plan cannot be read.
    """
    if not expand:
        return {}
    from irplatform.expansion.plan import read_plan
    from irplatform.knowledge import open_knowledge

    expanding = [n for n in retrievers if "expand" in registry.retriever(n).option_names()]
    if tuple(expand) == (NO_EXPANSION,):
        return {f"{name}.expand": [] for name in expanding}
    open_knowledge(expand)
    others = [name for name in retrievers if name not in expanding]
    if not expanding:
        usable = (
            registration for registration in registry.retrievers.values() if not registration.broken
        )
        all_expanding = [
            registration.name for registration in usable if "expand" in registration.option_names()
        ]
        raise InputError(
            f"{option('expand')} has no effect: {', '.join(others)} cannot expand queries. "
            f"These retrievers can: {', '.join(sorted(all_expanding)) or 'none'}."
        )
    if others:
        notice(f"{option('expand')}: not with {', '.join(others)}, which cannot expand queries.")
    settings: dict[str, object] = {f"{name}.expand": list(expand) for name in expanding}
    if query_plan is not None:
        settings |= {f"{name}.plan": read_plan(query_plan) for name in expanding}
    return settings


def with_expansion_of(
    collection: Collection,
    registry: Registry,
    retrievers: Sequence[str],
    settings: Mapping[str, object],
) -> dict[str, object]:
    """Return settings over the query expansion that the collection asks for.

    An `expand` or `plan` of the user takes the place of the collection's. Parts of a plan
    (`bm25.plan.gene.weight`) go into it. InputError if a knowledge base is not installed.
    """
    from irplatform.knowledge import open_knowledge

    collection_settings: dict[str, object] = {}  # first, so that parts of a plan are set within it
    for name in retrievers:
        if "expand" not in registry.retriever(name).option_names():
            continue
        user_values = [settings[key] for key in ("expand", f"{name}.expand") if key in settings]
        if not user_values and collection.expand:
            try:
                open_knowledge(collection.expand)
            except InputError as error:
                message = f"'{collection.id}' wants its queries expanded: {error}"
                raise InputError(message) from error
            collection_settings[f"{name}.expand"] = list(collection.expand)
        expands = user_values[-1] if user_values else collection.expand
        if expands and collection.plan and not {"plan", f"{name}.plan"} & settings.keys():
            collection_settings[f"{name}.plan"] = dict(collection.plan)
    return {**collection_settings, **settings}


def expanded_for(
    rerankers: Sequence[ChosenReranker],
    retrievers: Sequence[ChosenRetriever],
    collection: Collection,
    settings: Mapping[str, object],
) -> list[ChosenRetriever]:
    """Return the retrievers, expanding queries where all rerankers are made for that.

    If only some of the rerankers are, nothing is expanded, and a notice says so. An `expand` among
    the given settings takes precedence.
    """
    from irplatform.knowledge import all_installed

    made_for = [choice.name for choice in rerankers if choice.traits.expanded_queries]
    undecided = {
        choice.name
        for choice in retrievers
        if "expand" in choice.registration.option_names()
        and not {"expand", f"{choice.name}.expand"} & settings.keys()
    }
    bases = all_installed() if made_for and undecided else ()
    if not bases or not any(
        topic.fields.get(name) for topic in collection.topics for name in _EXPANDED_FIELDS
    ):
        return list(retrievers)
    if len(made_for) < len(rerankers):
        others = ", ".join(c.name for c in rerankers if not c.traits.expanded_queries)
        notice(
            f"{', '.join(made_for)}: made for expanded queries, but {others} would have another "
            f"first stage then. {option('expand', 'KB,…')} expands them for all, "
            f"{option('expand', NO_EXPANSION)} for none."
        )
        return list(retrievers)
    notice(
        f"{', '.join(made_for)}: queries are expanded with {', '.join(bases)}. "
        f"{option('expand', 'KB,…')} chooses others, {option('expand', NO_EXPANSION)} searches the "
        "topics' words."
    )
    return [
        replace(choice, options=choice.options.model_copy(update={"expand": bases}))
        if choice.name in undecided
        else choice
        for choice in retrievers
    ]


def refuse_idle_plan(
    retrievers: Sequence[ChosenRetriever],
    rerankers: Sequence[ChosenReranker],
    settings: Iterable[str],
) -> None:
    """Refuse settings of a query plan whose retrievers expand no queries.

    An option `plan` of a reranker is not meant.
    """
    expanding = [c for c in retrievers if {"expand", "plan"} <= set(c.registration.option_names())]
    shared = not any("plan" in choice.registration.option_names() for choice in rerankers)
    for key in settings:
        addressed = [
            choice
            for choice in expanding
            if f"{key}.".startswith(f"{choice.name}.plan.")
            or (shared and f"{key}.".startswith("plan."))
        ]
        if addressed and not any(getattr(choice.options, "expand", ()) for choice in addressed):
            raise InputError(f"'{key}' has no effect without {option('expand', 'KB,…')}.")
