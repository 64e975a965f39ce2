"""The pages of `platform judge` over HTTP, and who may call them.

On loopback a request has to name this machine, so that no page of another site reaches the server
under a name that leads here. Elsewhere it has to bring a token. What writes has to come from the
page itself. Documents are sent as data, and the page shows them as text.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import orjson
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, RedirectResponse, Response, StreamingResponse
from pydantic import ValidationError
from starlette.background import BackgroundTask

from irplatform.errors import InputError, PlatformError, in_a_line
from irplatform.judging.page.desk import Asked, Click, Undo
from irplatform.judging.store import ConflictError, back_up, stored_judgments
from irplatform.system.console import quiet
from irplatform.system.process import serving

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping

    from irplatform.judging.page.desk import Desk

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_MOST = 64_000
"""Bytes of a request."""
_LINES = 1_000
"""Lines of an export that are sent at once."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGES = {
    "/": ("page.html", "text/html"),
    "/adjudicate": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}


def application(desk: Desk, folder: Path, token: str = "") -> FastAPI:
    """Return the ASGI application of a desk.

    Args:
        desk: what it serves; it is called from one thread.
        folder: the pool's folder, for export and backup.
        token: what requests have to bring; "" lets in those that name this machine.
    """
    app = FastAPI(title="irplatform", docs_url=None, redoc_url=None, openapi_url=None)
    thread = ThreadPoolExecutor(1, "desk")
    room = files("irplatform.judging.page")
    pages = {path: (room / name).read_bytes() for path, (name, _) in _PAGES.items()}

    async def at_desk(work: Callable[[], Any]) -> Response:
        return _json(await asyncio.get_running_loop().run_in_executor(thread, work))

    async def page(request: Request) -> Response:
        path = request.url.path
        return Response(pages[path], media_type=_PAGES[path][1])

    async def no_icon(_: Request) -> Response:
        return Response(status_code=204)

    async def start(_: Request) -> Response:
        return await at_desk(desk.start)

    async def next_documents(request: Request) -> Response:
        asked, rest = _asked(request.query_params, "topic")
        return await at_desk(lambda: desk.next(asked, *rest))

    async def document(request: Request) -> Response:
        asked, rest = _asked(request.query_params, "topic", "document")
        return await at_desk(lambda: desk.card(asked, *rest))

    async def mine(request: Request) -> Response:
        asked, rest = _asked(request.query_params, "topic")
        return await at_desk(lambda: desk.mine(asked, *rest))

    async def judge(request: Request) -> Response:
        click = Click.model_validate_json(await request.body())
        return await at_desk(lambda: desk.judge(click))

    async def undo(request: Request) -> Response:
        asked = Undo.model_validate_json(await request.body())
        return await at_desk(lambda: desk.undo(asked))

    def export(_: Request) -> Response:
        lines = _exported(folder)
        first = next(lines)  # an error is told before the file begins
        return StreamingResponse(chain([first], lines), headers=_file("judgments.jsonl"))

    def backup(_: Request) -> Response:
        handle, name = tempfile.mkstemp(suffix=".sqlite")
        os.close(handle)
        back_up(folder, Path(name))
        done = BackgroundTask(Path(name).unlink)
        return FileResponse(name, headers=_file("judgments.sqlite"), background=done)

    for path in _PAGES:
        app.add_route(path, page)
    for path, answer in (
        ("/favicon.ico", no_icon),
        ("/api/start", start),
        ("/api/next", next_documents),
        ("/api/document", document),
        ("/api/mine", mine),
        ("/export", export),
        ("/backup", backup),
    ):
        app.add_route(path, answer)
    app.add_route("/api/judge", judge, methods=["POST"])
    app.add_route("/api/undo", undo, methods=["POST"])
    _explain_errors(app)
    app.add_middleware(_Guarded, token=token)
    return app


def serve(app: FastAPI, bound: socket.socket, told: str) -> None:
    """Serve at a bound address until Ctrl-C or SIGTERM; print what is `told` first."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config)
    bound.listen()
    with serving(server.end):
        print(told, flush=True)
        with quiet():
            server.run(sockets=[bound])


class _Server(uvicorn.Server):  # type: ignore[misc]  # untyped
    def capture_signals(self) -> nullcontext[None]:
        """Leave signals to `serving`."""
        return nullcontext()

    def end(self, _number: int) -> None:
        """Answer what has begun, and end."""
        self.should_exit = True


class _Guarded:
    """Refuses requests of others, and adds the headers that keep the page to itself."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), text.encode()) for name, text in _HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        request = Request(scope)
        refused = self._access_refused(request) or _writing_refused(request)
        await (refused or self._app)(scope, receive, with_headers)

    def _access_refused(self, request: Request) -> Response | None:
        """The answer to a request that does not bring the token, or name this machine."""
        host = request.headers.get("host", "")
        if not self._token:
            known = _host(host) in LOOPBACK
            return None if known else _error(403, "this server answers to localhost alone.")
        name = f"judge-{host.rpartition(':')[2]}"
        given = parse_qs(request.url.query).get("token", [""])[0]
        if self._is_token(given):
            answer = RedirectResponse(request.url.path, 303)
            answer.set_cookie(name, self._token, httponly=True, samesite="lax")
            return answer
        known = self._is_token(_cookie(request.headers.get("cookie", ""), name))
        told = "the token is missing or wrong: open the address as it was printed."
        return None if known else _error(401, told)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())


def _writing_refused(request: Request) -> Response | None:
    """The answer to a request that writes and may come from another site, or is too large."""
    if request.method in ("GET", "HEAD"):
        return None
    headers = request.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or (origin and urlsplit(origin).netloc != headers.get("host")):
        return _error(403, "a page of another site may not write here.")
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return _error(415, "the body has to be JSON.")
    length = headers.get("content-length", "")
    if not length.isdigit() or int(length) > _MOST:
        return _error(413, f"a body has its length, and {_MOST:,} bytes at most.")
    return None


def _host(text: str) -> str | None:
    try:
        return urlsplit(f"//{text}").hostname
    except ValueError:
        return None


def _cookie(text: str, name: str) -> str:
    try:
        held = SimpleCookie(text).get(name)
    except CookieError:
        return ""
    return held.value if held else ""


def _asked(query: Mapping[str, str], *names: str) -> tuple[Asked, list[str]]:
    adjudicates = query.get("adjudicates") == "1"
    asked = Asked(assessor=query.get("assessor", ""), adjudicates=adjudicates)
    return asked, [query.get(name, "") for name in names]


def _exported(folder: Path) -> Iterator[bytes]:
    judgments = stored_judgments(folder)
    while block := [*islice(judgments, _LINES)]:
        option = orjson.OPT_APPEND_NEWLINE
        yield b"".join(orjson.dumps(each, option=option) for each in block)
    yield b""


def _file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _json(value: object, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _error(status: int, message: str, **more: object) -> Response:
    return _json({"error": message, **more}, status)


def _explain_errors(app: FastAPI) -> None:
    def answers(
        kind: type[Exception], status: int, told: Callable[[Any], str], **more: Any
    ) -> None:
        async def handle(_: Request, error: Any) -> Response:
            return _error(status, told(error), **{name: of(error) for name, of in more.items()})

        app.add_exception_handler(kind, handle)

    answers(ConflictError, 409, str, judgment=lambda e: e.line and e.line.as_json())
    answers(ValidationError, 422, lambda e: "{loc}: {msg}".format(**e.errors()[0]))
    answers(InputError, 422, str)
    answers(PlatformError, 500, str)
    answers(sqlite3.Error, 503, in_a_line)
    answers(OSError, 503, in_a_line)
    answers(Exception, 500, in_a_line)  # a fault of ours, whose traceback is shown
