"""The REST server: `/search`, `/rerank`, `/explain`, `/health`, `/metrics`, and a page about them.

Every error is one JSON object with a sentence. Requests that are wrong, too large, too slow or
too many are refused; the server goes on.
"""

from __future__ import annotations

import hmac
import logging
import socket
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
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

from irplatform import __version__
from irplatform.errors import InputError, in_a_line
from irplatform.serving.bodies import RETRY, Bounded, Json, Patient, refusal
from irplatform.serving.docs_page import docs_page
from irplatform.serving.endings import Ending
from irplatform.serving.model_thread import (
    BusyError,
    ModelsEndedError,
    ModelThread,
    TooSlowError,
)
from irplatform.serving.requests import Explain, Rerank, RerankForInfinity, Search, first_problem
from irplatform.system.console import notice, quiet
from irplatform.system.process import serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.serving.bodies import Message, Receive, Send
    from irplatform.serving.limits import Limits
    from irplatform.serving.requests import Request as Asked
    from irplatform.serving.service import Service

_CLOSING = 1
"""Seconds for connections to close when the server ends."""


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


def application(
    service: Service, limits: Limits, models: ModelThread[Asked], ending: Ending | None = None
) -> FastAPI:
    """Return the ASGI application of a service."""
    end = Ending(limits.drain) if ending is None else ending
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
            return Json(await models.ask(service.kind(request), request, size))
        except (InputError, BusyError, TooSlowError):
            raise
        except Exception as error:
            message = in_a_line(error)
            notice(f"WARNING: a request failed: {message}")
            return refusal(500, f"the request failed: {message}")

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
        status = "failed" if models.ended else "draining" if end else "ok"
        about = {"status": status, **service.about()}
        return about if status == "ok" else JSONResponse(about, 503, RETRY)

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
        ("GET", "/health", health, "What is served; it answers when all is loaded"),
        ("GET", "/metrics", counts, "Counts and times in Prometheus' form"),
        ("GET", "/docs", docs, ""),
        ("GET", "/", home, ""),
    ]
    for method, path, endpoint, summary in routes:
        shown = bool(summary)
        app.add_api_route(
            path, endpoint, methods=[method], summary=summary, include_in_schema=shown
        )
    _explain_errors(app)
    app.add_middleware(Bounded, most=limits.megabytes * 1_000_000, ending=end)
    if limits.token:
        app.add_middleware(_Guarded, token=limits.token)
    if limits.origins:
        anything = {"allow_methods": "*", "allow_headers": "*"}
        app.add_middleware(CORSMiddleware, allow_origins=limits.origins, **anything)
    paths = {path for _, path, _, _ in routes}
    app.add_middleware(_Counted, metrics=metrics, known=paths, log=limits.access_log)
    return app


def _explain_errors(app: FastAPI) -> None:
    def answers(kind: type[Exception], status: int, message: Callable[[Any], str]) -> None:
        async def handle(_: Request, error: Any) -> JSONResponse:
            headers = RETRY if status == 503 else None
            return refusal(status or error.status_code, message(error), headers)

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
    """Counts requests, measures and logs them, and answers HEAD as GET."""

    def __init__(self, app: Any, metrics: _Metrics, known: set[str], log: bool) -> None:
        self._app, self._metrics, self._known, self._log = app, metrics, known, log

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self._known else "other"
        began, status = time.perf_counter(), 500
        head = scope["method"] == "HEAD"

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
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
                asked = f"{client} {scope['method']} {quote(scope['path'])}"
                print(
                    f"{now} {asked} {status} {1000 * seconds:.0f} ms", file=sys.stderr, flush=True
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
            told = "the token is missing or wrong: send the header Authorization: Bearer TOKEN."
            app = refusal(401, told, {"WWW-Authenticate": "Bearer"})
        await app(scope, receive, send)


class _Server(uvicorn.Server):  # type: ignore[misc]  # untyped
    """Takes connections until its end is over, so that new requests are told of it."""

    def __init__(self, config: uvicorn.Config, ending: Ending, models: ModelThread[Asked]) -> None:
        super().__init__(config)
        self._ending, self._models = ending, models

    def capture_signals(self) -> AbstractContextManager[None]:
        """Take no signals: the process hands them to the ending."""
        return nullcontext()

    async def on_tick(self, counter: int) -> bool:
        """Tell if the server is to close its connections and end."""
        await super().on_tick(counter)
        if not (self._models.ended or (self._ending and self._ending.is_over())):
            return False
        logging.getLogger("uvicorn.error").disabled = True  # it would show how tasks are cancelled
        self._ending.give_up()
        return True


def serve(service: Service, limits: Limits, bound: socket.socket) -> None:
    """Serve at a bound address until Ctrl-C or SIGTERM; print the address first.

    Raises:
        SystemExit: the end, with 0, or with a signal's code if requests were given up.
        ModelsEndedError: their thread has ended.
    """
    ending = Ending(limits.drain)
    models = ModelThread(service.answer, limits.waiting, limits.seconds)
    config = uvicorn.Config(
        application(service, limits, models, ending),
        http=Patient,
        log_level="warning",
        access_log=False,
        limit_concurrency=4 * limits.waiting,
        timeout_graceful_shutdown=_CLOSING,
    )
    address, found = bound.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    bound.listen()  # clients may come as soon as the address is printed
    with serving(ending.on_signal):
        print(f"serving {service.name} on http://{shown}:{found} (Ctrl-C ends)", flush=True)
        with quiet():
            _Server(config, ending, models).run(sockets=[bound])
        if models.ended:
            raise ModelsEndedError
        ending.leave(models)


def bind(host: str, port: int) -> socket.socket:
    """Take an address, before models are loaded; InputError if it is taken or not ours."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"cannot serve on {host}, port {port}: {getattr(error, 'strerror', error)}. Give "
            "another --host or --port; --port 0 takes a free one."
        ) from error
    return bound
