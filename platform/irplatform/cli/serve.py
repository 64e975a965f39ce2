"""`platform serve`: search, rerank and explain over REST or MCP."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import COLLECTION, RERANKER, RETRIEVER
from irplatform.cli.options import PATH, flag_option, number_option, options_of
from irplatform.cli.settings import run_settings
from irplatform.errors import InputError
from irplatform.serving.limits import LIMITS, USERS, Limits
from irplatform.settings import FIRST_STAGE, WHAT, taken_by
from irplatform.system.console import notice
from irplatform.system.packages import require

if TYPE_CHECKING:
    from pathlib import Path

_TOKEN = "IRPLATFORM_SERVE_TOKEN"
_SERVED = "What to serve"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@command(
    "platform serve --collection demo --reranker delta",
    "platform serve --reranker delta --checkpoint my-delta --port 0",
    "platform serve --collection demo --mcp",
)
@with_options(
    click.option("--reranker", type=RERANKER, help="The reranker; default: only search."),
    click.option(
        "--checkpoint",
        type=PATH,
        help="A folder written by `platform train`; default: train on the collection's topics.",
    ),
    click.option(
        "--collection",
        type=COLLECTION,
        help="A name, a path or an ir_datasets id; default: only score texts.",
    ),
    click.option(
        "--retriever",
        type=RETRIEVER,
        default="bm25",
        show_default=True,
        help="The retriever that searches the collection.",
    ),
    number_option("--rerank-depth", default=100, least=1, text="Results of a search to rerank."),
    group=_SERVED,
    example="--collection demo --reranker delta",
)
@options_of("serve", headings={WHAT: _SERVED, FIRST_STAGE: _SERVED})
@with_options(
    click.option("--host", default="127.0.0.1", show_default=True, help="The address."),
    click.option(
        "--port",
        default=8000,
        show_default=True,
        type=click.IntRange(0, 65535),
        help="The port; 0 takes a free one, which is printed.",
    ),
    flag_option("--mcp", text="Serve as an MCP server on standard input and output instead."),
    group="Where",
    example="--port 0",
)
@options_of(
    "serve",
    settings=Limits,
    examples={USERS: "--access-log", LIMITS: "--max-seconds 10"},
)
def serve(
    reranker: str | None,
    checkpoint: Path | None,
    collection: str | None,
    retriever: str,
    host: str,
    port: int,
    mcp: bool,
    **options: Any,
) -> None:
    """Serve search, rerank and explain over HTTP, or as tools of MCP.

    All is loaded once, then the address is printed. Requests that arrive together are answered
    together. Ctrl-C ends it once what it has begun is answered; a second one ends it at once.
    """
    if reranker is None and collection is None:
        raise InputError("there is nothing to serve: give --reranker, --collection, or both.")
    if mcp:
        require("--mcp", "mcp")
    else:
        require("`platform serve`", "fastapi", "uvicorn", "prometheus_client")
    from irplatform.experiment.arguments import as_retriever
    from irplatform.serving.service import open_service

    bounds = {limit.name: options.pop(limit.name) for limit in taken_by(Limits, "serve")}
    limits = Limits(**bounds, token=_token())
    rerankers = (reranker,) if reranker else ()
    options |= {"collection": collection or "", "checkpoint": checkpoint}
    bound = None
    if not mcp:
        from irplatform.serving.http_server import bind
        from irplatform.serving.http_server import serve as serve_requests

        bound = bind(host, port)
        if host not in _LOOPBACK and not limits.token:
            notice(f"WARNING: all who reach {host} can search; there is no token ({_TOKEN})")
    depth = options.pop("rerank_depth")
    settings = run_settings(
        {**options, "first_stages": as_retriever(retriever)}, rerankers=rerankers
    )
    service = open_service(settings, depth)
    if bound is None:
        from irplatform.serving.mcp import serve as serve_tools

        serve_tools(service, limits)
    else:
        serve_requests(service, limits, bound)


def _token() -> str:
    """The token of the environment; "" for none. InputError if no header can carry it."""
    token = os.environ.get(_TOKEN, "")
    if _TOKEN in os.environ and not re.fullmatch(r"[!-~]+", token):
        raise InputError(f"{_TOKEN} must be letters, digits and signs of ASCII, without blanks.")
    return token
