"""`platform judge`: people judge the documents of a pool on a page."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import pool_collection_option
from irplatform.cli.options import PATH
from irplatform.errors import InputError
from irplatform.system.console import notice, say_text
from irplatform.system.packages import require

if TYPE_CHECKING:
    from pathlib import Path


@command(
    "platform judge pool --collection demo --grades '0=not relevant,1=relevant'",
    "platform judge pool --doubled 0.1 --port 0",
    "platform judge pool --export judgments.jsonl",
)
@click.argument("pool", type=PATH)
@with_options(
    pool_collection_option,
    click.option(
        "--grades",
        metavar="GRADE=TEXT,…",
        help="The grades and what they mean; default: those of last time, or the collection's.",
    ),
    click.option(
        "--doubled",
        type=click.FloatRange(0, 1),
        help="The share of documents that two people judge; default: that of last time, or none.",
    ),
    group="What to judge",
    example="--grades '0=not relevant,1=relevant'",
)
@with_options(
    click.option("--host", default="127.0.0.1", show_default=True, help="The address."),
    click.option(
        "--port",
        default=8001,
        show_default=True,
        type=click.IntRange(0, 65535),
        help="The port; 0 takes a free one, which is printed.",
    ),
    group="Where",
    example="--port 0",
)
@with_options(
    click.option("--export", type=PATH, help="Write the judgments to this file instead."),
    click.option(
        "--backup", type=PATH, help="Copy judgments and their history to this file instead."
    ),
    group="Instead of a page",
    example="--export judgments.jsonl",
)
def judge(
    pool: Path,
    collection: str | None,
    grades: str | None,
    doubled: float | None,
    host: str,
    port: int,
    export: Path | None,
    backup: Path | None,
) -> None:
    """Judge the documents of a pool on a page in the browser.

    Each judgment is on the disk before the next document shows. Several people judge at once, under
    their names. --export and --backup work at any time, also while people judge.
    """
    if export or backup:
        _write(pool, export, backup)
        return
    require("`platform judge`", "fastapi", "uvicorn", "prometheus_client")
    from irplatform.judging.page.application import LOOPBACK, application, serve
    from irplatform.judging.page.opening import opened_desk
    from irplatform.judging.store import TOKEN
    from irplatform.serving.http_server import bind

    bound = bind(host, port)
    with opened_desk(pool, collection, grades=grades, doubled=doubled) as desk:
        token = ""
        if host not in LOOPBACK:
            token = desk.store.setting(TOKEN, secrets.token_urlsafe(16))
        address, port = bound.getsockname()[:2]
        url_host = f"[{address}]" if ":" in address else address
        place = f"http://{url_host}:{port}/{token and f'{token}/'}"
        serve(application(desk, pool, token), bound, f"judging {pool} on {place} (Ctrl-C ends)")
    notice("stopped; all judgments are on the disk")


def _write(pool: Path, export: Path | None, backup: Path | None) -> None:
    from irplatform.files.writing import atomic_write, same_file
    from irplatform.judging import store
    from irplatform.judging.judgments import write_judgments

    for path in filter(None, (export, backup)):
        if same_file(path.parent, pool):
            raise InputError("this is in the pool itself; name a file elsewhere.", path=path)
    if export:
        write_judgments(export, store.stored_judgments(pool))
        say_text(f"{export}")
    if backup:
        with atomic_write(backup, "wb") as file:
            file.write(store.backup(pool))
        say_text(f"{backup}")
