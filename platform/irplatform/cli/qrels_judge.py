"""`platform qrels judge`: a machine judges the documents of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Command, with_options
from irplatform.cli.names import JUDGE, list_option, pool_collection_option
from irplatform.cli.options import PATH, device_option, flag_option, setting_option
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import read_settings
from irplatform.settings import MACHINE, OUTPUT
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "judge",
    cls=Command,
    examples=[
        "platform qrels judge pool --judge llm --set model=NAME --estimate",
        "platform qrels judge pool --judge llm --set model=NAME",
        "platform qrels judge pool --judge cross-encoder --set model=M --fit-on pool",
    ],
)
@click.argument("pool", type=PATH)
@with_options(
    click.option("--judge", required=True, type=JUDGE, help="The judge; `judges list` has all."),
    setting_option("the judge", "judges show"),
    pool_collection_option,
    click.option(
        "--grades",
        metavar="GRADE=TEXT,…",
        help="The grades and what they mean; default: those that people judge this pool by, or the "
        "collection's.",
    ),
    group="What to judge",
    example="--judge llm --grades '0=not relevant,1=relevant'",
)
@with_options(
    list_option(
        "--fit-on",
        type=PATH,
        help="Fit the judge, if it learns, on people's judgments in these pools and files.",
    ),
    list_option(
        "--fit-topics",
        metavar="TOPIC,…",
        help="Fit it on these topics alone; `agree` leaves them out. Default: all of --fit-on.",
    ),
    group="Judges that learn",
    example="--fit-on pool --fit-topics 1,2,3",
)
@with_options(
    flag_option("--estimate", text="Judge nothing; say what it would cost."),
    click.option(
        "--prices",
        type=(click.FloatRange(0), click.FloatRange(0)),
        default=(0.0, 0.0),
        metavar="READ WRITTEN",
        help="Prices of a million tokens that a service reads, and of a million that it writes.",
    ),
    group="Cost",
    example="--estimate --prices 0.15 0.60",
)
@with_options(device_option(), group=MACHINE)
@with_options(json_option, group=OUTPUT)
def judge(pool: Path, judge: str, settings: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Let a machine judge the documents of a pool.

    Its judgments are in POOL/JUDGE.jsonl, apart from those of people. The same command goes on
    where an interrupted one ended, and asks again about documents that got no answer. A pool that
    learns gets its rounds until its budget is spent.
    """
    from irplatform import judge_pool

    read = read_settings(settings, None, judges=[judge])
    report = judge_pool(pool, judge, settings=read, **options)
    if as_json:
        print_json(report.as_json())
    else:
        say_text(report.sentence)
