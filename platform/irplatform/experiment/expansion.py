"""Which queries are expanded, and with what: as the user, the collection and the rerankers say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.first_stage import ChosenRetriever

NONE = "none"
"""In place of knowledge bases: queries are not expanded, even where a collection asks for it."""
_EXPANDED_FIELDS = ("disease", "gene")
"""The fields that expanded queries are made of by default."""


def with_expansion(
    rerankers: Sequence[ChosenReranker], retrievers: Sequence[ChosenRetriever]
) -> list[ChosenReranker]:
    """The rerankers, told which knowledge bases queries are expanded with."""
    bases = next((expand for c in retrievers if (expand := getattr(c.options, "expand", ()))), ())
    return [choice.expanding(tuple(bases)) for choice in rerankers]


def expansion_settings(
    registry: Registry,
    retrievers: Sequence[str],
    expand: Sequence[str],
    query_plan: Path | None = None,
) -> dict[str, object]:
    """The settings of retrievers that `--expand` and `--query-plan` stand for.

    Args:
        registry: the installed plugins.
        retrievers: names; the settings are for those that can expand queries, and a notice names
            the others.
        expand: names of knowledge bases; or "none" alone; nothing where the retrievers decide.
        query_plan: a file that changes the default plan.

    Raises:
        InputError: no retriever expands queries, a knowledge base is not installed, or the plan
            cannot be read.
    """
    if not expand:
        return {}
    from irplatform.expansion import read_plan
    from irplatform.knowledge import open_knowledge

    expanding = [n for n in retrievers if "expand" in registry.retriever(n).option_names()]
    if tuple(expand) == (NONE,):
        return {f"{name}.expand": [] for name in expanding}
    open_knowledge(expand)
    others = [name for name in retrievers if name not in expanding]
    if not expanding:
        all_expanding = [n for n, r in registry.retrievers.items() if "expand" in r.option_names()]
        raise InputError(
            f"--expand has no effect: {', '.join(others)} cannot expand queries. "
            f"These retrievers can: {', '.join(sorted(all_expanding)) or 'none'}."
        )
    if others:
        notice(f"--expand: not with {', '.join(others)}, which cannot expand queries.")
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
    collection_settings: dict[str, object] = {}  # first, so that parts of a plan are set within it
    for name in retrievers:
        if "expand" not in registry.retriever(name).option_names():
            continue
        user_values = [settings[key] for key in ("expand", f"{name}.expand") if key in settings]
        if not user_values and collection.expand:
            _check_installed(collection)
            collection_settings[f"{name}.expand"] = list(collection.expand)
        expands = user_values[-1] if user_values else collection.expand
        if expands and collection.plan and not {"plan", f"{name}.plan"} & settings.keys():
            collection_settings[f"{name}.plan"] = dict(collection.plan)
    return {**collection_settings, **settings}


def expanded_for(
    rerankers: Sequence[ChosenReranker],
    retrievers: Sequence[ChosenRetriever],
    collection: Collection,
    given: Mapping[str, object],
) -> list[ChosenRetriever]:
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
    retrievers: Sequence[ChosenRetriever],
    rerankers: Sequence[ChosenReranker],
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
    expanding = [c for c in retrievers if {"expand", "plan"} <= set(c.registration.option_names())]
    shared = not any("plan" in choice.registration.option_names() for choice in rerankers)
    for key in given:
        addressed = [
            choice
            for choice in expanding
            if f"{key}.".startswith(f"{choice.name}.plan.")
            or (shared and f"{key}.".startswith("plan."))
        ]
        if addressed and not any(getattr(choice.options, "expand", ()) for choice in addressed):
            raise InputError(f"'{key}' has no effect without --expand KB,….")


def _check_installed(collection: Collection) -> None:
    from irplatform.knowledge import open_knowledge

    try:
        open_knowledge(collection.expand)
    except InputError as error:
        raise InputError(f"'{collection.id}' wants its queries expanded: {error}") from error
