"""`--expand` and `--query-plan`: settings of whichever retrievers can expand queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irplatform.cli.paths import PATH
from irplatform.cli.with_options import with_options
from irplatform.console import notice
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_NONE = "none"

expansion_options = with_options(
    click.option(
        "--expand",
        metavar="KB,…",
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


def knowledge_names(flag: str, text: str) -> list[str]:
    """The names of knowledge bases that a flag lists, separated by commas; each once.

    Raises:
        InputError: there are none.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError(f"{flag} names no knowledge base; `platform kb list` shows them.")
    return names


def kb_callback(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """The knowledge bases of a repeatable `--kb`, each time one name or several with commas."""
    return tuple(knowledge_names("--kb", ",".join(values))) if values else ()


def expansion_settings(
    retrievers: Sequence[str], expand: str | None, query_plan: Path | None
) -> dict[str, object]:
    """The settings that the two options stand for.

    Args:
        retrievers: names; the settings are for those that can expand queries, and a notice names
            the others.
        expand: names of knowledge bases, separated by commas; or "none".
        query_plan: a file that changes the default plan.

    Raises:
        InputError: no retriever expands queries, a knowledge base is not installed, the plan cannot
            be read, or there is a plan but nothing to expand with.
    """
    if expand in (None, _NONE) and query_plan is not None:
        raise InputError("--query-plan has no effect without --expand KB,….")
    if expand is None:
        return {}
    from irplatform.knowledge import open_knowledge
    from irplatform.registry import registry
    from irplatform.retrieval.querying import read_plan

    expanding = [
        name for name in retrievers if "expand" in registry().retriever(name).option_names()
    ]
    if expand == _NONE:
        return {f"{name}.expand": [] for name in expanding}
    names = knowledge_names("--expand", expand)
    open_knowledge(names)
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
    settings: dict[str, object] = {f"{name}.expand": names for name in expanding}
    if query_plan is not None:
        settings |= {f"{name}.plan": read_plan(query_plan) for name in expanding}
    return settings
