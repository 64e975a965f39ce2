"""What a request passes before it is read: count and log, token, size, time and compression."""

from __future__ import annotations

import asyncio
import hmac
import sys
import time
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi.responses import JSONResponse
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from irplatform.serving.limits import Door
    from irplatform.serving.model_thread import ModelThread

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

RECEIVING = 10.0
"""Seconds that a client may take to send a request."""
OPEN_PATHS = ("/health",)
"""Paths that need no token."""


def error_response(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error under the keys that clients show: `message` is Cohere's, `detail` Jina's."""
    keys = ("error", "message", "detail")
    return JSONResponse(dict.fromkeys(keys, message), status, headers)


class Metrics:
    """Counts and times of requests, in Prometheus' form."""

    def __init__(self, models: ModelThread[Any]) -> None:
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

    def text(self) -> bytes:
        """Return all counts."""
        return bytes(generate_latest(self.registry))


class Counted:
    """Counts requests, measures and logs them, and answers HEAD as GET."""

    def __init__(self, app: Any, metrics: Metrics, known: set[str], door: Door) -> None:
        self._app, self._metrics, self._known, self._door = app, metrics, known, door

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"].removeprefix(self._door.root_path)
        label = path if path in self._known else "other"
        began, status = time.perf_counter(), 500
        head = scope["method"] == "HEAD"

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send({**message, "body": b""} if head and "body" in message else message)

        try:
            method = "GET" if head else scope["method"]
            inner = {**scope, "method": method, "root_path": self._door.root_path}
            await self._app(inner, receive, noted)
        finally:
            seconds = time.perf_counter() - began
            self._metrics.requests.labels(label, str(status)).inc()
            self._metrics.seconds.labels(label).observe(seconds)
            if self._door.access_log:
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                client = (scope.get("client") or ("-",))[0]
                asked = f"{scope['method']} {quote(path)}"
                line = f"{now} {client} {asked} {status} {seconds * 1000:.0f} ms"
                print(line, file=sys.stderr, flush=True)


class Guarded:
    """Refuses requests that do not bring the token, but for their health."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and not self._may(scope):
            told = "the token is missing or wrong: send the header Authorization: Bearer TOKEN."
            response = error_response(401, told, {"WWW-Authenticate": "Bearer"})
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may(self, scope: Any) -> bool:
        if scope["path"].removeprefix(scope["root_path"]) in OPEN_PATHS:
            return True
        scheme, _, token = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


class Bounded:
    """Reads bodies before anything else, up to a size and within a time."""

    def __init__(self, app: Any, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        encoding = dict(scope["headers"]).get(b"content-encoding", b"identity").strip().lower()
        try:
            if encoding not in (b"", b"identity", b"gzip", b"x-gzip"):
                name = encoding.decode("latin-1")
                raise _RefusedError(415, f"the body's encoding '{name}' is not read: send gzip.")
            async with asyncio.timeout(RECEIVING):
                body = await self._body(scope, receive)
            if encoding.endswith(b"gzip"):
                body = _inflated(body, self._most)
            if len(body) > self._most:
                large = f"the request is too large: {self._most:,} bytes are the most."
                raise _RefusedError(413, large)
        except TimeoutError:
            refused = _RefusedError(408, f"the request was not sent within {RECEIVING:g} seconds.")
        except _RefusedError as error:
            refused = error
        else:
            await self._app(_as_json(scope), _replay(body, receive), send)
            return
        headers = {"Connection": "close"}
        if refused.status == 415:
            headers["Accept-Encoding"] = "gzip"
        await error_response(refused.status, str(refused), headers)(scope, receive, send)

    async def _body(self, scope: Any, receive: Receive) -> bytes:
        """The body, or as much of it as shows that it is too large."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._most:
            return bytes(self._most + 1)
        parts, size, more = [], 0, True
        while more and size <= self._most:
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
        return b"".join(parts)


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _inflated(body: bytes, most: int) -> bytes:
    """A gzipped body, or as much of it as shows that it is too large."""
    inflated, rest = b"", body
    try:
        while rest and len(inflated) <= most:
            member = zlib.decompressobj(wbits=31)
            inflated += member.decompress(rest, most + 1 - len(inflated))
            if not member.eof and len(inflated) <= most:
                raise zlib.error("it ends too early")
            rest = member.unused_data
    except zlib.error as error:
        raise _RefusedError(400, f"the body is not gzip: {error}.") from error
    return inflated


def _as_json(scope: Any) -> Any:
    """A request, of whatever type a client says that it is, such as curl's own: JSON is read."""
    headers = [pair for pair in scope["headers"] if pair[0] not in _OF_BODIES]
    return {**scope, "headers": [*headers, (b"content-type", b"application/json")]}


_OF_BODIES = (b"content-type", b"content-encoding")


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed
