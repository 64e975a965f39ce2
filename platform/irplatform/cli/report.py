"""`platform report`: a comparison of runs as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from irplatform.analysis.settings import AnalysisSettings
from irplatform.cli.commands import command
from irplatform.cli.options import PATH, options_of
from irplatform.settings import OUTPUT
from irplatform.system.console import say_text


@command(
    "platform report runs/demo",
    "platform report bm25.run ltr.run --collection 2017.toml --html ltr.html",
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@options_of(
    "report",
    settings=AnalysisSettings,
    without=("topics",),
    examples={OUTPUT: "--html report.html --plots figures"},
)
def report(
    runs: tuple[Path, ...],
    html: Path | None,
    **options: Any,
) -> None:
    """Write a comparison of runs to one HTML file, which works offline and can be mailed.

    RUNS are run files, or a folder of `platform run`. The file has tables and sentences, plots, two
    rankings side by side for any topic, how the runs were made, and BibTeX. Without --collection or
    --qrels, the collection is the one that the runs' metadata name.
    """
    from irplatform import write_report

    if html is None:
        folder = runs[0] if len(runs) == 1 and runs[0].is_dir() else Path()
        html = folder / "report.html"
    path = write_report(
        runs,
        html,
        command=("platform", *sys.argv[1:]),
        **options,
    )
    say_text(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
