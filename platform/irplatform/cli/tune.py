"""`platform tune`: tune options on training topics."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import MEASURE, RERANKER, Names, list_option, split_list
from irplatform.cli.options import (
    OUTPUT,
    PATH,
    RERANKING,
    collection_option,
    flag_option,
    force_option,
    interpolate_option,
    learning_options,
    machine_options,
    number_option,
    rerank_depth_option,
    retrieving_options,
    system_settings,
    train_on_option,
)
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.errors import InputError
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_NAMED = re.compile(r"[\w.-]+=")
_LOW = re.compile(r"=[-+.\d]+(e[-+]?\d+)?:", re.IGNORECASE)


def _ranges(text: str) -> list[str]:
    """Split `--over` into options with their ranges, in which commas separate values."""
    options: list[str] = []
    for part in split_list(text):
        last = options[-1] if options else ""
        if "=" not in last or _NAMED.match(part) or _LOW.search(last):
            options.append(part)
        else:
            options[-1] = f"{last},{part}"
    return options


@command(
    "platform tune --collection demo --over k1,b --out tuned.toml",
    "platform run --collection demo --config tuned.toml",
)
@with_options(
    collection_option,
    click.option("--reranker", type=RERANKER, help="Also tune the options of this reranker."),
    system_settings,
    group="What to tune",
)
@with_options(
    list_option(
        "--over",
        type=Names("name[=range]", lambda _: (), split=_ranges),
        help="Options to tune. A range is LOW:HIGH, LOW:HIGH:log or VALUE,VALUE,…; default: the "
        "declared bounds.",
    ),
    click.option(
        "--measure",
        type=MEASURE,
        help="The measure to improve; default: nDCG@20, or nDCG-exp@20 for clicks.",
    ),
    number_option("--trials", default=30, text="Settings to try in addition to the defaults."),
    number_option(
        "--refine",
        default=0,
        text="Further trials around the best setting, for every fold and at the end.",
    ),
    number_option("--folds", default=5, text="Cross-validation folds that estimate the gain."),
    click.option(
        "--topics", type=click.IntRange(1), help="Topics to use, drawn at random; default: all."
    ),
    train_on_option(
        "Collections whose topics to tune on; default: the collection's training partner."
    ),
    flag_option(
        "--on-these-topics",
        text="Tune on the topics of --collection itself, which must be training topics.",
    ),
    group="Search",
    example="--over k1=0.5:2,b --trials 50",
)
@retrieving_options
@rerank_depth_option
@with_options(interpolate_option("with a reranker, auto chooses it in every fold"), group=RERANKING)
@learning_options
@with_options(
    click.option("--out", type=PATH, help="Write the chosen options to a TOML file for --config."),
    click.option(
        "--resume/--no-resume",
        default=True,
        help="Reuse the trials of an earlier search (default).",
    ),
    force_option("a file at --out that another command wrote"),
    json_option,
    group=OUTPUT,
)
@machine_options
def tune(
    reranker: str | None,
    measure: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Tune the options of retrievers or a reranker on training topics.

    Tries settings on the training partner of --collection, and estimates by cross-validation what
    the best one gains on new topics. It never looks at the topics of --collection itself.
    """
    from dataclasses import fields

    from irplatform import TuneSettings
    from irplatform import tune as tune_options
    from irplatform.files.writing import atomic_write, writable_file

    command = ("platform", *sys.argv[1:])
    if out is not None and writable_file(out).exists() and not force:
        _refuse_other_file(out, command)
    names = {field.name for field in fields(TuneSettings)}
    tuning = {name: options.pop(name) for name in list(options) if name in names}
    settings = run_settings(
        options,
        rerankers=() if reranker is None else (reranker,),
        measures=(measure,) if measure else (),
        command=command,
    )
    report = tune_options(settings, TuneSettings(**tuning))
    try:
        if out is not None:
            with atomic_write(out, "wb") as file:  # names of files may not be UTF-8
                file.write(report.as_toml().encode(errors="backslashreplace"))
    finally:  # show the result of hours of search even if the disk is full
        if as_json:
            print_json(report.as_json())
        else:
            say_text(str(report))
    if out is not None and not as_json:
        say_text(f"options, for --config: {out}")


def _refuse_other_file(out: Path, command: Sequence[str]) -> None:
    from irplatform.tuning.report import command_line

    with out.open("rb") as file:
        first = file.readline().decode(errors="replace").strip()
    if first != command_line(command):
        by = (
            f"`{first[2:]}` wrote this file"
            if first.startswith("# platform ")
            else "this file already exists"
        )
        raise InputError(f"{by}. Name another --out, or replace it with --force.", path=out)
