"""The reranker `rankgpt`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path  # noqa: TC003 - pydantic reads annotations
from typing import TYPE_CHECKING, ClassVar

from irplatform.kit import Chat
from irplatform.plugin import Documents, Field, InputError, Reads, Reranker, Topic, Traits
from irplatform_rankgpt.windows import PLACES, PROMPT, prompt, windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Resources

_NAME = "rankgpt"
_FORMAT = 2
"""Of the kept answers, which are whole since 2."""
_PROBLEMS = {
    "repaired": "rankgpt: some answers of {model} leave passages out or repeat them; what they "
    "leave out follows in its former order",
    "unusable": "WARNING: rankgpt: some answers of {model} are not rankings, or not clear ones; "
    "their windows keep their order",
}
"""Told once in a run, which counts them at its end."""


class RankGPTOptions(Chat.Options):
    """Options of the list-wise reranker."""

    depth: int = Field(100, ge=1, description="candidates of a topic that are sorted")
    window: int = Field(20, ge=2, description="passages that the model sorts at once")
    step: int = Field(10, ge=1, description="places that the window moves up")
    passes: int = Field(1, ge=1, description="times that the window moves over all candidates")
    parallel: int = Field(4, ge=1, description="topics that are sorted at the same time")
    words: int = Field(300, ge=1, description="words of title and abstract that it reads")
    prompt: Path | None = Field(
        None, description="a text file with {count}, {query} and {passages}, in place of our prompt"
    )


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
        return Traits(listwise=True, keeps_answers=True)

    def reads(self) -> Reads:
        """Nothing but its options, which are checked."""
        if self.options.step > self.options.window:
            raise InputError(
                f"rankgpt.step is {self.options.step}, more than rankgpt.window "
                f"({self.options.window}): documents between two windows would not be read."
            )
        _ = self.options.server(_NAME), self._template()
        return Reads()

    def prepare(self, resources: Resources) -> None:
        """Open the file of answers; the server is asked when topics are ranked."""
        kind, shorter = "rankgpt-answers", ("words", "window")
        self._chat = Chat(
            self.options, resources, _NAME, kind=kind, shorter=shorter, format=_FORMAT
        )
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
        return self.rescore_batch([(topic, documents, scores)])[0]

    def rescore_batch(
        self, batch: Sequence[tuple[Topic, Documents, Sequence[float]]]
    ) -> list[Sequence[float]]:
        """The same for several topics, of which `parallel` are sorted at the same time."""
        requests = [
            (topic.query, [document.text for document in documents[: self.options.depth]])
            for topic, documents, _ in batch
        ]
        moves = [len(self._windows(len(texts))) for _, texts in requests]
        orders: dict[int, list[int]] = {}
        with self._resources.progress("sorting", sum(moves), "windows") as advance:
            results = Chat.in_parallel(self._sort, requests, self.options.parallel)
            for place, (order, problems) in results:
                orders[place] = order
                Chat.tally.update(problems)
                for problem in problems:
                    self._resources.notice(_PROBLEMS[problem].format(model=self.options.model))
                advance(moves[place])
        return [_falling(orders[place], len(read)) for place, (_, read, _) in enumerate(batch)]

    def _windows(self, count: int) -> list[slice]:
        return self.options.passes * [*windows(count, self.options.window, self.options.step)]

    def _sort(self, request: tuple[str, Sequence[str]]) -> tuple[list[int], Counter[str]]:
        """The order of a query's passages, and how many answers had which problem."""
        query, texts = request
        order, problems = [*range(len(texts))], Counter[str]()
        for move in self._windows(len(texts)):
            window = order[move]
            passages = [texts[place] for place in window]
            answer = self._chat.answer(prompt(self._prompt, query, passages, self.options.words))
            places, problem = Chat.permutation(answer, len(window))
            order[move] = [window[place] for place in places]
            if problem:
                problems[problem] += 1
        return order, problems

    def _template(self) -> str:
        return self.options.template(self.options.prompt, PROMPT, PLACES)


def _falling(order: Sequence[int], count: int) -> list[float]:
    """Scores that fall by 1 along an order of the first documents, and then along the others."""
    values = [0.0] * count
    for rank, place in enumerate([*order, *range(len(order), count)], start=1):
        values[place] = float(count - rank)
    return values
