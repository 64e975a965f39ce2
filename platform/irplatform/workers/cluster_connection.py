"""The connection to a Ray cluster, which is watched: its end ends the command.

When Ray's daemons end, Ray waits for minutes, or ends this process in the middle of its own log. So
a thread looks at them, and says in a line what ended.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.spelling import for_command
from irplatform.system import console
from irplatform.workers.pool import LOOK, stopped_too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psutil

_PATIENCE = 10
"""Seconds to wait for the answer of a cluster's first machine."""
_SETTINGS = b"\0\0\0\4\0\0\0\0\0"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS
"""The beginning of gRPC, which a server answers with settings of its own."""
_SIGNALS = [getattr(signal, f"SIG{name}") for name in ("ABRT", "BUS", "FPE", "ILL", "SEGV", "TERM")]
_SIGACTION = 512
"""Bytes; C's `struct sigaction` is smaller."""


class _Watch:
    """Looks at the daemons of Ray that serve this process, and at the processes that it started."""

    def __init__(self) -> None:
        import ray

        node_id = ray.get_runtime_context().get_node_id()
        node = next(node for node in ray.nodes() if node["NodeID"] == node_id)
        head = ray.get_runtime_context().gcs_address
        self._doors = {
            "head": head.rpartition(":")[::2],
            "raylet": (node["NodeManagerAddress"], node["NodeManagerPort"]),
        }
        self._processes: set[psutil.Process] = set()
        self._over = threading.Event()
        self._closing = 0.0
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        import psutil

        since: dict[int, float] = {}
        while not self._over.wait(LOOK):
            if self._closing and time.monotonic() - self._closing > _PATIENCE:
                self.kill()
            with suppress(psutil.Error):
                self._processes.update(_of_ray(psutil.Process()))
            for process in self._processes:
                with suppress(psutil.Error):
                    if stopped_too_long(process, since):
                        if process.name() == "raylet" and not self._closing:
                            self._end_command("raylet", OSError("it was stopped"))
                        process.kill()
            for name, door in self._doors.items():
                try:
                    socket.create_connection(door, _PATIENCE).close()
                except OSError as error:
                    if not self._closing:
                        self._end_command(name, error)

    def _end_command(self, name: str, error: OSError) -> None:
        if for_command():  # Ray would end a program, too
            self.kill()
            console.end_with(
                f"platform: Ray's {name} has ended ({error.strerror or error}). What was finished "
                "is kept; the same command goes on from there."
            )
            os._exit(1)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Let the daemons end in the block; those that do not are killed, as is what they left."""
        self._closing = time.monotonic()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()
            self.kill()

    def kill(self) -> None:
        """End what Ray started here and left over."""
        import psutil

        for process in self._processes:
            with suppress(psutil.Error):
                process.kill()


def _of_ray(process: psutil.Process) -> Iterator[psutil.Process]:
    """The daemons that Ray started in a process, with the processes that those started."""
    for child in process.children():
        if "/ray/" in " ".join(child.cmdline()):
            yield child
            yield from child.children(recursive=True)


@contextmanager
def connected() -> Iterator[None]:
    """Connect to Ray unless the caller has done so; the program keeps its signal handlers."""
    import ray

    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS", "")
    check_address(address)
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        with handlers_kept():
            ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:  # a plain one if its daemons start too slowly
        raise InputError(f"the Ray cluster cannot be reached: {first_line(error)}.") from error
    # A client's cluster is elsewhere, and its own connection tells when it ends.
    watch = None if address.startswith("ray://") else _Watch()
    try:
        yield
    finally:
        with watch.closing() if watch else nullcontext(), handlers_kept():
            ray.shutdown()


def check_address(address: str) -> None:
    """Refuse an address where nothing answers; Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or "/" in host:
        return
    try:
        with socket.create_connection((host, int(port)), _PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0") in ("0", ""):
                connection.sendall(_HELLO)
                if connection.recv(len(_SETTINGS))[3:4] != _SETTINGS[3:4]:
                    raise OSError("what answers there is another service")
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at {address} (RAY_ADDRESS): {error.strerror or error}."
        ) from error


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore the handlers of signals after the block, Java's among them, which Ray replaces.

    Java uses SIGSEGV, which would end the process.
    """
    libc = ctypes.CDLL(None)
    before = {number: ctypes.create_string_buffer(_SIGACTION) for number in _SIGNALS}
    terminated = signal.getsignal(signal.SIGTERM)
    for number, action in before.items():
        libc.sigaction(number, None, action)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, terminated)
        for number, action in before.items():
            libc.sigaction(number, action, None)


def first_line(error: BaseException) -> str:
    """Return the first line of Ray's long messages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0].rstrip(".")
