"""The reranker `rankgpt`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads annotations
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.errors import InputError
from irplatform.plugin import Documents, Field, Options, Reads, Reranker, Topic, Traits
from irplatform.system.console import steps
from irplatform_rankgpt.chat import Chat, check_url, read_key, tally
from irplatform_rankgpt.permutations import PLACES, PROMPT, permutation, prompt, windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Resources

_ANSWERS = "answers.jsonl"
_PROBLEMS = {
    "repaired": "rankgpt: some answers of {model} leave passages out or repeat them; what they "
    "leave out follows in its former order",
    "unusable": "WARNING: rankgpt: some answers of {model} are not rankings; their windows keep "
    "their order",
}
"""Told once in a run, which counts them at its end."""


class RankGPTOptions(Options):
    """Options of the list-wise reranker."""

    url: str = Field(
        "http://localhost:8000/v1",
        description="the server's chat API, without /chat/completions; passages are sent there",
    )
    model: str = Field("", description="the model's name on the server")
    key_variable: str = Field(
        "", description="the environment variable that holds the key, such as OPENAI_API_KEY"
    )
    depth: int = Field(100, ge=1, description="candidates of a topic that are sorted")
    window: int = Field(20, ge=2, description="passages that the model sorts at once")
    step: int = Field(10, ge=1, description="places that the window moves up")
    passes: int = Field(1, ge=1, description="times that the window moves over all candidates")
    words: int = Field(300, ge=1, description="words of title and abstract that it reads")
    prompt: Path | None = Field(
        None, description="a text file with {count}, {query} and {passages}, in place of our prompt"
    )
    temperature: float | None = Field(
        0.0, ge=0, description="of the model; none leaves it to the server"
    )
    parameters: dict[str, Any] = Field(
        {}, description="further fields of each request, such as max_completion_tokens"
    )
    timeout: float = Field(300.0, gt=0, description="seconds to wait for an answer")


class RankGPT(Reranker):
    """A chat model sorts passages, in windows that slide from the end to the beginning."""

    Options = RankGPTOptions
    citation: ClassVar[str] = (
        "Weiwei Sun, Lingyong Yan, Xinyu Ma, Shuaiqiang Wang, Pengjie Ren, Zhumin Chen, Dawei Yin, "
        "Zhaochun Ren. Is ChatGPT Good at Search? Investigating Large Language Models as "
        "Re-Ranking Agents. EMNLP 2023. Algorithm in section 3.2."
    )
    options: RankGPTOptions

    def traits(self) -> Traits:
        """It starts from the first stage's order."""
        return Traits(listwise=True)

    def reads(self) -> Reads:
        """Nothing but its options, which are checked."""
        if not self.options.model:
            raise InputError(
                "'rankgpt' needs a model: its option `model` (--set rankgpt.model=NAME), as the "
                "server calls it."
            )
        if self.options.step > self.options.window:
            raise InputError(
                f"rankgpt.step is {self.options.step}, more than rankgpt.window "
                f"({self.options.window}): documents between two windows would not be read."
            )
        read_key(self.options.key_variable, check_url(self.options.url))
        self._template()
        return Reads()

    def prepare(self, resources: Resources) -> None:
        """Open the file of answers; the server is asked when topics are ranked."""
        options, url = self.options, check_url(self.options.url)
        request = {"model": options.model, **options.parameters}
        if options.temperature is not None:
            request = {"temperature": options.temperature, **request}
        folder = resources.artifact(
            "rankgpt-answers",
            {"url": url, "request": request},
            lambda place: (place / _ANSWERS).touch(),
            of_vectors=False,
            filled_later=True,
        )
        key = read_key(options.key_variable, url)
        self._chat = Chat(url, key, request, options.timeout, folder / _ANSWERS)
        self._prompt = self._template()
        self._resources = resources

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """The same for all: candidates are ranked together, by `rescore`."""
        del topic
        return [0.0] * len(documents)

    def rescore(
        self, topic: Topic, documents: Documents, scores: Sequence[float]
    ) -> Sequence[float]:
        """The number of candidates below each: the sorted ones first, then those beyond `depth`."""
        del scores
        options = self.options
        order = [*range(min(options.depth, len(documents)))]
        moves = options.passes * [*windows(len(order), options.window, options.step)]
        texts = [document.text for document in documents[: len(order)]]
        with steps("window", len(moves)) as done:
            for move in moves:
                window = order[move]
                passages = [texts[place] for place in window]
                answer = self._chat.answer(
                    prompt(self._prompt, topic.query, passages, options.words)
                )
                places, problem = permutation(answer, len(window))
                if problem:
                    tally[problem] += 1
                    self._resources.notice(_PROBLEMS[problem].format(model=options.model))
                order[move] = [window[place] for place in places]
                done(1)
        ranked = [*order, *range(len(order), len(documents))]
        values = [0.0] * len(documents)
        for rank, place in enumerate(ranked, start=1):
            values[place] = float(len(documents) - rank)
        return values

    def _template(self) -> str:
        path = self.options.prompt
        if path is None:
            return PROMPT
        try:
            text = path.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("this prompt cannot be read.", path=path) from error
        if missing := [place for place in PLACES if f"{{{place}}}" not in text]:
            raise InputError(f"a prompt needs {{{missing[0]}}} in it.", path=path)
        return text
