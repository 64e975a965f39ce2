"""`platform collections build trec-pm-pool-YEAR`: the closed pool of a year of TREC PM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Command, with_options
from irplatform.cli.options import PATH, NamedPath
from irplatform.cli.output import json_option, print_json
from irplatform.collections.builders import BUILDERS
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from irplatform.building.pm_pool import PoolSettings

_FILE = NamedPath(exists=True, dir_okay=False, path_type=Path)
_options = with_options(
    with_options(
        click.option(
            "--topics", type=_FILE, help="This year's topics (XML), instead of a download."
        ),
        click.option(
            "--qrels",
            type=_FILE,
            help="This year's judgments (4 columns), instead of a download. The other year is "
            "then left out unless you give its files too.",
        ),
        click.option(
            "--sampled-qrels", type=_FILE, help="This year's sampled judgments (5 columns)."
        ),
        group="This year",
    ),
    with_options(
        click.option("--partner-topics", type=_FILE, help="Topics of the other year."),
        click.option("--partner-qrels", type=_FILE, help="Judgments of the other year."),
        click.option(
            "--partner-sampled-qrels", type=_FILE, help="Sampled judgments of the other year."
        ),
        click.option(
            "--alone",
            is_flag=True,
            help="Leave out the other year. Rerankers are then cross-validated on this year's "
            "topics.",
        ),
        group="The other year, used for training",
    ),
    with_options(
        click.option(
            "--extra-abstracts",
            type=NamedPath(exists=True, path_type=Path),
            help="The track's conference abstracts: extra_abstracts.tar.gz, a zip, or a folder.",
        ),
        click.option(
            "--no-extra-abstracts",
            is_flag=True,
            help="Leave out conference abstracts (one judged document in thirteen).",
        ),
        click.option(
            "--email", help="Your e-mail address. NCBI writes to it before blocking a user."
        ),
        click.option(
            "--rate", type=float, help="Calls per second.  [default: 3; 10 with NCBI_API_KEY]"
        ),
        group="Documents",
    ),
    with_options(
        click.option("--out", type=PATH, help="The folder to create.  [default: in the cache]"),
        click.option(
            "--dry-run", is_flag=True, help="Only show what would be fetched, and from where."
        ),
        json_option,
        group="Output",
    ),
)


def pool_command(year: int) -> click.Command:
    """The command that builds the pool of a year."""
    name = f"trec-pm-pool-{year}"

    def command(**options: Any) -> None:
        _build(year, options)

    command.__doc__ = f"""Build {BUILDERS[name]}.

    Fetches them from PubMed under the collection name {name}. The other year's judged documents
    are included, because its topics train rerankers for this one. If interrupted, run the same
    command again to continue.
    """
    example = f"platform collections build {name} --email you@example.org"
    return click.command(name, cls=Command, examples=[example])(_options(command))


def _build(year: int, options: dict[str, Any]) -> None:
    from irplatform.building.pm_pool import build_pool, preview

    settings = _settings(year, options)
    if options["dry_run"]:
        lines = preview(settings)
        if options["as_json"]:
            print_json({"collection": settings.name, "would_fetch": lines})
        else:
            say_text("\n".join(lines))
        return
    report = build_pool(settings)
    if options["as_json"]:
        print_json(report.facts())
    else:
        say_text("\n".join(report.lines()))


def _settings(year: int, options: dict[str, Any]) -> PoolSettings:
    from irplatform.building.pm_pool import PoolSettings
    from irplatform.building.pm_sources import Given

    names = ("topics", "qrels", "sampled_qrels")
    return PoolSettings(
        year,
        out=options["out"],
        email=options["email"],
        rate=options["rate"],
        given=Given(*(options[name] for name in names)),
        partner=Given(*(options[f"partner_{name}"] for name in names)),
        alone=options["alone"],
        extra_abstracts=options["extra_abstracts"],
        download_extra=not options["no_extra_abstracts"],
    )
