"""`--expand` and `--query-plan`: settings of whichever retrievers can expand queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import with_options
from irplatform.cli.names import KNOWLEDGE, list_option
from irplatform.cli.paths import PATH

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.cli.commands import Declared


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
