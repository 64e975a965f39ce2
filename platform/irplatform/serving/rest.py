"""The REST server: `/search`, `/rerank`, `/explain`, `/health`, `/metrics`, and a page about them.

Every error is one JSON object with a sentence. Requests that are wrong, too large, too slow or
too many are refused; the server goes on.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from irplatform.errors import InputError, in_a_line
from irplatform.serving.docs_page import docs_page
from irplatform.serving.model_thread import BusyError, ModelThread, TooSlowError
from irplatform.serving.requests import Explain, Rerank, RerankForInfinity, Search, first_problem
from irplatform.system.console import notice
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from irplatform.serving.limits import Limits
    from irplatform.serving.requests import Request as Asked
    from irplatform.serving.service import Service

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

RECEIVING = 10.0
"""Seconds that a client may take to send a request."""
_DROPPED = 1_000_000_000
"""Bytes that are dropped of a body that is refused, at most."""
_DROPPING, _SILENT = 30.0, 2.0
"""Seconds to drop them, at most, and to wait for some."""


class _Metrics:
    """Counts and times of requests, in Prometheus' form."""

    def __init__(self, models: ModelThread[Asked]) -> None:
        disable_created_metrics()
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "irplatform_requests", "Requests.", ["path", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "irplatform_request_seconds", "Time of a request.", ["path"], registry=self.registry
        )
        self.documents = Counter(
            "irplatform_documents", "Documents that were sent.", registry=self.registry
        )
        batches = Histogram(
            "irplatform_batch_requests",
            "Requests that were answered together.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
            registry=self.registry,
        )
        models.batches = batches.observe
        waiting = Gauge("irplatform_waiting", "Requests that wait.", registry=self.registry)
        waiting.set_function(lambda: models.waiting)


def application(service: Service, limits: Limits, models: ModelThread[Asked]) -> FastAPI:
    """Return the ASGI application of a service."""
    app = FastAPI(
        title="irplatform",
        version=__version__,
        description=f"Search and reranking with {service.name}.",
        docs_url=None,
        redoc_url=None,
    )
    metrics = _Metrics(models)

    async def answer(request: Asked) -> JSONResponse:
        size = limits.size(request)
        if not isinstance(request, Search):
            metrics.documents.inc(size)
        try:
            return _Json(await models.ask(service.kind(request), request, size))
        except (InputError, BusyError, TooSlowError):
            raise
        except Exception as error:
            message = in_a_line(error)
            notice(f"WARNING: a request failed: {message}")
            return _error(500, f"the request failed: {message}")

    async def search(request: Search) -> Any:
        return await answer(request)

    async def search_words(request: Request) -> Any:
        return await answer(Search.model_validate(dict(request.query_params)))

    async def rerank(request: Rerank) -> Any:
        return await answer(request)

    async def rerank_for_infinity(request: RerankForInfinity) -> Any:
        return await answer(request)

    async def explain(request: Explain) -> Any:
        return await answer(request)

    async def health() -> Any:
        status = "failed" if models.ended else "draining" if models.stopping else "ok"
        return _Json({"status": status, **service.about()}, 200 if status == "ok" else 503)

    async def counts() -> Any:
        return PlainTextResponse(generate_latest(metrics.registry))

    async def docs(request: Request) -> Any:
        return HTMLResponse(docs_page(app.openapi(), str(request.base_url)))

    async def home() -> Any:
        return RedirectResponse("/docs")

    routes: list[tuple[str, str, Callable[..., Any], str]] = [
        ("POST", "/search", search, "Search the collection, and rerank what is found"),
        ("GET", "/search", search_words, "The same, for a browser"),
        ("POST", "/rerank", rerank, "Score texts or documents for a query"),
        ("POST", "/v1/rerank", rerank, ""),
        ("POST", "/v2/rerank", rerank, ""),
        ("POST", "/infinity/rerank", rerank_for_infinity, ""),
        ("POST", "/explain", explain, "Explain the scores of texts or documents"),
        ("GET", "/health", health, "What is served, and if it takes requests"),
        ("GET", "/metrics", counts, "Counts and times in Prometheus' form"),
        ("GET", "/docs", docs, ""),
        ("GET", "/", home, ""),
    ]
    for method, path, endpoint, summary in routes:
        visible = bool(summary)
        app.add_api_route(
            path, endpoint, methods=[method], summary=summary, include_in_schema=visible
        )
    _explain_errors(app)
    app.add_middleware(_Bounded, most=limits.max_megabytes * 1_000_000)
    if limits.token:
        app.add_middleware(_Guarded, token=limits.token)
    if limits.cors_origins:
        anything = {"allow_methods": "*", "allow_headers": "*"}
        app.add_middleware(CORSMiddleware, allow_origins=limits.cors_origins, **anything)
    paths = {path for _, path, _, _ in routes}
    app.add_middleware(_Counted, metrics, paths, limits.access_log, models)
    return app


class _Json(JSONResponse):  # type: ignore[misc]  # untyped
    """JSON that sends back whatever a client sent, also NaN and halves of characters."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode()


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error under the keys that clients show: `message` is Cohere's, `detail` Jina's."""
    keys = ("error", "message", "detail")
    return _Json(dict.fromkeys(keys, message), status, headers)


def _explain_errors(app: FastAPI) -> None:
    def answers(kind: type[Exception], status: int, message: Callable[[Any], str]) -> None:
        async def handle(_: Request, error: Any) -> JSONResponse:
            headers = {"Retry-After": "1"} if status == 503 else None
            return _error(status or error.status_code, message(error), headers)

        app.add_exception_handler(kind, handle)

    answers(RequestValidationError, 422, lambda error: first_problem(error.errors(), 1))
    answers(ValidationError, 422, lambda error: first_problem(error.errors()))
    answers(HTTPException, 0, _of_http)
    answers(InputError, 422, str)
    answers(UnicodeError, 422, lambda _: "a key has half a character (a lone surrogate).")
    answers(BusyError, 503, str)
    answers(TooSlowError, 504, str)


def _of_http(error: HTTPException) -> str:
    """FastAPI does not say why it could not read a body."""
    cause = error.__cause__
    return f"the body cannot be read as JSON: {in_a_line(cause)}." if cause else str(error.detail)


class _Counted:
    """Counts requests, measures and logs them, and answers HEAD as GET.

    A server that is stopping closes connections with its answers.
    """

    def __init__(
        self, app: Any, metrics: _Metrics, paths: set[str], log: bool, models: ModelThread[Asked]
    ) -> None:
        self._app, self._metrics, self._paths, self._log = app, metrics, paths, log
        self._models = models

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self._paths else "other"
        began, status = time.perf_counter(), 500
        head = scope["method"] == "HEAD"

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            if self._models.stopping and "headers" in message:
                headers = [pair for pair in message["headers"] if pair[0] != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
            await send({**message, "body": b""} if head and "body" in message else message)

        try:
            await self._app({**scope, "method": "GET"} if head else scope, receive, noted)
        finally:
            seconds = time.perf_counter() - began
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(seconds)
            if self._log:
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                client = (scope.get("client") or ("-",))[0]
                request = f"{client} {scope['method']} {quote(scope['path'])}"
                print(
                    f"{now} {request} {status} {1000 * seconds:.0f} ms", file=sys.stderr, flush=True
                )


class _Guarded:
    """Refuses requests that do not bring the token, but for `/health`."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        header = dict(scope.get("headers", ())).get(b"authorization", b"")
        scheme, _, token = header.partition(b" ")
        right = scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)
        app = self._app
        if scope["type"] == "http" and not right and scope["path"] != "/health":
            message = "the token is missing or wrong: send the header Authorization: Bearer TOKEN."
            app = _error(401, message, {"WWW-Authenticate": "Bearer"})
        await app(scope, receive, send)


class _Bounded:
    """Reads bodies before anything else, up to a size and within a time."""

    def __init__(self, app: Any, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Whatever type a client names, such as curl's own: only JSON is read.
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
        scope["headers"] = [*headers, (b"content-type", b"application/json")]
        closing = {"Connection": "close"}
        encoding = dict(headers).get(b"content-encoding", b"identity").decode("latin-1")
        if encoding.lower() != "identity":
            message = f"a body with the encoding {encoding!r} is not read: send plain JSON."
            refused = _error(415, message, {"Accept-Encoding": "identity", **closing})
            await _refuse(refused, scope, receive, send)
            return
        try:
            async with asyncio.timeout(RECEIVING):
                body = await self._body(scope, receive)
        except TimeoutError:
            late = f"the request was not sent within {RECEIVING:g} seconds."
            await _refuse(_error(408, late, closing), scope, receive, send)
            return
        if body is None:
            large = f"the request is too large: {self._most:,} bytes are the most."
            await _refuse(_error(413, large, closing), scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    async def _body(self, scope: Any, receive: Receive) -> bytes | None:
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._most:
            return None
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if size > self._most:
                return None
        return b"".join(parts)


async def _refuse(response: JSONResponse, scope: Any, receive: Receive, send: Send) -> None:
    """Answer before the body was read, and drop what comes of it before the connection closes.

    Many clients read an answer only when they have sent everything. To close would take it away.
    """

    async def unended(message: Message) -> None:
        await send({**message, "more_body": True} if "body" in message else message)

    await response(scope, receive, unended)
    more, size, until = True, 0, time.monotonic() + _DROPPING
    with suppress(TimeoutError):
        while more and size < _DROPPED:
            async with asyncio.timeout(min(_SILENT, until - time.monotonic())):
                message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
    await send({"type": "http.response.body", "body": b""})
