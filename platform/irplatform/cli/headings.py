"""`platform headings`: build queries of MeSH headings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command
from irplatform.cli.options import PATH, number_option, seed_option
from irplatform.cli.output import json_option, print_json
from irplatform.system.console import say

if TYPE_CHECKING:
    from pathlib import Path


def _names(_context: click.Context, _option: click.Parameter, given: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(str.strip, given.split(",")))))


@command("platform headings --from demo --kb mesh,hgnc --out topics")
@click.option("--from", "source", required=True, help="A collection whose articles have headings.")
@click.option(
    "--out",
    required=True,
    type=PATH,
    help="The folder to create (BEIR layout); it refers to the collection's own documents.",
)
@click.option(
    "--kb",
    "knowledge",
    default="",
    callback=_names,
    metavar="NAME,…",
    help="Knowledge bases with other names of headings, such as mesh, to word queries differently; "
    "with genes (mesh,hgnc), articles that name a gene give a disease and a gene.",
)
@number_option(
    "--queries",
    default=20_000,
    least=10,
    text="Number of articles that may give a query, split 8:1:1 into train, dev and test.",
)
@number_option("--headings", default=3, least=1, text="Maximum number of headings in a query.")
@number_option(
    "--relevant",
    default=200,
    least=1,
    text="Maximum number of relevant articles; queries with more are left out.",
)
@seed_option()
@json_option
def headings(
    source: str, out: Path, knowledge: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Build queries of a few MeSH headings, or of a disease and a gene, to pre-train on.

    All articles that have the headings, and name the gene, are relevant.
    """
    from irplatform.building.heading_queries import build_headings

    report = build_headings(
        source,
        out,
        knowledge,
        queries=options["queries"],
        most_headings=options["headings"],
        most_relevant=options["relevant"],
        seed=options["seed"],
    )
    if as_json:
        print_json(report.as_json())
        return
    counts = ", ".join(f"{name} {number:,}" for name, number in report.queries.items())
    rows = {
        "queries": f"{counts} (left out, too many relevant articles: {report.left_out:,})",
        **({"queries with a gene": f"{report.of_genes:,}"} if knowledge else {}),
        "relevant articles": f"{report.relevant / sum(report.queries.values()):.1f} a query",
        "headings by another name": f"{report.renamed:,}",
    }
    for name, text in rows.items():
        say(f"{name:<24}  {text}")
    say(f"Use it: platform run --collection C --reranker NAME --pretrain {out}:train")
