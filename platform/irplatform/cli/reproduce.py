"""`platform reproduce`: run published results again and compare."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import command
from irplatform.cli.names import list_option
from irplatform.cli.options import PATH, device_option, flag_option
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError, PlatformError
from irplatform.files.writing import writable_folder
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.reproduction.differences import Checked, Claim, Outcome
    from irplatform.reproduction.execute import Execution, Verdict
    from irplatform.reproduction.rows import Refused, Row

_Difference = tuple[float, float | None, float | None]
"""A difference with its interval, which a single topic has not."""
_HEADER = ("figure", "expected", "obtained")
_CANNOT_RUN: Verdict = "cannot_run"
_COUNTED: dict[Verdict, str] = {
    "passed": "passed",
    "failed": "failed",
    _CANNOT_RUN: "cannot run",
    "skipped": "skipped",
}
_COUNTED_DIFFERENCES: dict[Outcome, str] = {
    "passed": "passed",
    "failed": "failed",
    "not_measured": "not measured yet",
}


@command("platform reproduce --quick --fresh", "platform reproduce --only delta,drmm")
@list_option(
    "--only",
    "patterns",
    metavar="PATTERN,…",
    help="Only results whose id, tag or system matches, such as 'delta-*', or else both results of "
    "a difference whose id or source does.",
)
@flag_option("--quick", text="Only results that take a minute and need no data.")
@flag_option("--fresh", text="Use an empty cache, and remove it at the end.")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=PATH,
    help="A TOML file of results, instead of those of plugins; repeatable.",
)
@click.option(
    "--keep",
    "kept_in",
    metavar="FOLDER",
    type=PATH,
    callback=lambda _context, _option, folder: folder and writable_folder(folder),
    help="Add the runs and scores of topics to this folder, for `platform compare`.",
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Results to run at a time: one for each core, if there is memory for so many.",
)
@flag_option("--list", "list_only", text="List the results without running them.")
@device_option("cpu", " Expected values were measured on the CPU.")
@json_option
@click.pass_context
def reproduce(
    context: click.Context,
    patterns: tuple[str, ...],
    quick: bool,
    fresh: bool,
    files: tuple[Path, ...],
    kept_in: Path | None,
    jobs: int,
    list_only: bool,
    device: str,
    as_json: bool,
) -> None:
    """Run published results again and compare.

    Each result is a row of a TOML file: a run and its expected values. A gain over the first stage
    has to lie in the published 95 % interval, another value within a tolerance; the exit code is 1
    otherwise. Results whose collection is not on this machine are skipped.

    Claims of papers are differences between two results. Those between results that were run are
    checked at the end: they have to lie in the published interval, too.
    """
    from irplatform.registry.loading import registry
    from irplatform.reproduction.differences import (
        check,
        claims_about,
        known_claims,
        names_of_rows,
        shipped_claims,
    )
    from irplatform.reproduction.execute import reproduce as run_rows
    from irplatform.reproduction.keep import keep
    from irplatform.reproduction.rows import known_rows, select, shipped_rows

    refusals: list[Refused] = []
    if files:
        all_rows = known_rows(files)
        all_claims = known_claims(files, all_rows)
    else:
        all_rows, refusals = shipped_rows(registry().results)
        all_claims, of_claims = shipped_claims(registry().results, all_rows, refusals)
        refusals += of_claims
    names = names_of_rows(all_claims)
    rows = select(all_rows, patterns, quick=quick, refused=refusals, further_names=names)
    claims = claims_about(rows, all_claims)
    for refusal in refusals:
        notice(str(refusal))
    if list_only:
        _list(rows, claims, as_json)
        return
    executions: list[Execution] = []
    tables: set[Path | None] = set()
    widths = _widths(rows, claims)
    for execution in run_rows(rows, fresh=fresh, device=device, jobs=jobs):
        if not as_json:
            if not executions:
                _line(_HEADER, widths, "verdict")
                say_text("-" * (2 + sum(widths) + 2 * len(widths) + len("verdict")))
            _print(execution, widths)
        tables.update({keep(execution, kept_in)} if kept_in else ())
        executions.append(execution)
    for table in sorted(filter(None, tables)):
        notice(f"kept for comparisons in {table}")
    verdicts = [execution.verdict for execution in executions]
    counts = {verdict: verdicts.count(verdict) for verdict in _COUNTED}
    differences = [*check(claims, executions)]
    outcomes = [difference.outcome for difference in differences]
    if as_json:
        results = [execution.as_json() for execution in executions]
        checked = [difference.as_json() for difference in differences]
        print_json({**counts, "results": results, "differences": checked})
    else:
        for difference in differences:
            _print_difference(difference, widths)
        kinds = [v for v, count in counts.items() if count or v != _CANNOT_RUN]
        counted = ", ".join(f"{counts[v]} {_COUNTED[v]}" for v in kinds)
        phrases = [f"{outcomes.count(o)} {words}" for o, words in _COUNTED_DIFFERENCES.items()]
        say_text(f"{counted}; differences: {', '.join(phrases)}" if differences else counted)
    if counts["failed"] or "failed" in outcomes:
        context.exit(PlatformError.exit_code)
    context.exit(InputError.exit_code if counts[_CANNOT_RUN] else 0)


def _list(rows: Sequence[Row], claims: Sequence[Claim], as_json: bool) -> None:
    if as_json:
        entries = [row.model_dump(mode="json", exclude={"file"}) for row in rows]
        print_json({"results": entries, "differences": [claim.as_json() for claim in claims]})
        return
    lines = [
        (row.id, ", ".join(row.tags), f"{row.minutes:g} min", f"platform {_shell(row)}")
        for row in rows
    ]
    lines += [(claim.id, claim.source, "", f"{claim}: {claim.verdict}") for claim in claims]
    print_rows(lines)


def _shell(row: Row) -> str:
    """A row's command for a shell, which fills in variables that are not set here."""
    words = row.command(row.unnamed_measures())
    return " ".join(
        f'"{word}"' if "${" in word else shlex.quote(word) for word in map(row.fill, words)
    )


def _name(measure: str, alone: bool) -> str:
    return f"{measure} alone" if alone else measure


def _widths(rows: Sequence[Row], claims: Sequence[Claim]) -> tuple[int, ...]:
    """Widths for all rows: each is printed as soon as it is done."""
    cells = [list(_HEADER)]
    for row in rows:
        for measure, alone, e in row.figures():
            tolerance = row.tolerance if e.tolerance is None else e.tolerance
            expected = _expected(e.value, tolerance, e.std, e.gain)
            obtained = "0.0000, +0.0000" if e.gain else ""
            cells.append([_name(measure, alone), expected, obtained])
    widest = (0.0, 0.0, 0.0)
    cells += [[_name(c.measure, c.alone), *_sides(c.expected, widest)] for c in claims]
    return tuple(max(map(len, column)) for column in zip(*cells, strict=True))


def _expected(
    value: float,
    tolerance: float,
    std: float | None,
    gain: tuple[float, float, float] | None,
) -> str:
    if gain:
        return f"{value:.4f}, {_difference(gain)}"
    spread = "" if std is None else f" (std {std:.4f})"
    return f"{value:.4f} ± {tolerance:g}{spread}"


def _sides(*differences: _Difference | None) -> list[str]:
    return [_difference(difference) if difference else "-" for difference in differences]


def _difference(difference: _Difference) -> str:
    mean, low, high = difference
    ends = "" if low is None or high is None else f" [{low:+.4f}, {high:+.4f}]"
    return f"{mean:+.4f}{ends}"


def _line(cells: Sequence[str], widths: Sequence[int], verdict: str) -> None:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    say_text("  ".join(["", *padded, verdict]).rstrip())


def _print(execution: Execution, widths: Sequence[int]) -> None:
    if not execution.figures:
        label = {"skipped": "skipped", _CANNOT_RUN: "CANNOT RUN"}.get(execution.verdict, "FAILED")
        say_text(f"{execution.row.id}: {label}: {execution.reason}")
        return
    say_text(f"{execution.row.id}: {execution.verdict}, {execution.seconds:.0f} s")
    for figure in execution.figures:
        expected = _expected(figure.expected, figure.tolerance, figure.std, figure.gain)
        obtained = "-" if figure.obtained is None else f"{figure.obtained:.4f}"
        if figure.obtained_gain is not None:
            obtained += f", {figure.obtained_gain:+.4f}"
        _line([_name(figure.measure, figure.alone), expected, obtained], widths, figure.verdict)


def _print_difference(difference: Checked, widths: Sequence[int]) -> None:
    claim, test = difference.claim, difference.obtained
    say_text(f"{claim.id}: {claim}")
    obtained = (test.difference, test.low, test.high) if test else None
    cells = [_name(claim.measure, claim.alone), *_sides(claim.expected, obtained)]
    _line(cells, widths, difference.words)
