"""Bodies of requests: read before anything else, up to a size and within a time.

What is refused before its body was read is answered at once. The rest of the body is then read and
dropped for a while: many clients read an answer only when they have sent everything, and a closed
connection would take it from them.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastapi.responses import JSONResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from irplatform.serving.endings import STOPPING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from irplatform.serving.endings import Ending

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

RETRY = {"Retry-After": "1"}
_RECEIVING = 10.0
"""Seconds that a client may take to send a request."""
_DROPPED = 1_000_000_000
"""Bytes that are dropped of a body that is refused, at most."""
_DROPPING, _SILENT = 30.0, 2.0
"""Seconds to drop them, at most, and to wait for some."""
_ALWAYS = ("/health", "/metrics")
"""Paths that a server answers while it ends."""
_CLOSE = {"Connection": "close"}


class Json(JSONResponse):  # type: ignore[misc]  # untyped
    """JSON that sends back whatever a client sent, also NaN and halves of characters."""

    def render(self, content: Any) -> bytes:
        """Write an answer's content."""
        return json.dumps(content).encode()


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Json:
    """An error under the keys that clients show: `message` is Cohere's, `detail` Jina's."""
    keys = ("error", "message", "detail")
    return Json(dict.fromkeys(keys, message), status, headers)


class Bounded:
    """Reads bodies, and refuses those that are too large or late, and all at a server's end."""

    def __init__(self, app: Any, most: int, ending: Ending) -> None:
        self._app, self._most, self._ending = app, most, ending

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            if self._ending and "status" in message:
                kept = [pair for pair in message["headers"] if pair[0] != b"connection"]
                message = {**message, "headers": [*kept, (b"connection", b"close")]}
            await send(message)

        async def stopping() -> Json:
            return refusal(503, STOPPING, RETRY)

        if scope["path"] in _ALWAYS:
            refused = await self._answer(scope, receive, noted)
        elif self._ending:
            refused = await stopping()
        else:
            refused = await self._ending.answer(self._answer(scope, receive, noted), stopping)
        if refused and not started:
            await _refuse(refused, scope, receive, noted)

    async def _answer(self, scope: Any, receive: Receive, send: Send) -> Json | None:
        """Answer a request, or return why it is refused before its body is read."""
        # Whatever type a client names, such as curl's own: only JSON is read.
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
        scope["headers"] = [*headers, (b"content-type", b"application/json")]
        encoding = dict(headers).get(b"content-encoding", b"identity").decode("latin-1")
        if encoding.lower() != "identity":
            why = f"a body with the encoding {encoding!r} is not read: send plain JSON."
            return refusal(415, why, {"Accept-Encoding": "identity", **_CLOSE})
        try:
            async with asyncio.timeout(_RECEIVING):
                body = await self._body(scope, receive)
        except TimeoutError:
            late = f"the request was not sent within {_RECEIVING:g} seconds."
            return refusal(408, late, _CLOSE)
        if body is None:
            large = f"the request is too large: {self._most:,} bytes are the most."
            return refusal(413, large, _CLOSE)
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)
        return None

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


async def _refuse(response: Json, scope: Any, receive: Receive, send: Send) -> None:
    """Answer, drop what still comes of the body, and let the connection be closed."""

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


class Patient(H11Protocol):  # type: ignore[misc]  # untyped
    """Closes connections on which no request begins; uvicorn would wait for ever."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self.loop.call_later(_RECEIVING, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()
