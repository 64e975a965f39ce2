"""Words of a text in the spelling of the knowledge bases' normalized names, with rolling hashes.

A normalized name is its words in the singular, without gaps (`irplatform.knowledge.model`): "HER-2"
and "HER2" are one. The hash of a run of words follows from those of the words (a polynomial modulo
2^64), so a few array operations give all runs of a text. Names with equal hashes are compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.knowledge.model import literal_key, stored_key, uninverted
from irplatform.text.tokenizer import STOP_WORDS

if TYPE_CHECKING:
    from irplatform.text.arrays import Int64

UInt64 = npt.NDArray[np.uint64]

LONGEST_RUN = 10
"""Words of the longest name to look for."""

_BASE = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_SPACE = np.uint64(ord(" "))
_WORD = re.compile(r"[^\W_]+")
_HYPHENS = "-‐‑‒–−"
_POSSESSIVE = re.compile(r"(?<=\w)['’]s(?!\w)")
_WITHIN_NAME = frozenset(" \u00a0-‐‑‒–−/'’.,_")
"""Single characters between two words of a name; no comma or full stop before a space."""
_DATE = re.compile(
    r"(?:Jan|Feb|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)\s(?:[1-9]|[12]\d|3[01])",
    re.IGNORECASE,
)
_COMPOUND = re.compile(f"[{_HYPHENS}][^\\W\\d_]")
_AND_4 = re.compile(r"\s?/\s?4\b")
_OF_YEAR = re.compile(r",?\s(?:19|20)\d\d\b")
_REMEMBERED = 1 << 19
"""Distinct words to keep in memory."""


def hash_of(key: str) -> int:
    """The hash of a normalized name."""
    value = 0
    for character in key:
        value = (value * _BASE + ord(character)) & _MASK
    return value


@dataclass(frozen=True)
class Words:
    """The words of a text.

    Each has its start and end in `spans`, its number in the `Speller` in `numbers`, and True in
    `joined` if a name may continue from the word before it.
    """

    text: str
    spans: list[tuple[int, int]]
    numbers: Int64
    joined: npt.NDArray[np.bool_]

    def follows_non(self, place: int) -> bool:
        """True if a prefix negates a word: the small of non-small."""
        if not place or self.text[self.spans[place][0] - 1] not in _HYPHENS:
            return False
        start, end = self.spans[place - 1]
        return self.text[start:end].lower() == "non"

    def cuts_a_number(self, first: int, last: int) -> bool:
        """True if some words end within a number: the "OAS 2" of "OAS 2.4 months"."""
        start, end = self.spans[last]
        goes_on = last + 1 < len(self.spans) and self.spans[last + 1][0] == end + 1
        return (
            first < last
            and goes_on
            and self.text[end] in ".,·"
            and self.text[start:end].isdigit()
            and self.text[end + 1].isdigit()
            and self.text[start - 1].isspace()
        )

    def is_a_date(self, first: int, *, loud: bool) -> bool:
        """True if a word and the next are a month and a day (March 1), and so perhaps no gene.

        In capitals (MARCH 1) they are a gene, unless a year follows or the surroundings are in
        capitals (`loud`). So are words that a hyphen joins (anti-Oct 4), and Oct 3/4.
        """
        (start, _), (_, end) = self.spans[first : first + 2]
        surface = self.text[start:end]
        if not _DATE.fullmatch(surface):
            return False
        if _OF_YEAR.match(self.text, end):
            return True
        hyphens = self.text[start - 1 : start] in _HYPHENS if start else False
        joined = hyphens or _COMPOUND.match(self.text, end) is not None
        oct_3_4 = surface.upper() == "OCT 3" and _AND_4.match(self.text, end)
        return not (joined or oct_3_4) and (loud or not surface.isupper())

    def is_a_label(self, place: int) -> bool:
        """True if a word labels a section: it begins a sentence, in capitals, before a colon.

        In the first line, a title, a symbol may be written so: BRAF: a review.
        """
        start, end = self.spans[place]
        before = self.text[:start].rstrip(" ")
        return (
            self.text[end : end + 1] == ":"
            and self.text[start:end].isupper()
            and not self.text[end + 1 : end + 2].strip()
            and "\n" in before
            and before[-1] in "\n.!?;"
        )

    def glued(self, first: int, last: int) -> bool:
        """True if a hyphen joins some words to a code in capitals or digits: the F10 of B16-F10."""
        start, end = self.spans[first][0], self.spans[last][1]
        before = first > 0 and self.spans[first - 1][1] == start - 1
        after = last + 1 < len(self.spans) and self.spans[last + 1][0] == end + 1
        return (before and self.text[start - 1] in _HYPHENS and self._is_code(first - 1)) or (
            after and self.text[end] in _HYPHENS and self._is_code(last + 1)
        )

    def _is_code(self, place: int) -> bool:
        start, end = self.spans[place]
        word = self.text[start:end]
        return word.isupper() or any(map(str.isdigit, word))

    def surface(self, first: int, last: int) -> str:
        """The text from one word to another, both included."""
        return self.text[self.spans[first][0] : self.spans[last][1]]


class Speller:
    """Spells words like normalized names; each distinct word is spelled once."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._numbers: dict[str, int] = {}
        self.singular: list[str] = []
        self.literal: list[str] = []
        self._facts = np.zeros((1 << 12, 5), dtype=np.uint64)

    def words(self, text: str) -> Words:
        """Cut a text into words."""
        if len(self._numbers) > _REMEMBERED:
            self._forget()
        spans: list[tuple[int, int]] = []
        numbers: list[int] = []
        joined: list[bool] = []
        end = 0
        for match in _WORD.finditer(text):
            gap, start = text[end : match.start()], match.start()
            if match[0] == "s" and gap in {"'", "’"} and spans:  # a possessive
                end = match.end()
                spans[-1] = (spans[-1][0], end)
                continue
            joined.append(bool(spans) and gap in _WITHIN_NAME)
            spans.append((start, match.end()))
            end = match.end()
            number = self._numbers.get(match[0])
            numbers.append(self._add(match[0]) if number is None else number)
        return Words(text, spans, np.array(numbers, np.int64), np.array(joined, np.bool_))

    def runs(self, words: Words) -> list[tuple[int, UInt64, npt.NDArray[np.bool_]]]:
        """Hashes of all runs of words that may be names.

        Returns:
            Per length (1 …): the length, the hash of the run from every word on, and whether that
            run may be a name. Runs of one word come twice, in the singular and unchanged.
        """
        facts = self._facts[words.numbers]
        hashes, powers, starts_digit, ends_digit, literal = facts.T
        usable = powers != 1
        runs = [(1, hashes, usable), (1, literal, usable & (literal != hashes))]
        run, valid = hashes, usable
        for length in range(2, min(LONGEST_RUN, len(words.spans)) + 1):
            last = slice(length - 1, None)
            between = (ends_digit[length - 2 : -1] & starts_digit[last]).astype(bool)
            prefix = run[:-1]
            prefix = np.where(between, prefix * np.uint64(_BASE) + _SPACE, prefix)
            run = prefix * powers[last] + hashes[last]
            valid = valid[:-1] & usable[last] & words.joined[last]
            if not valid.any():
                break
            runs.append((length, run, valid))
        return runs

    def key(self, words: Words, first: int, length: int) -> tuple[str, frozenset[int]]:
        """The normalized name that a run of words would be.

        Returns:
            The name, and where in it a word must end: at spaces between two letters, and beside
            function words ("in patients" is not "inpatients", "and 1" not the gene AND1).
        """
        key = ""
        ends = set()
        before = ""
        for place in range(first, first + length):
            part = self.singular[words.numbers[place]]
            if before:
                spaced = words.text[words.spans[place][0] - 1].isspace()
                letters = before[-1].isalpha() and part[0].isalpha()
                if spaced and (letters or before in STOP_WORDS or part in STOP_WORDS):
                    ends.add(len(key))
                key += _gap(key, part)
            key += part
            before = part
        return key, frozenset(ends)

    def _add(self, word: str) -> int:
        number = self._numbers[word] = len(self._numbers)
        singular, literal = stored_key(word.lower()), literal_key(word)
        self.singular.append(singular)
        self.literal.append(literal)
        if number == len(self._facts):
            self._facts = np.concatenate([self._facts, np.zeros_like(self._facts)])
        self._facts[number] = (
            hash_of(singular),
            pow(_BASE, len(singular), 1 << 64),
            singular[:1].isdigit(),
            singular[-1:].isdigit(),
            hash_of(literal),
        )
        return number


def word_ends(name: str, key: str) -> frozenset[int]:
    """The places in a name's normalized form where words begin; empty if `key` is another form."""
    for variant in (name, uninverted(name)):
        joined = ""
        ends = []
        for word in _WORD.findall(_POSSESSIVE.sub("", variant)):
            part = stored_key(word.lower())
            ends.append(len(joined))
            joined += _gap(joined, part) + part
        if joined == key:
            return frozenset(ends)
    return frozenset()


def _gap(before: str, after: str) -> str:
    """The gap between two words of a normalized name: a space between digits."""
    return " " if before[-1:].isdigit() and after[:1].isdigit() else ""
