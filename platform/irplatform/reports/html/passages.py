"""The words of documents that a topic asks for, and the part of a text that has most of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from irplatform.text.tokenizer import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")
_SHORT = 4
"""Letters of a name that counts only as it is written: MET is a gene, and met a verb."""
_FEWEST = 2
_BEFORE = 30
"""Characters that a passage shows before its first match."""


@dataclass(frozen=True)
class Match:
    """A part of a text: from, to, and the word or name of the topic that it matches."""

    start: int
    end: int
    word: str
    is_name: bool


class TopicWords:
    """What a topic asks for: the words of its query, and names of its concepts.

    Words match in singular and plural and in the forms of verbs; names as whole phrases.

    >>> topic_words = TopicWords("lung cancers", ["NSCLC", "carcinoma of the lung"])
    >>> [match.word for match in topic_words.matches("Cancer (NSCLC), not of lungs")]
    ['cancer', 'nsclc', 'lung']
    """

    def __init__(self, query: str, names: Iterable[str] = ()) -> None:
        words = [word.lower() for word in _WORD.findall(query)]
        self._stems = {
            _stem(word) for word in words if word not in STOP_WORDS and len(word) >= _FEWEST
        }
        long: set[str] = set()
        short: set[str] = set()
        for name in names:
            if {_stem(w.lower()) for w in _WORD.findall(name)} <= self._stems:
                continue
            (short if len(name) <= _SHORT else long).add(name)
        self._names = [_pattern(long, re.IGNORECASE), _pattern(short, re.NOFLAG)]

    def matches(self, text: str) -> list[Match]:
        """Return the parts of a text that match, in their order, none within another."""
        candidates = [
            Match(m.start(), m.end(), m[0].lower(), True)
            for pattern in self._names
            if pattern
            for m in pattern.finditer(text)
        ]
        candidates += [
            Match(m.start(), m.end(), stem, False)
            for m in _WORD.finditer(text)
            if (stem := _stem(m[0].lower())) in self._stems
        ]
        candidates.sort(key=lambda match: (match.start, -match.end))
        matches: list[Match] = []
        for match in candidates:
            if not matches or match.start >= matches[-1].end:
                matches.append(match)
        return matches

    def passage(self, text: str, length: int = 200) -> str:
        """Return the part of a text, of at most so many characters, with most of what is asked for.

        Different words count more than the same word again. It begins and ends at words; "…" stands
        for what is left out.
        """
        text = " ".join(text.split())
        if len(text) <= length:
            return text
        matches = self.matches(text)
        room = length - 2
        best, start = 0.0, 0
        for first in matches:
            begin = max(0, first.start - _BEFORE)
            inside = [m for m in matches if begin <= m.start and m.end <= begin + room]
            value = len({m.word for m in inside}) + 0.1 * len(inside)
            if value > best:
                best, start = value, begin
        start = min(start, len(text) - room)
        end = start + room
        if start > 0:
            start = text.find(" ", start) + 1 or start
        if end < len(text):
            space = text.rfind(" ", start, end + 1)
            end = space if space > start else end
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _pattern(names: set[str], flags: re.RegexFlag) -> re.Pattern[str] | None:
    if not names:
        return None
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", flags)


@lru_cache(maxsize=1 << 16)
@lru_cache(100_000)
def _stem(word: str) -> str:
    """A word without the ending of a plural or of a verb."""
    if len(word) <= _SHORT or not word.isalpha():
        return word.removesuffix("s") if len(word) == _SHORT and word.isalpha() else word
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT - 1:
            return (word.removesuffix(ending) + instead).removesuffix("e")
    return word.removesuffix("e")
