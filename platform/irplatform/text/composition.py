"""One way to write a word: composed letters, no ligatures, no letters of another width.

Unicode's NFC makes an "é" of one character, not of an "e" and an accent. Letters, digits and signs
that are others in another form are these others ("ﬁ" → "fi", full-width "ＢＲＡＦ", "Ⅲ" → "III",
"CO₂" → "CO2", the micro sign → "μ"), as in NFKC; and what cannot be seen within a word, such as a
soft hyphen, goes. Superscripts, fractions and circled numbers stay: Lucene parts words there, and
the mark of a footnote is no part of its word. Our tokenizer folds all this, too, and finds the same
words in a text as in its composed form.

Lucene takes each of these for another word, so that documents are indexed, and queries analyzed, in
this form.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache

COMPOSITION = 2
"""Version of what is composed: the first was NFC alone."""
_UNSEEN = re.compile("[\u00ad\u200b\u200c\u200d\ufeff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_KEPT = ("<super", "<fraction", "<circle", "<noBreak")
_OF_A_WIDTH = ("<wide", "<narrow", "<small")
_NARROW_SPACE = "\u202f"
"""Which Lucene takes for a part of a word, as in "10 mg"."""


def composed(text: str) -> str:
    """A text with each word in the one way to write it."""
    if text.isascii():
        return text
    if not _is_plain(text):
        text = _NOT_ASCII.sub(lambda match: _folded(match[0]), text)
    return unicodedata.normalize("NFC", text)


def is_folded(text: str) -> bool:
    """Whether composing changes more of a text than NFC does."""
    if text.isascii() or _is_plain(text):
        return False
    return composed(text) != unicodedata.normalize("NFC", text)


@cache
def folded_characters() -> str:
    """All characters that are folded, as ranges of a class in a regular expression."""
    ranges: list[list[int]] = []
    for code in range(128, sys.maxunicode + 1):
        if _folded_character(chr(code)) != chr(code):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _is_plain(text: str) -> bool:
    return unicodedata.is_normalized("NFKC", text) and not _UNSEEN.search(text)


@lru_cache(maxsize=1 << 12)
def _folded(run: str) -> str:
    return "".join(map(_folded_character, run))


def _folded_character(character: str) -> str:
    if _UNSEEN.match(character):
        return ""
    if character == _NARROW_SPACE:
        return " "
    form = unicodedata.decomposition(character).partition(">")[0]
    if not form.startswith("<") or form in _KEPT:
        return character
    plain = unicodedata.normalize("NFKC", character)
    words = all(c.isalnum() or unicodedata.combining(c) for c in plain)
    return plain if words or form in _OF_A_WIDTH else character
