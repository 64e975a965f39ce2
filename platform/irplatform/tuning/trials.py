"""What settings score: one search (and reranking) of all topics per trial, kept in a journal.

A trial is named by the complete options of all systems, so that searches over other options or
ranges share what they have in common. The journal is a line per finished trial in the cache: a
killed search goes on where it stopped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.journal import append_journal, read_journal
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Trial:
    """Settings and what they scored.

    Attributes:
        settings: option to value; empty for the defaults.
        scores: topic id to the measure's value.
        seconds: how long it took.
    """

    settings: Mapping[str, object]
    scores: Mapping[str, float]
    seconds: float


class Trials:
    """Runs trials, each once.

    Args:
        describe: settings to the complete options of all systems, as JSON.
        score: settings to the value of every topic; 0 for those that are left out.
        topics: the topics, in the order of the journal.
        journal: the file that keeps finished trials, in a folder that is there; None keeps none.
        finished: told of every new trial.
    """

    def __init__(
        self,
        describe: Callable[[Mapping[str, object]], Mapping[str, Any]],
        score: Callable[[Mapping[str, object]], Mapping[str, float]],
        topics: Sequence[str],
        journal: Path | None,
        finished: Callable[[Trial], None] = lambda _: None,
    ) -> None:
        self._describe = describe
        self._score = score
        self._topics = list(topics)
        self._journal = journal
        self.finished = finished
        self._results = _read(journal, len(self._topics))
        self._marks: set[str] = set()

    def __len__(self) -> int:
        return len(self._marks)

    def known(self, settings: Mapping[str, object]) -> bool:
        """Whether these settings have been tried."""
        return fingerprint(self._describe(settings)) in self._results

    def run(self, settings: Mapping[str, object]) -> Trial:
        """Try settings, or remember what they scored."""
        mark = fingerprint(self._describe(settings))
        self._marks.add(mark)
        if mark not in self._results:
            started = time.monotonic()
            scores = self._score(settings)
            values = [float(scores.get(topic, 0.0)) for topic in self._topics]
            seconds = round(time.monotonic() - started, 3)
            self._results[mark] = (values, seconds)
            entry = {"trial": mark, "settings": dict(settings), "seconds": seconds}
            append_journal(self._journal, [{**entry, "scores": values}])
            self.finished(Trial(settings, dict(zip(self._topics, values, strict=True)), seconds))
        values, seconds = self._results[mark]
        return Trial(settings, dict(zip(self._topics, values, strict=True)), seconds)


def _read(journal: Path | None, topics: int) -> dict[str, tuple[list[float], float]]:
    """Finished trials: their name to the topics' values, and how long they took."""

    def parse(line: Any) -> tuple[str, tuple[list[float], float]]:
        if len(line["scores"]) != topics:
            raise ValueError("a trial over other topics")
        return line["trial"], (line["scores"], line["seconds"])

    return dict(read_journal(journal, parse))
