"""A model behind OpenAI's chat API, whose answers are kept.

For every reranker and judge that asks one. Errors name the options `url`, `key_variable`, `model`,
`temperature` and `parameters` of the system that asks.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from urllib.parse import urlsplit

from irplatform.chat.answers import Answer, AnswerError, read_answer, reason_in
from irplatform.chat.options import ChatOptions
from irplatform.chat.parallel import in_parallel
from irplatform.chat.stated_rankings import permutation
from irplatform.errors import InputError, PlatformError, counted, unstopped
from irplatform.files.digests import fingerprint
from irplatform.files.journals import append_journal, read_journal
from irplatform.spelling import option
from irplatform.system.console import notice
from irplatform.system.web import LOOPBACK, TransientError, retry_after, with_retries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from requests import Response

_ANSWERS = "answers.journal"
_CONNECT = 15.0
_AWAY = {"refused": "connection refused", "resolve": "unknown host"}
_AWAY |= {"CERTIFICATE": "its certificate is not valid"}


class Chat:
    """A model that answers prompts, each once, also of several threads: answers are kept in a file.

    Args:
        options: of the model and its server.
        resources: the `Resources` of the reranker or judge that asks; the cache keeps answers.
        system: its name.
        kind: what the cache calls its answers.
        shorter: its options that make prompts shorter, for messages.
        marks: what else answers depend on.

    Attributes:
        Options: of the model and its server.
        tally: of this process: answers, those that were kept before, were cut off, were no rankings
            or were repaired, and tokens read and written.
    """

    Options: TypeAlias = ChatOptions
    tally: ClassVar[Counter[str]] = Counter()
    permutation = staticmethod(permutation)
    in_parallel = staticmethod(in_parallel)

    def __init__(
        self,
        options: ChatOptions,
        resources: Any,
        system: str,
        *,
        kind: str,
        shorter: Sequence[str],
        **marks: object,
    ) -> None:
        import requests

        self._system, self._shorter = system, shorter
        self._url, key = options.server(system)
        self._request, self._timeout = options.request, options.timeout
        folder = resources.artifact(
            kind,
            {"url": self._url, "request": self._request, **marks},
            lambda place: (place / _ANSWERS).touch(),
            of_vectors=False,
            filled_later=True,
        )
        self._path = folder / _ANSWERS
        self._lock = Lock()
        self._answers: dict[str, str] = dict(
            read_journal(self._path, lambda line: (line["prompt"], str(line["answer"])))
        )
        self._session = requests.Session()
        self._session.trust_env = bool(urlsplit(self._url).hostname not in LOOPBACK)
        self._session.auth = _Bearer(key)

    @classmethod
    def tell_tally(cls, system: str) -> None:
        """Tell how much models were asked, once: paid services count tokens."""
        tally = cls.tally.copy()
        cls.tally.clear()
        if not tally["answers"]:
            return
        parts = [f"{counted(tally['answers'], 'answer')}, {tally['kept']:,} of them kept before"]
        rare = ("repaired", "unusable", "cut off")
        parts += [f"{tally[kind]:,} {kind}" for kind in rare if tally[kind]]
        if tally["prompt_tokens"]:
            prompt, completion = tally["prompt_tokens"], tally["completion_tokens"]
            parts.append(f"{counted(prompt, 'token')} read, {completion:,} written")
        notice(f"{system}: {', '.join(parts)}")

    def knows(self, prompt: str) -> bool:
        """Whether the answer to a prompt was kept, so that it costs nothing."""
        return fingerprint({"prompt": prompt}) in self._answers

    def answer(self, prompt: str) -> str:
        """The answer to a prompt, without thoughts; "" if it is none. Whole answers are kept.

        Raises:
            PlatformError: the server is away, refuses, or answers something else.
        """
        mark = fingerprint({"prompt": prompt})
        text = self._answers.get(mark)
        answer = (
            with_retries(lambda: self._ask(prompt), self._url) if text is None else Answer(text)
        )
        with self._lock:
            self.tally.update({"answers": 1, "kept": text is not None, "cut off": answer.cut})
            if text is None and answer.said and not answer.cut:
                self._answers[mark] = answer.text
                append_journal(self._path, [{"prompt": mark, "answer": answer.text}])
        return answer.said

    def _ask(self, prompt: str) -> Answer:
        from requests import exceptions

        body: dict[str, Any] = {**self._request, "messages": [{"role": "user", "content": prompt}]}
        try:
            response = self._session.post(
                f"{self._url}/chat/completions",
                json=body,
                timeout=(_CONNECT, self._timeout),
                allow_redirects=False,
            )
        except exceptions.Timeout as error:
            raise TransientError(f"no answer within {self._timeout:g} seconds") from error
        except exceptions.ConnectionError as error:
            if reason := next((_AWAY[sign] for sign in _AWAY if sign in str(error)), ""):
                raise PlatformError(
                    f"{self._url} cannot be reached ({reason}). Start the server, or name another "
                    f"with {self._set('url', 'URL')}. The same command goes on from here."
                ) from error
            raise TransientError("the connection broke") from error
        except exceptions.RequestException as error:
            raise InputError(f"{self._url} cannot be asked: {unstopped(error)}.") from error
        return self._read(response)

    def _read(self, response: Response) -> Answer:
        status, body = response.status_code, response.content.decode("utf-8", "replace")
        said = unstopped(reason_in(body) if body else response.reason or "no answer")
        if status in (408, 425, 429) or status >= 500:
            raise TransientError(f"{said} (status {status})", wait=retry_after(response))
        if status in (401, 403):
            raise InputError(
                f"{self._url} refuses the request: {said} (status {status}). "
                f"{self._set('key_variable', 'NAME')} names the environment variable with the key."
            )
        if status != 200:
            raise InputError(
                f"{self._url} answers with status {status}: {said}. {self._advice(said)}"
            )
        try:
            answer = read_answer(body)
        except AnswerError as error:
            if not error.lasting:
                raise TransientError(unstopped(str(error))) from error
            raise InputError(
                f"{self._url} does not answer as a chat API does: {unstopped(str(error))}. "
                f"{self._advice(said)}"
            ) from error
        with self._lock:
            for name in ("prompt_tokens", "completion_tokens"):
                count = answer.usage.get(name)
                self.tally[name] += count if isinstance(count, int) else 0
        return answer

    def _set(self, name: str, value: str) -> str:
        return option("settings", {f"{self._system}.{name}": value})

    def _advice(self, said: str) -> str:
        if "temperature" in said.lower() and "temperature" in self._request:
            return f"{self._set('temperature', 'none')} leaves the temperature to the server."
        url, model, parameters, *shorter = (
            f"{self._system}.{name}" for name in ("url", "model", "parameters", *self._shorter)
        )
        return (
            f"Compare {url}, {model} and {parameters} with its documentation. Where a prompt is "
            f"too long, set a smaller {' or '.join(shorter)}."
        )


class _Bearer:
    """Sends the key; it also keeps requests from taking one from ~/.netrc."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: Any) -> Any:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request
