"""The words of a topic in texts: a word is marked if analysis makes the same term of both.

The analysis is that of the index, so that marks are what a search for the topic matches: "treated"
for "treat", and not "gene" in "general".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    Analyze = Callable[[Sequence[str]], Sequence[Sequence[str]]]

_WORD = re.compile(r"([^\W_]+)")


class Words:
    """Marks words of texts, given the function that returns the terms of each of some words.

    >>> words = Words(lambda pieces: [[piece.lower().removesuffix("s")] for piece in pieces])
    >>> words.marked("Cancers of the lung, and lunger", words.terms(["lung cancer"]))
    ['', 'Cancers', ' of the ', 'lung', ', and lunger']
    """

    def __init__(self, analyze: Analyze) -> None:
        self._analyze = analyze
        self._terms: dict[str, frozenset[str]] = {}

    def terms(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the terms of texts."""
        words = {word for text in texts for word in _WORD.findall(text)}
        if new := [word for word in words if word not in self._terms]:
            terms = map(frozenset, self._analyze(new))
            self._terms.update(zip(new, terms, strict=True))
        return frozenset().union(*(self._terms[word] for word in words))

    def marked(self, text: str, terms: Collection[str]) -> list[str]:
        """Return the parts of a text: plain, marked, plain, …, marked, plain."""
        self.terms([text])
        parts, pieces = [""], _WORD.split(text)  # in turns: between words, a word
        for between, word in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
            parts[-1] += between
            if self._terms.get(word, frozenset()).isdisjoint(terms):
                parts[-1] += word
            else:
                parts += [word, ""]
        return parts
