"""The rules of a task in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.tasks.model import FORMS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.tasks.model import Source, Task

_EXPECTED = {"topics": "number of topics", "depth": "depth", "tag": "run tag", "runs": "runs"}
"""Rules that most tasks have, in words."""
_SENTENCES = {
    "depth": "at most {:,} results per topic",
    "runs": "at most {:,} of a group",
    "snippets": "at most {:,} per question",
    "citations": "at most {:,} per sentence",
    "sentences": "at most {:,} in an answer",
    "words": "at most {:,} in an answer",
    "falling": "scores may not rise from line to line",
    "metadata": "ir-metadata.yml is a part of the submission",
}


def stated(task: Task) -> Iterator[tuple[str, str, Source | None]]:
    """Yield each rule of a task: its name, what it says, and its source."""
    for name in RULES:
        value = getattr(task.rules, name)
        if value not in (None, False):
            yield name.replace("_", " "), _in_words(name, value), task.sources.get(name)


def open_rules(task: Task) -> list[str]:
    """Return the usual rules that no source of the task states, in words."""
    answers = (task.rules.form or "").startswith("biogen")  # answers hold no ranking
    return [
        words
        for name, words in _EXPECTED.items()
        if getattr(task.rules, name) is None and not (answers and name == "depth")
    ]


def _in_words(name: str, value: Any) -> str:
    if name == "form":
        return FORMS[value]
    if isinstance(value, list):
        return ", ".join(value)
    if name in _SENTENCES:
        return _SENTENCES[name].format(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
