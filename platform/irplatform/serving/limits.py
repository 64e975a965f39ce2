"""The limits of a server: the size and time of a request, and how many may wait."""

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
