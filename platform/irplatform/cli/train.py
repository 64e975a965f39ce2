"""`platform train`: train a reranker on a collection and keep the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.options import options_of_train
from irplatform.cli.output import json_option, print_json
from irplatform.cli.paths import PATH
from irplatform.cli.settings import run_settings

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@options_of_train
@click.option("--reranker", required=True, help="What to train.")
@click.option(
    "--out",
    type=PATH,
    help="A folder for the checkpoint; default: the cache.",
)
@json_option
def train(
    collection: tuple[str, ...],
    reranker: str,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a reranker on the topics of a collection (FOLDER:train, say), or of several.

    Use the result with `platform run --reranker NAME --checkpoint FOLDER`.
    """
    from irplatform.api import train as train_reranker

    first, *others = collection
    settings = run_settings(
        options, rerankers=(reranker,), collection=first, train_on=tuple(others)
    )
    checkpoint = train_reranker(settings, out)
    if as_json:
        print_json(checkpoint)
        return
    interpolation = checkpoint["interpolation"]
    curve = interpolation["nDCG@20"]
    click.echo(f"checkpoint: {checkpoint['path']}")
    if curve:
        click.echo(
            f"nDCG@20 over {interpolation['topics']} validation topics: "
            f"first stage {curve['1.0']:.4f}, {reranker} {curve['0.0']:.4f}, "
            f"mixed (first stage × {interpolation['weight']:.2f}) "
            f"{curve[str(interpolation['weight'])]:.4f}"
        )
