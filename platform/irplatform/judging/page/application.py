"""The pages of `platform judge` over HTTP, and who may call them.

On loopback a request has to name this machine, so that no page of another site reaches the server
under a name that leads here. Elsewhere its path begins with a token. What writes has to come from
the page itself. Documents are sent as data, and the page shows them as text.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import nullcontext
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Mount, Route

from irplatform.errors import InputError, PlatformError, in_a_line
from irplatform.judging.page.desk import Click, Move
from irplatform.judging.store import ConflictError, backup, stored_judgments
from irplatform.system.console import quiet
from irplatform.system.process import serving

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, MutableMapping
    from pathlib import Path

    from starlette.requests import Request

    from irplatform.judging.page.desk import Desk

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_MOST = 64_000
"""Bytes of a request."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGES = {
    "/": ("page.html", "text/html"),
    "/adjudicate": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/favicon.ico": ("", "image/x-icon"),
}
_MOVES: Mapping[str, type[Move]] = {
    "start": Move,
    "next": Move,
    "step": Move,
    "judge": Click,
    "undo": Click,
}
_STATUS = {
    ConflictError: 409,
    ValidationError: 422,
    InputError: 422,
    PlatformError: 500,
    sqlite3.Error: 503,
    OSError: 503,
    Exception: 500,  # a fault of ours, whose traceback is shown
}


def application(desk: Desk, folder: Path, token: str = "") -> Starlette:
    """Return the ASGI application of a desk.

    Args:
        desk: what it serves; the event loop's thread calls it.
        folder: the pool's folder, for export and backup.
        token: what addresses begin with; "" lets in requests that name this machine.
    """

    def page(name: str, kind: str) -> Callable[[Request], Response]:
        content = (files("irplatform.judging.page") / name).read_bytes() if name else b""
        return lambda _: Response(content, media_type=kind)

    def moved(model: type[Move], move: Callable[[Any], dict[str, Any]]) -> Callable[..., Any]:
        async def answer(request: Request) -> Response:
            return _json(move(model.model_validate_json(await request.body())))

        return answer

    def export(_: Request) -> Response:
        lines = [orjson.dumps(judgment) for judgment in stored_judgments(folder)]
        return _file("judgments.jsonl", b"\n".join([*lines, b""]))

    routes = [
        *(Route(path, page(*content)) for path, content in _PAGES.items()),
        *(
            Route(f"/api/{name}", moved(model, getattr(desk, name)), methods=["POST"])
            for name, model in _MOVES.items()
        ),
        Route("/export", export),
        Route("/backup", lambda _: _file("judgments.sqlite", backup(folder))),
    ]
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)] if token else routes,
        middleware=[Middleware(_Guarded, is_local=not token)],
        exception_handlers=dict.fromkeys(_STATUS, _error_answer),
    )


def serve(app: Starlette, bound: socket.socket, address: str) -> None:
    """Serve at a bound address until Ctrl-C or SIGTERM; print the `address` line first."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # `serving` has them
    bound.listen()
    with serving(lambda number: server.handle_exit(number, None)):
        print(address, flush=True)
        with quiet():
            server.run(sockets=[bound])


class _Guarded:
    """Refuses requests of others, and adds the headers that keep the page to itself."""

    def __init__(self, app: Any, is_local: bool) -> None:
        self._app, self._is_local = app, is_local

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    (name.lower().encode(), text.encode()) for name, text in _HEADERS.items()
                ]
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        problem = self._problem(scope["method"], Headers(scope=scope))
        answer = _json({"error": problem}, 403) if problem else self._app
        await answer(scope, receive, with_headers)

    def _problem(self, method: str, headers: Headers) -> str:
        """Why a request is refused: it names another machine, or writes from another site."""
        host, length = headers.get("host", ""), headers.get("content-length", "")
        if self._is_local and re.sub(r":\d*$", "", host).strip("[]") not in LOOPBACK:
            return "this server answers to localhost alone."
        if method in ("GET", "HEAD"):
            return ""
        if urlsplit(headers.get("origin", f"//{host}")).netloc != host:
            return "a page of another site may not write here."
        if headers.get("content-type") != "application/json":
            return "the body has to be JSON."
        is_short = length.isdigit() and int(length) <= _MOST
        return "" if is_short else f"a body has its length, and {_MOST:,} bytes at most."


async def _error_answer(_: Request, error: Exception) -> Response:
    status = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
    if isinstance(error, ConflictError):
        standing = error.line and error.line.as_json()
        return _json({"error": str(error), "judgment": standing}, status)
    problem = str(error) if isinstance(error, PlatformError) else in_a_line(error)
    if isinstance(error, ValidationError):
        fault = error.errors()[0]
        problem = f"{'.'.join(map(str, fault['loc'])) or 'this'}: {fault['msg']}."
    return _json({"error": problem}, status)


def _file(name: str, content: bytes) -> Response:
    return Response(content, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _json(value: object, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")
