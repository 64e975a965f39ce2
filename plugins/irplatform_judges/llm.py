"""The judge `llm`: a chat model gives each document a grade, by the grades' definitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path  # noqa: TC003 - pydantic reads annotations
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.kit import Chat, PlatformError, fingerprint
from irplatform.plugin import (
    Document,
    Documents,
    Field,
    InputError,
    Judge,
    Options,
    Reads,
    Topic,
)
from irplatform_judges.prompts import PLACES, PROMPT, prompt, stated_grade

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Resources

_NAME = "llm"
_ANSWERS = "answers.journal"
_CHARACTERS = 4
"""Of a token, about."""
_WRITTEN = 4
"""Tokens of an answer without thoughts, about."""


class JudgesChat(Chat):
    """A chat model whose answers are counted apart from those of rerankers."""

    tally: ClassVar[Counter[str]] = Counter()


class LanguageModelOptions(Options):
    """Options of the judge that asks a chat model."""

    url: str = Field(
        "http://localhost:8000/v1",
        description="the server's chat API, without /chat/completions; documents are sent there",
    )
    model: str = Field("", description="the model's name on the server")
    key_variable: str = Field(
        "", description="the environment variable that holds the key, such as OPENAI_API_KEY"
    )
    parallel: int = Field(4, ge=1, description="documents that are judged at the same time")
    words: int = Field(500, ge=1, description="words of title and abstract that it reads")
    prompt: Path | None = Field(
        None, description="a text file with {topic}, {document} and {grades}, in place of ours"
    )
    temperature: float | None = Field(
        0.0, ge=0, description="of the model; none leaves it to the server"
    )
    parameters: dict[str, Any] = Field(
        {}, description="further fields of each request, such as max_completion_tokens"
    )
    timeout: float = Field(300.0, gt=0, description="seconds to wait for an answer")


class LanguageModel(Judge):
    """A chat model grades a document at a time, by the definitions of the grades.

    Any server with OpenAI's chat API: vLLM, llama.cpp, Ollama, SGLang, or a paid service. Answers
    are kept. A document whose answer states no grade, or never comes, stays unjudged.
    """

    Options = LanguageModelOptions
    citation: ClassVar[str] = (
        "Paul Thomas, Seth Spielman, Nick Craswell, Bhaskar Mitra. Large Language Models can "
        "Accurately Predict Searcher Preferences. SIGIR 2024."
    )
    options: LanguageModelOptions

    def reads(self) -> Reads:
        """Nothing but its options, which are checked."""
        if not self.options.model:
            raise InputError(
                "'llm' needs a model: its option `model` "
                f"({Options.spelled({'llm.model': 'NAME'})}), as the server calls it."
            )
        JudgesChat.read_key(self.options.key_variable, self._url(), _NAME)
        self._template()
        return Reads()

    def prepare(self, resources: Resources) -> None:
        """Open the file of answers; the server is asked when documents are judged."""
        url, request = self._url(), self._request()
        folder = resources.artifact(
            "llm-judgments",
            {"url": url, "request": request},
            lambda place: (place / _ANSWERS).touch(),
            of_vectors=False,
            filled_later=True,
        )
        self._chat = JudgesChat(
            url,
            JudgesChat.read_key(self.options.key_variable, url, _NAME),
            request,
            self.options.timeout,
            folder / _ANSWERS,
            system=_NAME,
            shorter=("words",),
        )
        self._prompt, self._resources = self._template(), resources
        self._before = self._chat.tally.copy()

    def judge(
        self, topic: Topic, documents: Documents, grades: Judge.Grades
    ) -> Sequence[int | None]:
        """Grades; None where an answer states none or did not come.

        Raises:
            PlatformError: no answer came for any of the documents.
        """
        asked = [self._asked(topic, document, grades) for document in documents]
        found: list[int | None] = [None] * len(asked)
        failures = []
        answers = JudgesChat.in_parallel(self._answer, asked, self.options.parallel)
        for place, (answer, failure) in answers:
            if failure:
                failures.append(failure)
                continue
            found[place] = stated_grade(answer, grades)
            if found[place] is None:
                self._resources.notice(f"llm: some answers of {self.options.model} are no grades")
        if len(failures) == len(asked):
            raise failures[0]
        if failures:
            self._resources.notice(f"WARNING: llm: no answer about some documents: {failures[0]}")
        return found

    def version(self, grades: Judge.Grades) -> str:
        """The model, and a mark of prompt, grades and request."""
        decides = {
            "prompt": self._template(),
            "grades": {str(grade): told for grade, told in grades.items()},
            "words": self.options.words,
            "request": self._request(),
        }
        model = "_".join(self.options.model.split())
        return f"model:{model} prompt:{fingerprint(decides)[:8]}"

    def tokens(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> Judge.Tokens:
        """About a token for four characters; thoughts of a model come on top."""
        asked = [self._asked(topic, document, grades) for document in documents]
        new = [text for text in asked if not self._chat.knows(text)]
        return Judge.Tokens(sum(len(text) // _CHARACTERS for text in new), _WRITTEN * len(new))

    def spent(self) -> Judge.Tokens:
        """What the server counted."""
        spent = self._chat.tally - self._before
        return Judge.Tokens(spent["prompt_tokens"], spent["completion_tokens"])

    def _answer(self, asked: str) -> tuple[str, PlatformError | None]:
        try:
            return self._chat.answer(asked), None
        except InputError:  # all others would be refused, too
            raise
        except PlatformError as error:
            return "", error

    def _asked(self, topic: Topic, document: Document, grades: Judge.Grades) -> str:
        return prompt(self._prompt, topic, document, grades, self.options.words)

    def _url(self) -> str:
        return JudgesChat.check_url(self.options.url, _NAME)

    def _request(self) -> dict[str, Any]:
        options = self.options
        return Chat.request(options.model, options.temperature, options.parameters)

    def _template(self) -> str:
        path = self.options.prompt
        return PROMPT if path is None else Chat.read_prompt(path, PLACES)
