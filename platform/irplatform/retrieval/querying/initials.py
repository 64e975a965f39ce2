"""Abbreviations of names of several words: what a name gives, and whether one fits a name."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
_SMALL_WORDS = frozenset({"and", "of", "the", "with", "in", "for"})


def initials(name: str) -> str:
    """The initials of a name of several words, without the small ones."""
    return "".join(word[0] for word in _words(name)).upper()


def fits(short: str, name: str) -> bool:
    """Whether an abbreviation in capitals is made of a name's letters, in order.

    It has the first letter of every word but the small ones, and may have others: head and neck
    cancer is HNC, and colorectal cancer CRC.
    """
    words = [word.upper() for word in _words(name)]
    if not 2 <= len(words) <= len(short):
        return False
    used = {0}  # how many letters the words so far may have given
    for word in words:
        used = {
            end
            for start in used
            for end in range(start + 1, len(short) + 1)
            if word[0] == short[start] and _in_order(short[start + 1 : end], word[1:])
        }
    return len(short) in used


def _words(name: str) -> list[str]:
    return [word for word in _WORD.findall(name) if word.lower() not in _SMALL_WORDS]


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)
