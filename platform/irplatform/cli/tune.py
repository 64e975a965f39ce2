"""`platform tune`: tune options on training topics."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import MEASURE, RERANKER
from irplatform.cli.options import PATH, collection_option, force_option, option_of, options_of
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.errors import InputError
from irplatform.settings import OUTPUT, declared
from irplatform.system.console import say_text
from irplatform.tuning.settings import TuneSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_TUNED = "What to tune"
_INTERPOLATE = (
    "Weight of the first stage in the final scores, from 0 (reranker alone) to 1 (first stage "
    "alone); with a reranker, auto chooses it in every fold."
)


@command(
    "platform tune --collection demo --over k1,b --out tuned.toml",
    "platform run --collection demo --config tuned.toml",
)
@with_options(
    collection_option,
    click.option("--reranker", type=RERANKER, help="Also tune the options of this reranker."),
    option_of("settings"),
    option_of("config"),
    option_of("preset"),
    group=_TUNED,
)
@with_options(
    click.option(
        "--measure",
        type=MEASURE,
        help="The measure to improve; default: nDCG@20, or nDCG-exp@20 for clicks.",
    ),
    options_of("tune", settings=TuneSettings),
    group="Search",
    example="--over k1=0.5:2,b --trials 50",
)
@options_of(
    "tune",
    without=("settings", "config", "preset", "measures", "resume", "fusion"),
    helps={"interpolate": _INTERPOLATE},
)
@with_options(
    click.option("--out", type=PATH, help="Write the chosen options to a TOML file for --config."),
    option_of("resume", help="Reuse the trials of an earlier search (default)."),
    force_option("a file at --out that another command wrote"),
    json_option,
    group=OUTPUT,
)
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
    from irplatform import tune as tune_options
    from irplatform.files.writing import atomic_write, writable_file

    command = ("platform", *sys.argv[1:])
    if out is not None and writable_file(out).exists() and not force:
        _refuse_other_file(out, command)
    names = declared(TuneSettings)
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
