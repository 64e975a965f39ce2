"""One thread that answers all requests: models are not safe for several threads.

Waiting requests of one kind are answered together, as a batch of limited size. After a batch of
several, the thread waits for as many new requests, at most as long as the batch took: its clients
send their next requests one after the other. If a batch fails, each request is answered alone, and
whatever it raises is its error. With a slow model a batch is small, so that not all requests that
were begun wait for the last one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from irplatform.errors import PlatformError, in_a_line

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

Request = TypeVar("Request")
_LARGEST_BATCH = 2000
"""Documents that are scored together, unless one request has more."""
_LONGEST_BATCH = 5.0
"""Seconds that a batch of several requests may take, at the speed of the last one of its kind."""
_GROWTH = 4
"""How many times the documents of that one it may have."""
_LONGEST_WAIT = 0.05
"""Seconds to wait for further requests."""
_STOPPING = "the server is stopping; try again later."
ENDED = "the thread of the models has ended. Start the server again."


class BusyError(PlatformError):
    """Too many requests wait, or the server is stopping."""


class TooSlowError(PlatformError):
    """A request was not answered in time."""


@dataclass(eq=False)
class _Job(Generic[Request]):
    kind: Hashable
    request: Request
    size: int
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    abandoned: bool = False

    def end(self, answer: object, error: Exception | None) -> None:
        def tell() -> None:
            if not self.future.done():
                if error is None:
                    self.future.set_result(answer)
                else:
                    self.future.set_exception(error)

        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(tell)


class ModelThread(Generic[Request]):
    """Answers requests from asyncio.

    Args:
        answer: answers a batch of requests of one kind; it runs in the thread.
        most_waiting: most requests that wait.
        seconds: longest time of a request, waiting included.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Request]], Sequence[Any]],
        most_waiting: int,
        seconds: float,
    ) -> None:
        self._answer = answer
        self._most_waiting = most_waiting
        self._seconds = seconds
        self._jobs: deque[_Job[Request]] = deque()
        self._changed = threading.Condition()
        self._ended = self.stopping = False
        self._begun: set[_Job[Request]] = set()
        self._most: dict[Hashable, float] = {}
        """Documents of a batch of a kind."""
        self.request_count = self.given_up = 0
        self.batches: Callable[[int], None] = lambda _requests: None
        """Called with the number of requests of each batch."""
        self._thread = threading.Thread(target=self._run, name="models", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._jobs)

    @property
    def begun(self) -> int:
        """The number of requests that are being answered, those that wait included."""
        return len(self._begun)

    @property
    def ended(self) -> bool:
        """The thread answers nothing more."""
        return not self._thread.is_alive()

    async def ask(self, kind: Hashable, request: Request, size: int = 1) -> Any:
        """Return the answer to a request; `size` is the number of its documents.

        Raises:
            BusyError: too many requests wait, or the server is stopping (`stopping` is set).
            TooSlowError: the answer took too long.
            PlatformError: the thread has ended.
        """
        loop = asyncio.get_running_loop()
        job = _Job(kind, request, size, loop, loop.create_future())
        with self._changed:
            if self.stopping:
                raise BusyError(_STOPPING)
            if self.ended:
                raise PlatformError(ENDED)
            if len(self._jobs) >= self._most_waiting:
                self._jobs = deque(job for job in self._jobs if not job.abandoned)
            if len(self._jobs) >= self._most_waiting:
                raise BusyError(f"{len(self._jobs)} requests wait already; try again later.")
            self._jobs.append(job)
            self._begun.add(job)
            self.request_count += 1
            self._changed.notify()
        try:
            async with asyncio.timeout(self._seconds):
                return await job.future
        except TimeoutError as error:
            raise TooSlowError(f"no answer within {self._seconds:g} seconds.") from error
        finally:
            job.abandoned = True
            self._begun.discard(job)

    def give_up(self) -> None:
        """Tell all who wait for an answer that the server is stopping."""
        self.given_up = self.begun
        self._end_all(BusyError(_STOPPING))

    def end(self, seconds: float = 10.0) -> bool:
        """End the thread after its present batch; tell if it did so in time."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(timeout=seconds)
        return self.ended

    def _end_all(self, error: Exception) -> None:
        for job in [*self._begun]:
            job.end(None, error)

    def _run(self) -> None:
        size, seconds = 1, 0.0
        try:
            while batch := self._next(size, seconds):
                self.batches(len(batch))
                began = time.monotonic()
                self._work(batch)
                took = max(time.monotonic() - began, 1e-6)
                more = min(_GROWTH, _LONGEST_BATCH / took)
                self._most[batch[0].kind] = more * sum(job.size for job in batch)
                size, seconds = len(batch), min(took, _LONGEST_WAIT)
        finally:
            self._end_all(PlatformError(ENDED))

    def _next(self, last: int, seconds: float) -> list[_Job[Request]]:
        """Return the next batch; the `last` requests together took so many seconds."""
        with self._changed:
            if last > 1:
                self._changed.wait_for(lambda: self._ended or len(self._jobs) >= last, seconds)
            while not self._ended:
                jobs = [job for job in self._jobs if not job.abandoned]
                batch, rest, size = list[_Job[Request]](), deque[_Job[Request]](), 0
                for job in jobs:
                    most = min(self._most.get(job.kind, 0), _LARGEST_BATCH)
                    fits = not batch or size + job.size <= most
                    if fits and job.kind == jobs[0].kind:
                        batch.append(job)
                        size += job.size
                    else:
                        rest.append(job)
                self._jobs = rest
                if batch:
                    return batch
                self._changed.wait()
        return []

    def _work(self, batch: Sequence[_Job[Request]]) -> None:
        try:
            answers = self._answer([job.request for job in batch])
            for job, answer in zip(batch, answers, strict=True):
                job.end(answer, None)
        except BaseException as error:
            if len(batch) > 1:
                for job in batch:
                    self._work([job])
            elif isinstance(error, Exception) and not isinstance(error, StopIteration):
                batch[0].end(None, error)
            else:  # asyncio would raise it elsewhere
                batch[0].end(None, PlatformError(in_a_line(error)))
