"""`platform train`: train a reranker on a collection and keep the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import COLLECTION, RERANKER, list_option
from irplatform.cli.options import PATH, options_of
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.settings import OUTPUT, WHAT
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path


@command("platform train --collection demo-train --reranker delta --out my-delta")
@with_options(
    list_option(
        "--collection",
        required=True,
        type=COLLECTION,
        help="Names, paths or ir_datasets ids. Several collections must have the same documents.",
    ),
    click.option("--reranker", required=True, type=RERANKER, help="The reranker to train."),
    group="What to train",
)
@options_of("train", without=("train_on",), headings={WHAT: "What to train"})
@with_options(
    click.option("--out", type=PATH, help="A folder for the checkpoint; default: the cache."),
    json_option,
    group=OUTPUT,
)
def train(
    collection: tuple[str, ...], reranker: str, out: Path | None, as_json: bool, **options: Any
) -> None:
    """Train a reranker on the topics of one or more collections, such as FOLDER:train.

    Use the result with `platform run --reranker NAME --checkpoint FOLDER`.
    """
    from irplatform import train as train_reranker

    first, *others = collection
    settings = run_settings(
        options, rerankers=(reranker,), collection=first, train_on=tuple(others)
    )
    checkpoint = train_reranker(settings, out=out)
    if as_json:
        print_json(checkpoint)
        return
    interpolation = checkpoint["interpolation"]
    measure = next(name for name in interpolation if name.startswith("nDCG"))
    curve = interpolation[measure]
    say_text(f"checkpoint: {checkpoint['path']}")
    if curve:
        say_text(
            f"{measure} over {interpolation['topics']} validation topics: "
            f"first stage {curve['1.0']:.4f}, {reranker} {curve['0.0']:.4f}, "
            f"mixed (first stage × {interpolation['weight']:.2f}) "
            f"{curve[str(interpolation['weight'])]:.4f}"
        )
