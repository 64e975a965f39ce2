"""How names are written in an article: its capitals, and the abbreviations that it defines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from irplatform.text.tokenizer import fold

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_SHOUTED = 0.7
"""Share of capitals among a line's letters from which on they say nothing."""
_INITIAL = re.compile(r"[A-Za-z]-[A-Za-z][a-z]{2,}")
_LAST_LETTER = re.compile(r"[^\W\d_]{3}[ -][A-Za-z]")
_COUNTED = re.compile(r"(?:[a-z]+|Arm|Case|Day|Grade|Group|Part|Past|Per|Phase|Stage|Type)\s\d+")
_PER_UNIT = re.compile(r"(?:d|day|g|h|hr|kg|l|m|mg|min|ml|mol|s|week|wk)\W[1-3]", re.IGNORECASE)
_FEWEST_WORDS = 4
"""Of a line, to tell."""


Definitions = Mapping[str, int | None]
"""What the abbreviations of a text stand for there: a concept, or None for something unknown."""


class Capitals:
    """Whether a line of a text is written in capitals throughout, so that they say nothing."""

    def __init__(self, text: str) -> None:
        self._loud: list[tuple[int, bool]] = []
        end = 0
        for line in text.split("\n"):
            end += len(line) + 1
            capitals = sum(map(str.isupper, line))
            letters = capitals + sum(map(str.islower, line))
            self._loud.append(
                (end, len(line.split()) >= _FEWEST_WORDS and capitals > _SHOUTED * letters)
            )

    def say_nothing(self, place: int) -> bool:
        """Whether a character stands in such a line."""
        return next(loud for end, loud in self._loud if place < end)


@lru_cache(maxsize=1 << 15)
def bare(text: str) -> str:
    """Letters and digits with their capitals; Greek letters are spelled out."""
    if not text.isascii():
        text = "".join(letter if letter.isascii() else fold(letter) for letter in text)
    return _NOT_ALPHANUMERIC.sub("", text)


def lacks_hyphen(surface: str, name: str) -> bool:
    """Whether a word lacks the hyphen of a name: talk, and the alias T-ALK."""
    return surface.isalpha() and not name.isalpha()


def is_initial_and_word(surface: str) -> bool:
    """Whether a text is a letter, a hyphen and a word, as genes were written: K-ras, B-Raf."""
    return _INITIAL.fullmatch(surface) is not None


def ends_in_a_letter(surface: str, name: str) -> bool:
    """Whether a name of two words is one word by chance: Cyclin G, and cycling."""
    return surface.isalpha() and surface.islower() and _LAST_LETTER.search(name[-5:]) is not None


def is_count(surface: str, name: str) -> bool:
    """Whether a text counts something or gives a unit, where the name is one word.

    "past 3 decades", "Part 1" and "2 mg min-1" have the letters and digits of gene symbols.
    """
    if " " in name:
        return False
    return bool(_COUNTED.fullmatch(surface) or _PER_UNIT.fullmatch(surface))
