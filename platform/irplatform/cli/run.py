"""`platform run`: from a collection to scored, reranked runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from irplatform.cli.expansion import expansion_options, expansion_settings
from irplatform.cli.output import json_option, print_json
from irplatform.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])

preset_option = click.option(
    "--preset",
    metavar="NAME",
    help="Settings that rerankers bring, such as paper; --set and --config go before them.",
)


def training_options(command: Command) -> Command:
    """The options that `run` and `train` share."""
    for option in reversed(
        (
            preset_option,
            click.option(
                "--candidates",
                default="retrieved",
                show_default=True,
                metavar="retrieved|judged|RUN",
                help="What is reranked: what the retrievers find, exactly the judged documents of "
                "each topic, or the documents of a run file.",
            ),
            click.option(
                "--fusion",
                type=click.Choice(["auto", "plain"]),
                default="auto",
                show_default=True,
                help="Weights of several retrievers: auto learns them on the training topics.",
            ),
            click.option(
                "--pretrain",
                metavar="mesh|COLLECTION|none",
                help="What rerankers learn from first: articles' MeSH headings as queries, a "
                "collection over the same documents, or nothing. By default only those are "
                "pre-trained that are made for it (graphene).",
            ),
            click.option(
                "--pretrain-queries",
                default=10_000,
                show_default=True,
                type=click.IntRange(10),
                help="How many MeSH-term queries to draw.",
            ),
        )
    ):
        command = option(command)
    return system_options(command)


def system_options(command: Command) -> Command:
    """The options that `run`, `train` and `tune` share."""
    command = expansion_options(command)  # below those that follow: the required one is first
    for option in reversed(
        (
            click.option("--collection", required=True, help="A name, path or ir_datasets id."),
            click.option(
                "--retriever",
                "retrievers",
                multiple=True,
                default=("bm25",),
                show_default=True,
                help="First stage; repeat it to fuse several.",
            ),
            click.option(
                "--depth", default=1000, show_default=True, help="Documents found per topic."
            ),
            click.option(
                "--rerank-depth",
                default=500,
                show_default=True,
                help="First documents of each retriever that are reranked.",
            ),
            click.option(
                "--set",
                "settings",
                multiple=True,
                metavar="NAME=VALUE",
                help="An option of a retriever or reranker, as `rerankers show` lists them.",
            ),
            click.option(
                "--config",
                type=click.Path(path_type=Path),
                help="A TOML file of such options; --set goes before it.",
            ),
            click.option(
                "--vectors",
                type=click.Path(path_type=Path),
                help="Published word vectors to use (word2vec, GloVe, fastText).",
            ),
            click.option(
                "--vectors-text",
                multiple=True,
                type=click.Path(path_type=Path),
                help="Further text to train word vectors on (.txt, .jsonl, .tsv, also .gz).",
            ),
            click.option(
                "--device", default="auto", show_default=True, help="auto, cpu, cuda or mps."
            ),
            click.option(
                "--seed",
                default=42,
                show_default=True,
                type=click.IntRange(0, 2**32 - 1),
                help="Of everything random.",
            ),
            click.option(
                "--members",
                default=5,
                show_default=True,
                type=click.IntRange(1),
                help="How many models of a reranker that learns are trained and averaged.",
            ),
            click.option(
                "--threads",
                type=click.IntRange(1),
                help="For indexing, searching and tokenizing; default: all cores.",
            ),
            click.option(
                "--model-threads",
                type=click.IntRange(1),
                default=1,
                show_default=True,
                help="Of torch on the CPU; another number trains other weights.",
            ),
        )
    ):
        command = option(command)
    return command


@click.command()
@training_options
@click.option(
    "--reranker", "rerankers", multiple=True, help="What reranks; repeat it to compare several."
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    help="As ir-measures names it; default: the collection's.",
)
@click.option(
    "--train-on",
    metavar="COLLECTION",
    help="What to learn from; default: the collection's partner.",
)
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), help="A trained reranker, instead of training."
)
@click.option(
    "--interpolate",
    default="auto",
    show_default=True,
    metavar="W",
    help="The first stage's share in the final scores, 0 to 1; auto chooses on validation topics.",
)
@click.option(
    "--run-dir", type=click.Path(path_type=Path), help="Where runs go; default: runs/COLLECTION."
)
@click.option(
    "--seeds",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Train and score so often, with --seed and others; report mean and spread.",
)
@click.option(
    "--effects",
    is_flag=True,
    help="Also print differences from the first stage, with 95 % intervals and effect sizes.",
)
@click.option("--tag", help="Last column of run files; default: the system's name.")
@click.option(
    "--resume/--no-resume", default=True, help="Go on from what an interrupted run left (default)."
)
@json_option
def run(
    retrievers: tuple[str, ...],
    rerankers: tuple[str, ...],
    settings: tuple[str, ...],
    config: Path | None,
    expand: str | None,
    query_plan: Path | None,
    interpolate: str,
    effects: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Take a collection to scored, reranked runs.

    Does whatever is missing (index, vectors, training), and prints a table. Without --reranker it
    stops after the first stage.
    """
    from irplatform.api import RunSettings
    from irplatform.api import run as run_collection

    if effects and not rerankers:
        raise InputError("--effects has no effect without --reranker NAME.")
    report = run_collection(
        RunSettings(
            retrievers=retrievers,
            rerankers=rerankers,
            settings={
                **expansion_settings(retrievers, expand, query_plan),
                **read_settings(settings, config),
            },
            interpolate=share(interpolate),
            command=("platform", *sys.argv[1:]),
            **given,
        )
    )
    if as_json:
        print_json(report.as_json())
    else:
        report.print_table(effects=effects)


def read_settings(settings: tuple[str, ...], config: Path | None) -> dict[str, object]:
    """Options from a TOML file, then from the command line.

    Values are read as TOML, so that numbers, booleans and lists have their types; what is not TOML
    is text.
    """
    import tomllib

    from irplatform.choices import flat

    found: dict[str, object] = {}
    if config is not None:
        try:
            found = flat(tomllib.loads(config.read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}.", path=config) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"not a TOML file: {error}.", path=config) from error
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"'{setting}' is no setting; write it as NAME=VALUE.")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def share(interpolate: str) -> float | None:
    """What `--interpolate` says; None for auto."""
    if interpolate == "auto":
        return None
    try:
        return float(interpolate)
    except ValueError as error:
        raise InputError(f"--interpolate takes a number or auto, not '{interpolate}'.") from error
