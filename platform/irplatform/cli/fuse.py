"""`platform fuse`: one run from several."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The run to write.")
@click.option("--tag", default="fused", show_default=True, help="Its last column.")
@click.option("--k", default=60, show_default=True, help="The constant of the method.")
@click.option("--depth", default=1000, show_default=True, help="Documents per topic.")
def fuse(runs: tuple[Path, ...], out: Path, tag: str, k: int, depth: int) -> None:
    """Fuse TREC runs by reciprocal rank (Cormack, Clarke and Büttcher, SIGIR 2009)."""
    from irplatform.errors import InputError
    from irplatform.runs import read_run, write_run
    from irplatform.runs.fuse import reciprocal_rank_fusion

    if len(runs) < 2:
        raise InputError("at least two runs are needed.")
    if k < 1 or depth < 1:
        raise InputError("--k and --depth must be at least 1.")
    fused = reciprocal_rank_fusion([read_run(path) for path in runs], name=tag, k=k, depth=depth)
    write_run(fused, out)
    click.echo(f"{out}: {len(fused.rankings)} topics from {len(runs)} runs")
