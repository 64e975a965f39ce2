"""How commands print: one JSON object, or text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and nothing else."
)


def print_json(value: Any) -> None:
    """Print a value as one JSON object."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))


def print_rows(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in aligned columns; the last column is not padded."""
    if not rows:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())
