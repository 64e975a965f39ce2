"""One HTTP request, with its failures sorted: those that may pass, and those that need a person.

Certificates are verified, and redirects are not followed: what is sent (an API key, an address)
goes to the server that was named and to no other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from irplatform import __version__
from irplatform.collections.web.retries import TransientError
from irplatform.errors import InputError, PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from requests import Response

_TIMEOUT = (15.0, 120.0)
"""Seconds to connect, and between two pieces of an answer."""
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_SHOWN = 200
"""Characters of an answer that an error quotes."""


def check_url(url: str, source: str) -> str:
    """A base URL without its last slash.

    Args:
        url: the URL.
        source: where it comes from, for the error.

    Raises:
        InputError: it is not an https URL (or http to this machine).
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:  # brackets that are not closed, say
        host = None
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)):
        raise InputError(f"{source} is {url!r}. It must be an https:// URL.")
    return url.rstrip("/")


def request(
    method: str, url: str, form: Mapping[str, str] | None = None, *, explained: str = ""
) -> tuple[int, bytes]:
    """Send a request and read the whole answer.

    Args:
        method: "GET" or "POST".
        url: where to.
        form: sent in the body, so that it appears in no log of URLs.
        explained: a pattern; an answer with status 400 that it is found in is returned, because it
            explains itself.

    Returns:
        The status (200 or 400) and the body.

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
        raise InputError(f"{url} is not a URL that can be asked: {error}.") from error
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
        raise TransientError(f"{reason} (status {status})", wait=_retry_after(response))
    detail = " ".join(response.text[:_SHOWN].split()) or response.headers.get("Location", "")
    raise PlatformError(f"{url} answers with status {status}: {detail or response.reason}.")


def _retry_after(response: Response) -> float | None:
    """Seconds that the server asks us to wait: a number, or a date."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    try:
        value = response.headers.get("Retry-After")
        return None if value is None else Retry().parse_retry_after(value)
    except InvalidHeader:
        return None
