"""The REST server: `/search`, `/rerank`, `/explain`, `/health`, `/metrics`, and a page about them.

Every error is one JSON object with a sentence. Requests that are wrong, too large, too slow or
too many are refused; the server goes on.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from irplatform import __version__
from irplatform.errors import InputError, in_a_line, unknown
from irplatform.serving.docs_page import docs_page
from irplatform.serving.limits import OPEN
from irplatform.serving.middleware import (
    RECEIVING,
    Bounded,
    Counted,
    Guarded,
    Metrics,
    error_response,
)
from irplatform.serving.model_thread import BusyError, ModelThread, TooSlowError
from irplatform.serving.requests import (
    LONGEST_QUERY,
    MOST_RESULTS,
    Explain,
    Rerank,
    Search,
    first_problem,
    texts_of,
)
from irplatform.system.console import notice, quiet

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.serving.limits import Door, Limits
    from irplatform.serving.requests import Request as Asked
    from irplatform.serving.service import Service

_ENDING = 5
"""Seconds that requests have to end when the server does."""
_Words = Annotated[
    str,
    Query(min_length=1, max_length=LONGEST_QUERY, pattern=r"\S", description="words to search for"),
]
_Number = Annotated[int, Query(ge=1, le=MOST_RESULTS, description="results, at most")]


def application(
    service: Service, limits: Limits, models: ModelThread[Asked], door: Door = OPEN
) -> FastAPI:
    """Return the ASGI application of a service."""
    app = FastAPI(
        title="irplatform",
        version=__version__,
        description=f"Search and reranking with {service.name}.",
        docs_url=None,
        redoc_url=None,
    )
    metrics = Metrics(models)

    async def answer(
        request: Asked, changed: Callable[[Any, dict[str, Any]], object] = lambda *_: None
    ) -> JSONResponse:
        size = limits.size(request)
        if not isinstance(request, Search):
            metrics.documents.inc(size)
        try:
            answered = await models.ask(service.kind(request), request, size)
            changed(request, answered)
            return JSONResponse(answered)
        except (InputError, BusyError, TooSlowError):
            raise
        except Exception as error:
            message = in_a_line(error)
            notice(f"WARNING: a request failed: {message}")
            return error_response(500, f"the request failed: {message}")

    async def search(request: Search) -> Any:
        return await answer(request)

    async def search_words(request: Request, query: _Words, top_n: _Number = 10) -> Any:
        known = ("query", "top_n")
        if other := next((key for key in request.query_params if key not in known), None):
            raise unknown("key", other, known)
        return await answer(Search.model_validate({"query": query, "top_n": top_n}))

    async def rerank(request: Rerank) -> Any:
        return await answer(request)

    async def rerank_for_infinity(request: Rerank) -> Any:
        return await answer(request, _with_texts)

    async def explain(request: Explain) -> Any:
        return await answer(request)

    async def health() -> Any:
        return {"status": "ok", **service.about()}

    async def counts() -> Any:
        return PlainTextResponse(metrics.text())

    async def docs(request: Request) -> Any:
        return HTMLResponse(docs_page(app.openapi(), str(request.base_url)))

    async def home() -> Any:
        return RedirectResponse(f"{door.root_path}/docs")

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
    app.add_middleware(Bounded, most=limits.megabytes * 1_000_000)
    if door.token:
        app.add_middleware(Guarded, token=door.token)
    if door.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=door.origins, allow_methods="*", allow_headers="*"
        )
    paths = {path for _, path, _, _ in routes}
    app.add_middleware(Counted, metrics=metrics, known=paths, door=door)
    return app


def _explain_errors(app: FastAPI) -> None:
    def answers(kind: type[Exception], status: int, message: Callable[[Any], str]) -> None:
        async def handle(_: Request, error: Any) -> JSONResponse:
            headers = {"Retry-After": "1"} if status == 503 else None
            return error_response(status or error.status_code, message(error), headers)

        app.add_exception_handler(kind, handle)

    answers(RequestValidationError, 422, lambda error: first_problem(error.errors()))
    answers(HTTPException, 0, _of_http)
    answers(InputError, 422, str)
    answers(BusyError, 503, str)
    answers(TooSlowError, 504, str)


def _with_texts(request: Rerank, answered: dict[str, Any]) -> None:
    """Put texts in place of documents, which Infinity's clients read as such."""
    for result in answered["results"]:
        if shown := result.get("document"):
            sent = request.documents[result["index"]]
            texts = (shown["title"], shown["abstract"]) if request.by_id else texts_of(sent)
            result["document"] = " ".join(texts).strip()


def _of_http(error: HTTPException) -> str:
    """FastAPI does not say why it could not read a body."""
    cause = error.__cause__
    return f"the body cannot be read as JSON: {in_a_line(cause)}." if cause else str(error.detail)


class _Patient(H11Protocol):  # type: ignore[misc]  # untyped
    """Closes connections on which no request begins; uvicorn would wait for ever."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(RECEIVING, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()


def serve(service: Service, limits: Limits, bound: socket.socket, door: Door = OPEN) -> None:
    """Serve at a bound address until Ctrl-C; print the address first."""
    models = ModelThread(service.answer, limits.waiting, limits.seconds)
    server = uvicorn.Server(
        uvicorn.Config(
            application(service, limits, models, door),
            http=_Patient,
            log_level="warning",
            access_log=False,
            limit_concurrency=4 * limits.waiting,
            timeout_graceful_shutdown=_ENDING,
        )
    )
    address, found = bound.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    bound.listen()  # clients may come as soon as the address is printed
    print(f"serving {service.name} on http://{shown}:{found} (Ctrl-C ends)", flush=True)
    try:
        with quiet(), suppress(KeyboardInterrupt):  # uvicorn raises it again at its end
            server.run(sockets=[bound])
    finally:
        models.end()
    notice("the server has ended")


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
