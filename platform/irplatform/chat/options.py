"""Options of the rerankers and judges that ask a chat model."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import Field

from irplatform.errors import InputError
from irplatform.options import Options
from irplatform.system.web import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ChatOptions(Options):
    """Which model on which server, and how it is asked."""

    url: str = Field(
        "http://localhost:8000/v1",
        description="the server's chat API, without /chat/completions; texts are sent there",
    )
    model: str = Field("", description="the model's name on the server")
    key_variable: str = Field(
        "", description="the environment variable that holds the key, such as OPENAI_API_KEY"
    )
    temperature: float | None = Field(
        0.0, ge=0, description="of the model; none leaves it to the server"
    )
    parameters: dict[str, Any] = Field(
        {}, description="further fields of each request, such as max_completion_tokens"
    )
    timeout: float = Field(300.0, gt=0, description="seconds to wait for an answer")

    @property
    def request(self) -> dict[str, Any]:
        """Fields of each request; `parameters` replace others of the same name."""
        fields = {} if self.temperature is None else {"temperature": self.temperature}
        return {**fields, "model": self.model, **self.parameters}

    def server(self, system: str) -> tuple[str, str]:
        """Return the URL without its last slash, and the key, "" for none.

        Raises:
            InputError: no model is named, the URL is none or shows a secret, or the key is not set,
                or would be sent unencrypted to another machine.
        """
        if not self.model:
            raise InputError(
                f"'{system}' needs a model: its option `model` "
                f"({self.spelled({f'{system}.model': 'NAME'})}), as the server calls it."
            )
        return self._url(system), self._key(system)

    @staticmethod
    def template(path: Path | None, ours: str, places: Sequence[str]) -> str:
        """Return our prompt, or the one in a file.

        Raises:
            InputError: it cannot be read, or lacks one of the places, as in {query}.
        """
        if path is None:
            return ours
        try:
            text = path.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("this prompt cannot be read.", path=path) from error
        if missing := [place for place in places if f"{{{place}}}" not in text]:
            raise InputError(f"a prompt needs {{{missing[0]}}} in it.", path=path)
        return text

    def _url(self, system: str) -> str:
        try:
            parts = urlsplit(self.url)
            host = parts.hostname
        except ValueError:  # brackets that are not closed, say
            host = None
        if not host or parts.scheme not in ("http", "https"):
            raise InputError(
                f"{system}.url is {self.url!r}; it is the beginning of a chat API, such as "
                "http://localhost:8000/v1."
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InputError(
                f"{system}.url may not hold a user, a password or a query: metadata shows it. Name "
                "the environment variable of a key with "
                f"{self.spelled({f'{system}.key_variable': 'NAME'})}."
            )
        return self.url.rstrip("/")

    def _key(self, system: str) -> str:
        if not self.key_variable:
            return ""
        if not _VARIABLE.fullmatch(self.key_variable):  # perhaps the key itself: it is not shown
            raise InputError(
                f"{system}.key_variable is the name of an environment variable, such as "
                "OPENAI_API_KEY, not the key itself."
            )
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise InputError(
                f"{system}.key_variable names an environment variable that is not set. It takes "
                "the name of a variable, not the key itself."
            )
        parts = urlsplit(self.url)
        if parts.scheme != "https" and parts.hostname not in LOOPBACK:
            raise InputError(
                f"the key in {self.key_variable} would be sent to {self.url} unencrypted: use "
                "https, or name no key."
            )
        return key
