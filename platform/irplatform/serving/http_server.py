"""The HTTP server of `platform serve`: its address, connections and end."""

from __future__ import annotations

import logging
import socket
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from irplatform.errors import InputError
from irplatform.serving.endings import Ending
from irplatform.serving.model_thread import ModelThread
from irplatform.serving.rest import RECEIVING, application
from irplatform.spelling import option
from irplatform.system.console import quiet
from irplatform.system.process import serving

if TYPE_CHECKING:
    from irplatform.serving.limits import Limits
    from irplatform.serving.service import Service


class _Patient(H11Protocol):  # type: ignore[misc]  # untyped
    """Closes connections on which no request begins; uvicorn would wait for ever."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(RECEIVING, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.close()


class _Server(uvicorn.Server):  # type: ignore[misc]  # untyped
    """Takes connections until all is answered, so that new requests are told of the end."""

    def __init__(self, config: uvicorn.Config, ending: Ending) -> None:
        super().__init__(config)
        self._ending = ending

    def capture_signals(self) -> AbstractContextManager[None]:
        """Leave signals to the ending."""
        return nullcontext()

    async def on_tick(self, counter: int) -> bool:
        """Tell if the server is to close its connections and end."""
        await super().on_tick(counter)
        if over := self._ending.is_over():
            logging.getLogger("uvicorn.error").disabled = True  # it shows what it cancels
        return over


def serve(service: Service, limits: Limits, bound: socket.socket) -> None:
    """Serve at a bound address until a signal; print the address first. See `Ending.leave`."""
    models = ModelThread(service.answer, limits.max_waiting, limits.max_seconds)
    ending = Ending(models, limits.drain)
    config = uvicorn.Config(
        application(service, limits, models),
        http=_Patient,
        log_level="warning",
        access_log=False,
        limit_concurrency=4 * limits.max_waiting,
        timeout_graceful_shutdown=1,
    )
    address, port = bound.getsockname()[:2]
    host = f"[{address}]" if ":" in address else address
    bound.listen()  # clients may come as soon as the address is printed
    with serving(ending.on_signal):
        print(f"serving {service.name} on http://{host}:{port} (Ctrl-C ends)", flush=True)
        with quiet():
            _Server(config, ending).run(sockets=[bound])
        ending.leave()


def bind(host: str, port: int) -> socket.socket:
    """Take an address, before models are loaded; InputError if it is taken or not ours."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        # Without its protocol, asyncio lets Nagle's algorithm hold back the end of each answer.
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"cannot serve on {host}, port {port}: {getattr(error, 'strerror', error)}. Give "
            f"another {option('host')} or {option('port')}; {option('port', 0)} takes a free one."
        ) from error
    return bound
