"""`--expand` and `--query-plan`: settings of whichever retrievers can expand queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import with_options
from irplatform.cli.names import KNOWLEDGE, list_option
from irplatform.cli.paths import PATH
from irplatform.console import notice
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from irplatform.cli.commands import Declared

_NONE = "none"


def knowledge_option(*declarations: str, **attributes: Any) -> Callable[[Declared], Declared]:
    """An option that lists knowledge bases; each counts once."""
    return list_option(*declarations, type=KNOWLEDGE, callback=_each_once, **attributes)


def _each_once(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


expansion_options = with_options(
    knowledge_option(
        "--expand",
        help="Expand queries with these knowledge bases, such as mesh,doid,hgnc; or none. By "
        "default only for rerankers that are made for it (graphene).",
    ),
    click.option(
        "--query-plan",
        type=PATH,
        help="A TOML file that says how expanded queries are made and weighed.",
    ),
)
"""The options of every command that searches."""


def expansion_settings(
    retrievers: Sequence[str], expand: Sequence[str], query_plan: Path | None
) -> dict[str, object]:
    """The settings that the two options stand for.

    Args:
        retrievers: names; the settings are for those that can expand queries, and a notice names
            the others.
        expand: names of knowledge bases; or "none" alone; nothing where the retrievers decide.
        query_plan: a file that changes the default plan.

    Raises:
        InputError: no retriever expands queries, a knowledge base is not installed, the plan cannot
            be read, or there is a plan but nothing to expand with.
    """
    if tuple(expand) in ((), (_NONE,)) and query_plan is not None:
        raise InputError("--query-plan has no effect without --expand KB,….")
    if not expand:
        return {}
    from irplatform.knowledge import open_knowledge
    from irplatform.registry import registry
    from irplatform.retrieval.querying import read_plan

    expanding = [
        name for name in retrievers if "expand" in registry().retriever(name).option_names()
    ]
    if tuple(expand) == (_NONE,):
        return {f"{name}.expand": [] for name in expanding}
    open_knowledge(expand)
    others = [name for name in retrievers if name not in expanding]
    if not expanding:
        all_expanding = [
            n for n, r in registry().retrievers.items() if "expand" in r.option_names()
        ]
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
