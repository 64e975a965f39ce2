"""The limits of a server: the size and time of a request, how many may wait, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass

from irplatform.errors import InputError
from irplatform.serving.requests import Request, Search


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    Attributes:
        documents: most documents of a request.
        megabytes: largest body of a request.
        waiting: most requests that wait for the models.
        seconds: longest time of a request.
        drain: seconds to answer what was begun when the server ends.
        token: what requests have to bring; "" lets all in.
        origins: addresses whose pages may call the server (CORS); "*" stands for all.
        access_log: whether a line for each request goes to standard error.
    """

    documents: int = 1000
    megabytes: int = 16
    waiting: int = 256
    seconds: float = 60.0
    drain: float = 30.0
    token: str = ""
    origins: tuple[str, ...] = ()
    access_log: bool = False

    def size(self, request: Request) -> int:
        """Return the number of a request's documents; InputError if they are too many."""
        if isinstance(request, Search):
            return 1
        if (size := len(request.documents)) > self.documents:
            raise InputError(
                f"{size:,} documents are too many: a request may have {self.documents:,}."
            )
        return size
