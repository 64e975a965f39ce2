"""`platform verify` and `platform rerun`: compare runs with their metadata, make them again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import command
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import PATH
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import counted, listing
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.analysis.rerun import Rerun
    from irplatform.analysis.verify import Finding

_NOT_HERE = "A recorded run that is not beside its metadata is not compared."
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
    libraries. A folder stands for the runs that it says it has, in its report and metadata; what
    they share is printed once. The exit code is 1 if anything changed, or a run is gone.
    """
    from irplatform.analysis.verify import changed

    findings: dict[Path, list[Finding]] = {}
    for path in runs:
        findings |= _of(path, collection)
    if as_json:
        entries = [
            {"run": str(path), "findings": [f.as_json() for f in run_findings]}
            for path, run_findings in findings.items()
        ]
        print_json({"runs": entries})
    else:
        _print_findings(findings)
    context.exit(1 if any(map(changed, findings.values())) else 0)


def _print_findings(findings: Mapping[Path, list[Finding]]) -> None:
    """Print the findings of a run; those of several once, with the runs that share them."""
    from irplatform.analysis.verify import changed
    from irplatform.runs.names import names_of

    shared = _shared(findings)
    count, names = len(findings), names_of([*findings])
    of_all = [_row(f) for f, paths in shared.items() if len(paths) == count]
    say_text(f"All {count:,} runs" if count > 1 else str(*findings))
    print_rows(of_all)
    rows = []
    for finding, paths in shared.items():
        if len(paths) == count:
            continue
        detail = counted(len(paths), "run")
        if finding.verdict != "agrees":
            text = listing((names[path] for path in paths), len(paths))
            detail = f"{text}: {finding.detail}"
        elif finding.detail:
            detail = f"{finding.detail} ({detail})"
        rows.append(_row(replace(finding, detail=detail)))
    if rows:
        say_text("Some runs")
        print_rows(rows)
    changes = Counter(
        name for run_findings in findings.values() for name in dict.fromkeys(changed(run_findings))
    )
    if changes and count == 1:
        say_text(
            f"{next(iter(findings))}: changed since it was made: {listing(changes, len(changes))}."
        )
    elif changes:
        phrases = [
            f"{name} ({'all runs' if runs == count else counted(runs, 'run')})"
            for name, runs in changes.items()
        ]
        say_text(f"Changed since they were made: {listing(phrases, len(phrases))}.")
    else:
        unknown = dict.fromkeys(f.subject for f in shared if f.verdict == "unknown")
        unchecked = f"; not checked: {listing(unknown, len(unknown))}" if unknown else ""
        say_text(f"Nothing has changed{unchecked}.")


def _shared(findings: Mapping[Path, list[Finding]]) -> dict[Finding, list[Path]]:
    """The runs that have each finding in common; of several, digests of the files are left out."""
    shared: dict[Finding, list[Path]] = {}
    for path, run_findings in findings.items():
        for finding in run_findings:
            alike = finding
            if len(findings) > 1 and (finding.subject, finding.verdict) == ("run", "agrees"):
                alike = replace(finding, detail="the recorded SHA-256 of each")
            shared.setdefault(alike, []).append(path)
    return shared


def _row(finding: Finding) -> tuple[str, str, str]:
    return f"  {finding.subject}", _WORDS[finding.verdict], finding.detail


def _of(path: Path, collection: str | None) -> dict[Path, list[Finding]]:
    """The findings of a run file, or of all runs that a folder says it has."""
    from irplatform import verify as verify_run
    from irplatform.analysis.verify import verify_folder
    from irplatform.run_folder.listed import runs_in

    if not path.is_dir():
        return {path: verify_run(path, collection=collection)}
    findings = verify_folder(path, collection=collection)
    if others := [str(run.relative_to(path)) for run in runs_in(path) if run not in findings]:
        notice(f"{path}: not checked, for they have no metadata: {listing(others)}")
    return findings


@command(
    "platform rerun runs/reference/demo/bm25.run.meta.json",
    "platform rerun runs/demo --out runs/again",
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
    """Make runs again from their metadata, in an empty cache, and compare.

    METADATA is the file beside a run, or the run itself: this run and what it starts from are made.
    For ir-metadata.yml all runs of the command are made, for a folder all runs in it. If bytes
    differ, rank-biased overlap is printed, and the exit code is 1.
    """
    from irplatform import rerun as make_again

    again = make_again(metadata, out=out, collection=collection, cached=cached)
    if as_json:
        print_json(again.as_json())
    else:
        _print(again)
        if out is not None:
            notice(f"new runs: {out}")
    context.exit(0 if again.same else 1)


def _print(again: Rerun) -> None:
    if len(again.runs) > 1:
        _print_several(again)
        return
    (run,) = again.runs
    if run.same:
        say_text(
            f"{run.name}: the same bytes (sha256 {run.obtained[:12]}…), made in "
            f"{again.seconds:,.0f} s."
        )
    else:
        say_text(f"{run.name}: other bytes than recorded.")
        if alike := run.overlap:
            say_text(
                f"Rank-biased overlap {alike.rbo:.4f}; {alike.same:,} of {alike.topics:,} topics "
                "have the same ranking. `platform verify` says what changed."
            )
        else:
            say_text(_NOT_HERE)
    if again.left_out:
        left_out = listing(again.left_out, len(again.left_out))
        say_text(f"Left out of its command, since this run does not need it: {left_out}.")


def _print_several(again: Rerun) -> None:
    """A table of the runs, and how many are the same."""
    rows: list[tuple[str, ...]] = [("run", "bytes", "overlap", "same rankings")]
    for run in again.runs:
        cells = ("-", "-")
        if alike := run.overlap:
            cells = (f"{alike.rbo:.4f}", f"{alike.same:,} of {alike.topics:,} topics")
        rows.append((run.name, "the same" if run.same else "OTHERS", *cells))
    if again.same:
        rows = [row[:2] for row in rows]
    print_rows(rows)
    count = "All" if again.same else f"{sum(run.same for run in again.runs):,} of"
    say_text(
        f"{count} {counted(len(again.runs), 'run')} have the same bytes; made in "
        f"{again.seconds:,.0f} s."
    )
    if not again.same:
        missing = any(not run.same and run.overlap is None for run in again.runs)
        say_text(f"{_NOT_HERE} " * missing + "`platform verify` says what changed.")
