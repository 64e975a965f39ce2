"""Windows that slide over a ranking, and prompts for a window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROMPT = """\
I will give you {count} passages, each with a number in brackets. Rank them by their relevance to \
the search query: {query}

{passages}

Search query: {query}
Rank the {count} passages above by their relevance to the search query, the most relevant first. \
List every number once, as in [2] > [1] > [3]. Answer with this list alone, without explanation."""

PLACES = ("count", "query", "passages")
"""What a prompt has in braces."""

_BRACKETED = re.compile(r"\[\s*([0-9]+)\s*\]")


def windows(count: int, size: int, step: int) -> Iterator[slice]:
    """Windows over a ranking, from its end to its beginning.

    The last one begins at the first document, also where steps do not fit.
    """
    start = max(0, count - size)
    yield slice(start, count)
    while start > 0:
        end = max(start + size - step, min(size, count))
        start = max(0, end - size)
        yield slice(start, end)


def prompt(template: str, query: str, passages: Sequence[str], words: int) -> str:
    """The prompt for a window; passages are cut to a number of words."""
    listing = "\n\n".join(
        f"[{number}] {_cut(passage, words)}" for number, passage in enumerate(passages, start=1)
    )
    values = {"count": str(len(passages)), "query": query, "passages": listing}
    # In one pass: a passage may have braces in it.
    return re.sub(r"\{(count|query|passages)\}", lambda match: values[match[1]], template)


def _cut(passage: str, words: int) -> str:
    """The first words of a passage, whose own numbers in brackets would look like a passage's."""
    return _BRACKETED.sub(r"(\1)", " ".join(passage.split()[:words]))
