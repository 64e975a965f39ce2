"""`platform qrels judge`: a machine judges the documents of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import Command, with_options
from irplatform.cli.names import JUDGE, list_option, pool_collection_option
from irplatform.cli.options import PATH, device_option, setting_option
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import read_settings
from irplatform.errors import counted
from irplatform.settings import MACHINE, OUTPUT
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.judging.machines import MachineJudgments, Prices


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
    click.option("--estimate", is_flag=True, help="Judge nothing; say what it would cost."),
    click.option("--price-read", type=click.FloatRange(0), help="Price of 1,000,000 tokens read."),
    click.option(
        "--price-written", type=click.FloatRange(0), help="Price of 1,000,000 tokens written."
    ),
    group="Cost",
    example="--estimate --price-read 0.15",
)
@with_options(device_option(), group=MACHINE)
@with_options(json_option, group=OUTPUT)
def judge(
    pool: Path,
    judge: str,
    settings: tuple[str, ...],
    collection: str | None,
    grades: str | None,
    fit_on: tuple[Path, ...],
    fit_topics: tuple[str, ...],
    estimate: bool,
    price_read: float | None,
    price_written: float | None,
    device: str,
    as_json: bool,
) -> None:
    """Let a machine judge the documents of a pool.

    Its judgments are in POOL/JUDGE.jsonl, apart from those of people. The same command goes on
    where an interrupted one ended, and asks again about documents that got no answer.
    """
    from irplatform import judge_pool
    from irplatform.judging.machines import Prices

    prices = Prices(price_read or 0.0, price_written or 0.0)
    done = judge_pool(
        pool,
        judge,
        collection=collection,
        grades=grades,
        settings=read_settings(settings, None, judges=[judge]),
        fit_on=fit_on,
        fit_topics=fit_topics,
        prices=prices,
        estimate=estimate,
        device=device,
    )
    if as_json:
        print_json(done.as_json())
        return
    _print(done, prices, estimate)


def _print(done: MachineJudgments, prices: Prices, estimate: bool) -> None:
    documents = counted(done.unjudged, "document")
    if done.absent:
        notice(f"{counted(done.absent, 'document')} of the pool not in the collection: left out")
    if estimate:
        say_text(f"{documents} to judge by {done.source}: about {prices.told(done.expected)}")
        return
    if done.unjudged:
        notice(f"{documents} got no grade: unjudged")
    if any(vars(done.spent).values()):
        notice(f"spent: {prices.told(done.spent)}")
    before = f" ({done.before:,} before)" if done.before else ""
    say_text(f"{done.path}: {counted(done.judged, 'judgment')} by {done.source.short}{before}")
