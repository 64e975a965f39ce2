"""Parts of texts that are longer than a model reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.kit import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SPACE = re.compile(r"\s+")


def parts(
    texts: Sequence[str], count: Callable[[list[str]], Sequence[int]], most: int
) -> list[list[str]]:
    """Return the parts of each text, in order: one where the whole text fits.

    Parts have about the same length. They end with a sentence where they can, else with a word. A
    part may have more than `most` tokens if it is one character.

    Args:
        texts: of any length.
        count: returns the number of tokens of each text, without those that a model adds.
        most: tokens that fit, 1 or more.

    Example:
        >>> words = lambda texts: [len(text.split()) for text in texts]
        >>> parts(["One two. Three four five. Six."], words, 4)
        [['One two.', 'Three four five. Six.']]
    """
    counts = count(list(texts))
    return [
        list(_parts(text, tokens, count, most)) for text, tokens in zip(texts, counts, strict=True)
    ]


def _parts(
    text: str, tokens: int, count: Callable[[list[str]], Sequence[int]], most: int
) -> Iterator[str]:
    if tokens <= most or len(text) < 2:
        yield text
        return
    fewest = -(-tokens // most)
    place = _boundary(text, len(text) * (fewest // 2) / fewest)
    halves = [half for part in (text[:place], text[place:]) if (half := part.strip())]
    for half, length in zip(halves, count(halves), strict=True):
        yield from _parts(half, length, count, most)


def _boundary(text: str, target: float) -> int:
    """The place in a text, not its ends, where it is best split: the nearest end of a sentence."""
    ends = [end for end in _sentence_ends(text) if end < len(text)]
    ends = ends or [space.start() for space in _SPACE.finditer(text) if space.start() > 0]
    return min(ends, key=lambda end: abs(end - target), default=max(1, round(target)))


def _sentence_ends(text: str) -> Iterator[int]:
    end = 0
    for sentence in sentences(text):
        end = text.index(sentence, end) + len(sentence)
        yield end
