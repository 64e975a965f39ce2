"""The limits of a server: the size and time of a request, how many may wait, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.serving.requests import Search
from irplatform.settings import check_values, documented, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.serving.requests import Request


USERS = "Who may use it"
LIMITS = "Limits"


@documented
@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    Raises:
        InputError: a value is none of those that its setting takes.
    """

    cors_origins: Sequence[str] = setting(
        (),
        "Let pages of these addresses call the server; '*' for all.",
        group=USERS,
        takers="serve",
        metavar="URL,…",
    )
    access_log: bool = setting(
        False, "Write a line for each request to standard error.", group=USERS, takers="serve"
    )
    token: str = setting("", "What requests have to bring; none lets all in.")
    max_documents: int = setting(
        1000, "Documents of a request.", group=LIMITS, takers="serve", least=1
    )
    max_megabytes: int = setting(16, "Size of a request.", group=LIMITS, takers="serve", least=1)
    max_waiting: int = setting(
        256, "Requests that may wait.", group=LIMITS, takers="serve", least=1
    )
    max_seconds: float = setting(60, "Time of a request.", group=LIMITS, takers="serve", least=1)
    drain: float = setting(
        30,
        "Seconds to answer what was begun at the end.",
        group=LIMITS,
        takers="serve",
        least=0,
    )

    def __post_init__(self) -> None:
        check_values(self)

    def size(self, request: Request) -> int:
        """Return the number of a request's documents; InputError if they are too many."""
        if isinstance(request, Search):
            return 1
        if (size := len(request.documents)) > self.max_documents:
            raise InputError(
                f"{size:,} documents are too many: a request may have {self.max_documents:,}."
            )
        return size
