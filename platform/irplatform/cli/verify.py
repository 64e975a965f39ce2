"""`platform verify` and `platform rerun`: what of a run still agrees, and the same run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import command
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import PATH
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError, listing
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.experiment.rerun import Rerun

_WORDS = {"agrees": "agrees", "changed": "CHANGED", "unknown": "not checked"}


@command("platform verify runs/demo/delta.run", "platform verify runs/demo")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--collection", type=COLLECTION, help="Where the collection is now, if it has moved.")
@json_option
@click.pass_context
def verify(
    context: click.Context, runs: tuple[Path, ...], collection: str | None, as_json: bool
) -> None:
    """Check that runs, and all that they were made of, are as their metadata say.

    Compares the run file, topics, judgments, documents, files, trained models, code and versions of
    libraries. A folder stands for its run files. The exit code is 1 if anything changed.
    """
    from irplatform import verify as verify_run
    from irplatform.experiment.verify import changed

    findings = {path: verify_run(path, collection=collection) for path in _files(runs)}
    if as_json:
        entries = [
            {"run": str(path), "findings": [f.as_json() for f in found]}
            for path, found in findings.items()
        ]
        print_json({"runs": entries})
    for path, found in {} if as_json else findings.items():
        say_text(f"{path}")
        print_rows([(f"  {f.subject}", _WORDS[f.verdict], f.detail) for f in found])
    others = {path: names for path, found in findings.items() if (names := changed(found))}
    for path, names in {} if as_json else others.items():
        say_text(f"{path}: changed since it was made: {listing(dict.fromkeys(names), len(names))}.")
    if not others and not as_json:
        everything = [f for found in findings.values() for f in found]
        unknown = dict.fromkeys(f.subject for f in everything if f.verdict == "unknown")
        unchecked = f"; not checked: {listing(unknown, len(unknown))}" if unknown else ""
        say_text(f"Nothing has changed{unchecked}.")
    context.exit(1 if others else 0)


def _files(paths: tuple[Path, ...]) -> list[Path]:
    """Run files; of a folder, those in it that have metadata."""
    from irplatform.runs.folder import run_folders
    from irplatform.runs.metadata import metadata_path

    found: list[Path] = []
    for path in (folder for each in paths for folder in run_folders(each)):
        if not path.is_dir():
            found.append(path)
            continue
        runs = sorted([*path.glob("*.run"), *path.glob("*.run.gz")])
        described = [run for run in runs if metadata_path(run).exists()]
        if not described:
            raise InputError("there are no run files with metadata in this folder.", path=path)
        found += described
        if others := [run.name for run in runs if run not in described]:
            notice(f"{path}: not checked, for they have no metadata: {listing(others)}")
    return list(dict.fromkeys(found))


@command(
    "platform rerun runs/reference/demo/bm25.run.meta.json",
    "platform rerun runs/demo/delta.run --out runs/again",
)
@click.argument("metadata", type=PATH)
@click.option("--out", type=PATH, help="Folder for the new runs; default: none are kept.")
@click.option("--collection", type=COLLECTION, help="Where the collection is now, if it has moved.")
@click.option("--cached", is_flag=True, help="Use what the cache holds, instead of an empty one.")
@json_option
@click.pass_context
def rerun(
    context: click.Context,
    metadata: Path,
    out: Path | None,
    collection: str | None,
    cached: bool,
    as_json: bool,
) -> None:
    """Make a run again from its metadata, in an empty cache, and compare.

    METADATA is the file beside a run, the run itself, or ir-metadata.yml. If the bytes differ,
    rank-biased overlap and Kendall's τ union of both rankings are printed, and the exit code is 1.
    """
    from irplatform import rerun as make_again

    again = make_again(metadata, out=out, collection=collection, cached=cached)
    if as_json:
        print_json(again.as_json())
    else:
        _print(again)
        if again.path is not None:
            notice(f"new run: {again.path}")
    context.exit(0 if again.same else 1)


def _print(again: Rerun) -> None:
    if again.same:
        say_text(
            f"{again.name}: the same bytes (sha256 {again.obtained[:12]}…), made in "
            f"{again.seconds:,.0f} s."
        )
        return
    say_text(f"{again.name}: other bytes than recorded.")
    if again.overlap is None:
        say_text("The recorded run is not beside its metadata, so the rankings are not compared.")
        return
    alike = again.overlap
    tau = "not defined" if alike.tau is None else f"{alike.tau:.4f}"
    say_text(
        f"Rank-biased overlap {alike.rbo:.4f}, Kendall's τ union {tau}; {alike.same:,} of "
        f"{alike.topics:,} topics have the same ranking. `platform verify` says what changed."
    )
