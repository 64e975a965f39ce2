"""`platform plugins`: what is installed, and what is broken."""

from __future__ import annotations

import click

from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.registry import GROUP, registry


@click.group()
def plugins() -> None:
    """List installed plugins and what they provide."""


@plugins.command("list")
@json_option
def list_plugins(as_json: bool) -> None:
    """List installed plugins, the broken ones with their error."""
    found = registry().plugins
    if as_json:
        print_json(
            {
                "plugins": [
                    {
                        "name": p.name,
                        "distribution": p.distribution,
                        "version": p.version,
                        "provides": list(p.provides),
                        "error": p.error or None,
                        "unmarked": list(p.unmarked),
                        "failed": p.failed or None,
                    }
                    for p in found
                ]
            }
        )
        return
    if not found:
        click.echo(f"No plugin is installed (entry-point group '{GROUP}').")
    rows = []
    for plugin in found:
        told = [*plugin.provides, *filter(None, [plugin.forgotten, plugin.failed])]
        state = f"BROKEN: {plugin.error}" if plugin.error else ", ".join(told)
        rows.append((plugin.name, plugin.distribution, plugin.version, state))
    print_rows(rows)
