"""A model behind OpenAI's chat API, whose answers are kept."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from irplatform.building.web import TransientError, with_retries
from irplatform.errors import InputError, PlatformError, unstopped
from irplatform.system.digests import fingerprint
from irplatform.system.formats import append_journal, read_journal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from requests import Response

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONNECT = 15.0
_SHOWN = 300
"""Characters of a server's answer that an error quotes."""

tally: Counter[str] = Counter()
"""Of this process: answers, those that were kept before, were no rankings or were repaired, and
tokens read and written."""


def check_url(url: str) -> str:
    """The URL of a chat API without its last slash.

    Raises:
        InputError: it is none, or holds a password or a query, which metadata would show.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:  # brackets that are not closed, say
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise InputError(
            f"rankgpt.url is {url!r}; it is the beginning of a chat API, such as "
            "http://localhost:8000/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "rankgpt.url may not hold a user, a password or a query: metadata shows it. Name the "
            "environment variable of a key with --set rankgpt.key_variable=NAME."
        )
    return url.rstrip("/")


def read_key(variable: str, url: str) -> str:
    """The key in an environment variable; "" where none is named.

    Raises:
        InputError: it is not set, or would be sent unencrypted to another machine.
    """
    if not variable:
        return ""
    if not _VARIABLE.fullmatch(variable):  # perhaps the key itself: it is not shown
        raise InputError(
            "rankgpt.key_variable is the name of an environment variable, such as OPENAI_API_KEY, "
            "not the key itself."
        )
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputError(
            "rankgpt.key_variable names an environment variable that is not set. It takes the name "
            "of a variable, not the key itself."
        )
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise InputError(
            f"the key in {variable} would be sent to {url} unencrypted: use https, or name no key."
        )
    return key


class Chat:
    """A model that answers prompts, each once, also of several threads: answers are kept in a file.

    Args:
        url: of the API, without `/chat/completions`.
        key: "" for none.
        request: fields of each request, such as the model, beside the messages.
        timeout: seconds to wait for an answer.
        answers: a file of former answers, which is extended.
    """

    def __init__(
        self, url: str, key: str, request: Mapping[str, object], timeout: float, answers: Path
    ) -> None:
        import requests

        self._url = url
        self._request = dict(request)
        self._timeout = timeout
        self._path = answers
        self._lock = Lock()
        self._answers: dict[str, str] = dict(
            read_journal(answers, lambda line: (line["prompt"], str(line["answer"])))
        )
        self._session = requests.Session()
        self._session.trust_env = bool(urlsplit(url).hostname not in _LOOPBACK)
        self._session.auth = _Bearer(key)

    def answer(self, prompt: str) -> str:
        """The answer to a prompt.

        Raises:
            PlatformError: the server is away, refuses, or answers something else.
        """
        mark = fingerprint({"prompt": prompt})
        kept = self._answers.get(mark)
        answer = with_retries(lambda: self._ask(prompt), self._url) if kept is None else kept
        with self._lock:
            tally.update(answers=1, kept=kept is not None)
            if kept is None:
                self._answers[mark] = answer
                append_journal(self._path, [{"prompt": mark, "answer": answer}])
        return answer

    def _ask(self, prompt: str) -> str:
        from requests import exceptions

        asked: dict[str, Any] = {**self._request, "messages": [{"role": "user", "content": prompt}]}
        try:
            response = self._session.post(
                f"{self._url}/chat/completions",
                json=asked,
                timeout=(_CONNECT, self._timeout),
                allow_redirects=False,
            )
        except exceptions.Timeout as error:
            raise TransientError(f"no answer within {self._timeout:g} seconds") from error
        except exceptions.ConnectionError as error:
            if any(text in str(error) for text in ("refused", "resolve", "CERTIFICATE")):
                raise PlatformError(
                    f"{self._url} cannot be reached ({_reason(error)}). Start the server, or name "
                    "another with --set rankgpt.url=URL. The same command goes on from here."
                ) from error
            raise TransientError("the connection broke") from error
        except exceptions.RequestException as error:
            raise InputError(f"{self._url} cannot be asked: {unstopped(error)}.") from error
        return self._read(response)

    def _read(self, response: Response) -> str:
        status = response.status_code
        if status in (408, 429) or status >= 500:
            seconds = response.headers.get("Retry-After", "")
            wait = float(seconds) if seconds.isdecimal() else None
            raise TransientError(f"{_message(response)} (status {status})", wait=wait)
        if status in (401, 403):
            raise InputError(
                f"{self._url} refuses the request: {_message(response)} (status {status}). --set "
                "rankgpt.key_variable=NAME names the environment variable with the key."
            )
        if status != 200:
            raise InputError(
                f"{self._url} answers with status {status}: {_message(response)}. Compare "
                "rankgpt.url, rankgpt.model and rankgpt.parameters with its documentation. Where a "
                "prompt is too long, set a smaller rankgpt.words or rankgpt.window."
            )
        try:
            parsed = response.json()
            answer = parsed["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise InputError(
                f"{self._url} does not answer as a chat API does: {_message(response)}."
            ) from error
        usage = parsed.get("usage") or {}
        tokens = {n: int(usage.get(n) or 0) for n in ("prompt_tokens", "completion_tokens")}
        with self._lock:
            tally.update(tokens)
        return str(answer or "")


class _Bearer:
    """Sends the key; it also keeps requests from taking one from ~/.netrc."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: Any) -> Any:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


def _message(response: Response) -> str:
    """A server's own words on what is wrong, in a line."""
    try:
        parsed = json.loads(response.text)
        error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
        text = error.get("message", error) if isinstance(error, dict) else error
    except ValueError:
        text = response.text
    return unstopped(str(text)[:_SHOWN] or response.reason or "no answer")


def _reason(error: Exception) -> str:
    text = str(error)
    for sign, reason in (("refused", "connection refused"), ("resolve", "unknown host")):
        if sign in text:
            return reason
    return "its certificate is not valid"
