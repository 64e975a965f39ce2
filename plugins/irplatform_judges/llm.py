"""The judge `llm`: a chat model gives each document a grade, by the grades' definitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path  # noqa: TC003 - pydantic reads annotations
from textwrap import shorten
from typing import TYPE_CHECKING, ClassVar

from irplatform.kit import Chat, PlatformError, fingerprint
from irplatform.plugin import Documents, Field, InputError, Judge, Reads, Topic
from irplatform_judges.prompts import PLACES, PROMPT, prompt, stated_grade

if TYPE_CHECKING:
    from irplatform.plugin import Resources

_NAME = "llm"
_CHARACTERS = 4
"""Of a token, about."""
_WRITTEN = 4
"""Tokens of an answer without thoughts, about."""


class JudgesChat(Chat):
    """A chat model whose answers are counted apart from those of rerankers."""

    tally: ClassVar[Counter[str]] = Counter()


class LanguageModelOptions(Chat.Options):
    """Options of the judge that asks a chat model."""

    parallel: int = Field(4, ge=1, description="documents that are judged at the same time")
    words: int = Field(500, ge=1, description="words of title and abstract that it reads")
    prompt: Path | None = Field(
        None, description="a text file with {topic}, {document} and {grades}, in place of ours"
    )


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
    _has_warned = False

    def reads(self) -> Reads:
        """Nothing but its options, which are checked."""
        _ = self.options.server(_NAME), self._template()
        return Reads()

    def prepare(self, resources: Resources) -> None:
        """Open the file of answers; the server is asked when documents are judged."""
        self._chat = JudgesChat(
            self.options, resources, _NAME, kind="llm-judgments", shorter=("words",)
        )
        self._prompt, self._resources = self._template(), resources
        self._before = JudgesChat.tally.copy()

    def judge(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> list[int | None]:
        """Grades; None where an answer states none or did not come.

        Raises:
            PlatformError: no answer came for any of the documents.
        """
        failures: list[PlatformError] = []

        def answer(text: str) -> str:
            try:
                return self._chat.answer(text)
            except InputError:  # all others would be refused, too
                raise
            except PlatformError as error:
                failures.append(error)
                return ""

        prompts = self._prompts(topic, documents, grades)
        answers = dict(Chat.in_parallel(answer, prompts, self.options.parallel))
        if len(failures) == len(prompts):
            raise failures[0]
        if failures:
            self._resources.notice(f"WARNING: llm: no answer about some documents: {failures[0]}")
        stated = [stated_grade(answers[place], grades) for place in range(len(prompts))]
        odd = (answers[place] for place, grade in enumerate(stated) if grade is None)
        if not self._has_warned and (example := shorten(next(filter(str.strip, odd), ""), 80)):
            self._resources.notice(f"llm: an answer that is no grade, the first one: {example}")
            self._has_warned = True
        return stated

    def version(self, grades: Judge.Grades) -> str:
        """The model, and a mark of prompt, grades and request."""
        decides = {
            "prompt": self._template(),
            "grades": {str(grade): definition for grade, definition in grades.items()},
            "words": self.options.words,
            "request": self.options.request,
        }
        model = "_".join(self.options.model.split())
        return f"model:{model} prompt:{fingerprint(decides)[:8]}"

    def tokens(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> Judge.Tokens:
        """About a token for four characters; thoughts of a model come on top."""
        prompts = self._prompts(topic, documents, grades)
        new = [text for text in prompts if not self._chat.knows(text)]
        return Judge.Tokens(sum(len(text) // _CHARACTERS for text in new), _WRITTEN * len(new))

    def spent(self) -> Judge.Tokens:
        """What the server counted."""
        spent = JudgesChat.tally - self._before
        return Judge.Tokens(spent["prompt_tokens"], spent["completion_tokens"])

    def _prompts(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> list[str]:
        words = self.options.words
        return [prompt(self._prompt, topic, document, grades, words) for document in documents]

    def _template(self) -> str:
        return self.options.template(self.options.prompt, PROMPT, PLACES)
