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

_WORD = re.compile(r"[^\W_]+")
_MOST = 200_000
"""Words whose terms are kept."""


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
        self._read(words)
        return frozenset().union(*(self._terms[word] for word in words))

    def marked(self, text: str, terms: Collection[str]) -> list[str]:
        """Return the parts of a text: plain, marked, plain, …, marked, plain."""
        self._read({*_WORD.findall(text)})
        parts, end = [""], 0
        for match in _WORD.finditer(text):
            if not self._terms[match[0]].isdisjoint(terms):
                parts[-1] += text[end : match.start()]
                parts += [match[0], ""]
                end = match.end()
        parts[-1] += text[end:]
        return parts

    def _read(self, words: Collection[str]) -> None:
        if len(self._terms) > _MOST:
            self._terms.clear()
        if new := [word for word in words if word not in self._terms]:
            for word, terms in zip(new, self._analyze(new), strict=True):
                self._terms[word] = frozenset(terms)
