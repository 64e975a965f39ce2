"""`platform qrels`: judgments that are built rather than made by assessors."""

from __future__ import annotations

import click

from irplatform.cli.citations import from_citations
from irplatform.cli.clicks import from_clicks, simulate_clicks
from irplatform.cli.commands import Group


@click.group(cls=Group)
def qrels() -> None:
    """Build judgments from click logs and citations."""


qrels.add_command(from_clicks)
qrels.add_command(simulate_clicks)
qrels.add_command(from_citations)
