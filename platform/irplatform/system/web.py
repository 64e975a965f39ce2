"""HTTP requests, with retries for failures that may pass, at a limited rate.

Certificates are verified and redirects are not followed, so an API key goes to the named server
alone. Waits double with each attempt unless the server says how long to wait (`Retry-After`).
"""

from __future__ import annotations

import re
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from irplatform.errors import InputError, PlatformError, unstopped
from irplatform.system.console import notice
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from requests import Response

_ATTEMPTS = 8
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_PATIENCE = 600.0
"""The longest wait, in seconds, that a server may ask for."""
T = TypeVar("T")
_TIMEOUT = (15.0, 120.0)
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_SHOWN = 200


class TransientError(Exception):
    """A failure that may pass."""

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def request(
    method: str, url: str, form: Mapping[str, str] | None = None, *, explained: str = ""
) -> tuple[int, bytes]:
    """Send a request, with a form in its body; return the status (200 or 400) and the body.

    Answers with status 400 are returned if they have the pattern `explained`.

    Raises:
        TransientError: no connection, a time-out, a body that was cut off, 408, 429 or 5xx.
        PlatformError: any other status, a bad certificate.
    """
    import requests
    from requests import exceptions

    try:
        response = requests.request(
            method,
            url,
            data=form,
            timeout=_TIMEOUT,
            allow_redirects=False,
            headers={"User-Agent": f"irplatform/{__version__}"},
        )
    except exceptions.SSLError as error:
        raise PlatformError(f"the certificate of {url} is not valid: {error}") from error
    except (exceptions.InvalidURL, exceptions.InvalidProxyURL) as error:
        raise InputError(f"{url} is not a valid URL: {error}.") from error
    except exceptions.Timeout as error:
        raise TransientError("no answer in time") from error
    except (exceptions.ChunkedEncodingError, exceptions.ContentDecodingError) as error:
        raise TransientError("the answer was cut off") from error
    except exceptions.ConnectionError as error:
        raise TransientError("no connection") from error
    status = response.status_code
    if status == 200 or (status == 400 and re.search(explained or "$^", response.text)):
        return status, response.content
    if status in (408, 429) or status >= 500:
        reason = "too many calls" if status == 429 else response.reason or "server error"
        raise TransientError(f"{reason} (status {status})", wait=retry_after(response))
    detail = " ".join(response.text[:_SHOWN].split()) or response.headers.get("Location", "")
    raise PlatformError(f"{url} answers with status {status}: {detail or response.reason}.")


def check_url(url: str, source: str) -> str:
    """A base URL without its last slash.

    Raises:
        InputError: it is not an https URL (or http to this machine).
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:  # brackets that are not closed, say
        host = None
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)):
        raise InputError(f"{source} is {url!r}. It must be an https:// URL.")
    return url.rstrip("/")


def with_retries(call: Callable[[], T], server: str) -> T:
    """Call while it raises `TransientError`, eight times at most.

    Raises:
        PlatformError: it failed every time, or the server asks for more than ten minutes.
    """
    again = "The same command continues from here"
    wait = _FIRST_WAIT
    for _ in range(_ATTEMPTS - 1):
        try:
            return call()
        except TransientError as error:
            pause = wait if error.wait is None else error.wait
            if pause > _PATIENCE:
                raise PlatformError(
                    f"{server}: {error}, and asks to wait {pause / 60:.0f} minutes. {again} then."
                ) from error
            notice(f"{server}: {error}; trying again in {pause:.0f} s")
            time.sleep(pause)
            wait = min(2 * wait, _LONGEST_WAIT)
    try:
        return call()
    except TransientError as error:
        raise PlatformError(
            f"{server} failed {_ATTEMPTS} times, at last: {unstopped(error)}. {again}; try it "
            "later."
        ) from error


class RateLimiter:
    """Keeps calls to a server below a rate, over any window of time.

    For three calls a second, a call begins a second after the third-last one was *answered*, so
    delays on the way cannot push calls together.
    """

    def __init__(
        self,
        per_second: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        calls = max(1, int(per_second))
        self._seconds = calls / per_second
        self._answered: deque[float] = deque(maxlen=calls)
        self._clock = clock
        self._sleep = sleep

    @contextmanager
    def call(self) -> Iterator[None]:
        """Wrap a call, from its beginning to its answer or failure."""
        if len(self._answered) == self._answered.maxlen:
            while (early := self._answered[0] + self._seconds - self._clock()) > 0:
                self._sleep(early)
        try:
            yield
        finally:
            self._answered.append(self._clock())


def retry_after(response: Response) -> float | None:
    """Seconds that the server asks us to wait: a number, or a date."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    try:
        value = response.headers.get("Retry-After")
        return None if value is None else Retry().parse_retry_after(value)
    except InvalidHeader:
        return None
