"""The pages of `platform judge` over HTTP, and who may call them.

On loopback a request has to name this machine, so that no page of another site reaches the server
under a name that leads here. Elsewhere it has to bring a token. What writes has to come from the
page itself. Documents are sent as data, and the page shows them as text.
"""

from __future__ import annotations

import hmac
import sqlite3
from contextlib import nullcontext
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from irplatform.errors import InputError, PlatformError, in_a_line
from irplatform.judging.page.desk import Click, Move
from irplatform.judging.store import ConflictError, backup, stored_judgments
from irplatform.system.console import quiet
from irplatform.system.process import serving

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, MutableMapping
    from pathlib import Path

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
        token: what requests have to bring; "" lets in those that name this machine.
    """

    def page(name: str, kind: str) -> Callable[[Request], Response]:
        content = (files("irplatform.judging.page") / name).read_bytes() if name else b""
        return lambda _: Response(content, media_type=kind)

    def moved(model: type[Move], move: Callable[[Any], dict[str, Any]]) -> Callable[..., Any]:
        async def answer(request: Request) -> Response:
            return _json(move(model.model_validate_json(await request.body())))

        return answer

    def export(_: Request) -> Response:
        lines = (
            orjson.dumps(j, option=orjson.OPT_APPEND_NEWLINE) for j in stored_judgments(folder)
        )
        return _file("judgments.jsonl", b"".join(lines))

    routes = [Route(path, page(*content)) for path, content in _PAGES.items()]
    for model, moves in (
        (Move, (desk.start, desk.next, desk.step)),
        (Click, (desk.judge, desk.undo)),
    ):
        for move in moves:
            route = Route(f"/api/{move.__name__}", moved(model, move), methods=["POST"])
            routes.append(route)
    routes.append(Route("/export", export))
    routes.append(Route("/backup", lambda _: _file("judgments.sqlite", backup(folder))))
    return Starlette(
        routes=routes,
        middleware=[Middleware(_Guarded, token=token)],
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
    server = _Server(config)
    bound.listen()
    with serving(lambda number: server.handle_exit(number, None)):
        print(address, flush=True)
        with quiet():
            server.run(sockets=[bound])


class _Server(uvicorn.Server):  # type: ignore[misc]  # untyped
    def capture_signals(self) -> nullcontext[None]:
        """Leave signals to `serving`."""
        return nullcontext()


class _Guarded:
    """Refuses requests of others, and adds the headers that keep the page to itself."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), text.encode()) for name, text in _HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        request = Request(scope)
        refusal = self._access_refusal(request) or _writing_refusal(request)
        await (refusal or self._app)(scope, receive, with_headers)

    def _access_refusal(self, request: Request) -> Response | None:
        """The answer to a request that does not bring the token, or name this machine."""
        host = request.headers.get("host", "")
        if not self._token:
            local = _name(host) in LOOPBACK
            return None if local else _error(403, "this server answers to localhost alone.")
        cookie = f"judge-{host.rpartition(':')[2]}"
        if self._is_token(request.query_params.get("token", "")):
            answer = RedirectResponse(request.url.path, 303)
            answer.set_cookie(cookie, self._token, httponly=True, samesite="lax")
            return answer
        if self._is_token(request.cookies.get(cookie, "")):
            return None
        return _error(401, "the token is missing or wrong: open the address as it was printed.")

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())


def _writing_refusal(request: Request) -> Response | None:
    """The answer to a request that writes and may come from another site, or is too large."""
    if request.method in ("GET", "HEAD"):
        return None
    headers = request.headers
    origin = headers.get("origin")
    if origin and urlsplit(origin).netloc != headers.get("host"):
        return _error(403, "a page of another site may not write here.")
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return _error(415, "the body has to be JSON.")
    length = headers.get("content-length", "")
    if not length.isdigit() or int(length) > _MOST:
        return _error(413, f"a body has its length, and {_MOST:,} bytes at most.")
    return None


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


async def _error_answer(_: Request, error: Exception) -> Response:
    status = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
    if isinstance(error, ConflictError):
        return _error(status, str(error), judgment=error.line and error.line.as_json())
    return _error(status, str(error) if isinstance(error, PlatformError) else in_a_line(error))


def _file(name: str, content: bytes) -> Response:
    return Response(content, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _json(value: object, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _error(status: int, message: str, **more: object) -> Response:
    return _json({"error": message, **more}, status)
