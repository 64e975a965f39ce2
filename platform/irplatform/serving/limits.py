"""The limits of a server, and who may use it: sizes, times, token, origins."""

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
    """

    documents: int = 1000
    megabytes: int = 16
    waiting: int = 256
    seconds: float = 60.0

    def size(self, request: Request) -> int:
        """Return the number of a request's documents; InputError if they are too many."""
        if isinstance(request, Search):
            return 1
        if (size := len(request.documents)) > self.documents:
            raise InputError(
                f"{size:,} documents are too many: a request may have {self.documents:,}."
            )
        return size


@dataclass(frozen=True)
class Door:
    """Who may use a server, and what is written of them.

    Attributes:
        token: requests have to bring it; "" lets all in.
        origins: pages of these addresses may call the server (CORS); "*" stands for all.
        root_path: what a proxy puts before all paths.
        access_log: whether a line for each request goes to standard error.
    """

    token: str = ""
    origins: tuple[str, ...] = ()
    root_path: str = ""
    access_log: bool = False


OPEN = Door()
"""All who reach the server may use it."""
