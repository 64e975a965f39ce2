"""`platform headings`: its options, and what it prints."""

from __future__ import annotations

from pathlib import Path

import click


def _names(_context: click.Context, _option: click.Parameter, given: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(str.strip, given.split(",")))))


@click.command("headings", short_help="Build queries of MeSH headings, to pre-train on.")
@click.option("--from", "source", required=True, help="A collection whose articles have headings.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
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
@click.option(
    "--queries",
    default=20_000,
    show_default=True,
    type=click.IntRange(min=10),
    help="Number of articles that may give a query, split 8:1:1 into train, dev and test.",
)
@click.option(
    "--headings",
    default=3,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of headings in a query.",
)
@click.option(
    "--relevant",
    default=200,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of relevant articles; queries with more are left out.",
)
@click.option(
    "--seed",
    default=42,
    show_default=True,
    type=click.IntRange(0, 2**32 - 1),
    help="Random seed.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and nothing else."
)
def heading_queries(
    source: str,
    out: Path,
    knowledge: tuple[str, ...],
    queries: int,
    headings: int,
    relevant: int,
    seed: int,
    as_json: bool,
) -> None:
    """Build queries of a few MeSH headings, or of a disease and a gene, to pre-train on.

    All articles that have the headings, and name the gene, are relevant.

    Example: platform headings --from demo --kb mesh,hgnc --out topics
    """
    from irplatform_encoders.heading_queries import build_headings

    made = build_headings(
        source,
        out,
        knowledge,
        queries=queries,
        most_headings=headings,
        most_relevant=relevant,
        seed=seed,
    )
    if as_json:
        import json

        click.echo(json.dumps(made.as_json(), indent=1))
        return
    counts = ", ".join(f"{name} {number:,}" for name, number in made.queries.items())
    rows = {
        "queries": f"{counts} (left out, too many relevant articles: {made.left_out:,})",
        **({"queries with a gene": f"{made.of_genes:,}"} if knowledge else {}),
        "relevant articles": f"{made.relevant / sum(made.queries.values()):.1f} a query",
        "headings by another name": f"{made.renamed:,}",
    }
    for name, text in rows.items():
        click.echo(f"{name:<24}  {text}")
    click.echo(f"Use it: platform run --collection C --reranker NAME --pretrain {out}:train")
