"""Lucene's English analysis of ASCII texts, and the look-up of terms, compiled by numba.

A text is cut into words by Unicode's rules (UAX #29), as `StandardTokenizer` cuts it. A possessive
's is taken away, capitals become small letters, Lucene's stop words are left out, and the rest is
stemmed as Lucene's `PorterStemmer` does it (Porter, Program 14(3), 1980, with the three changes of
his own program: "bli", "logi", and words of two letters, which stay).
"""
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.system.compilation import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

UNKNOWN, OTHER = -1, -2
"""Instead of a term's row: the index lacks it; a part of the text that Lucene has to analyze."""
_LONGEST = 255
"""Letters of a word; Lucene cuts longer ones."""
STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
_LETTER, _DIGIT, _UNDERLINE = 1, 2, 4
_BETWEEN = np.zeros(128, dtype=np.uint8)
"""Which kind may stand on both sides of a character within a word: letters, digits or both."""
_BETWEEN[[ord("."), ord("'")]] = _LETTER | _DIGIT
_BETWEEN[ord(":")] = _LETTER
_BETWEEN[[ord(","), ord(";")]] = _DIGIT
_KIND = np.zeros(128, dtype=np.uint8)
_KIND[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = _LETTER
_KIND[[*range(ord("0"), ord("9") + 1)]] = _DIGIT
_KIND[ord("_")] = _UNDERLINE
_SEED, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_PART = 8
"""Letters of the longest suffix, and one more."""


def _suffixes(rules: str) -> tuple[Any, Any]:
    """Suffixes and what replaces them: letters [rules, 2, 8], numbers of letters [rules, 2]."""
    parts = [rule.split(":") for rule in rules.split()]
    letters = np.zeros((len(parts), 2, _PART), dtype=np.uint8)
    sizes = np.zeros((len(parts), 2), dtype=np.int64)
    for number, sides in enumerate(parts):
        for side, part in enumerate(sides):
            letters[number, side, : len(part)] = [*part.encode()]
            sizes[number, side] = len(part)
    return letters, sizes


_DOUBLE, _DOUBLE_SIZES = _suffixes(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble logi:log"
)
_SINGLE, _SINGLE_SIZES = _suffixes("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_LAST, _LAST_SIZES = _suffixes(
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: "
    "ive: ize:"
)
_ION = 11
"""The place of "ion", which follows "s" or "t" only."""
_FIRST, _FIRST_SIZES = _suffixes("sses:ss ies:i eed:ee ed: ing: at:ate bl:ble iz:ize")
_SSES, _IES, _EED, _ED, _ING, _AT, _BL, _IZ = range(8)


def _packed(words: Sequence[str]) -> Any:
    """Words of up to eight letters as numbers, the first letter lowest."""
    return np.array([int.from_bytes(word.encode(), "little") for word in words], dtype=np.uint64)


_STOP_WORDS = _packed(STOP_WORDS.split())
_LONGEST_STOP_WORD = 5
_A, _E, _I, _L, _O, _S, _T, _U, _W, _X, _Y, _Z = (ord(letter) for letter in "aeilostuwxyz")


@compiled
def read(
    text: Any, ends: Any, terms: Any, term_ends: Any, order: Any, buckets: Any,
    topics: Any, rows: Any, others: Any,
) -> Any:  # fmt: skip
    """Find the terms of texts.

    Args:
        text: the UTF-8 of all texts, one after the other.
        ends: where each ends.
        terms: the UTF-8 of the index's terms.
        term_ends: where each ends.
        order: rows of terms by the buckets of their hashes.
        buckets: where each begins.
        topics: filled with the number of the text of each word.
        rows: filled with the term of each, `UNKNOWN`, or `OTHER`.
        others: filled with where each part that is `OTHER` begins and ends, [parts, 2].

    Returns:
        The numbers of words and of parts.
    """
    word = np.empty(_LONGEST + 1, dtype=np.uint8)
    count, parts, place = 0, 0, 0
    for topic in range(len(ends)):
        end = ends[topic]
        while place < end:
            if text[place] <= 32:
                place += 1
                continue
            begin = place
            odd = False
            while place < end and text[place] > 32:
                odd |= text[place] > 127
                place += 1
            if odd or place - begin > _LONGEST:
                topics[count], rows[count] = topic, OTHER
                others[parts, 0], others[parts, 1] = begin, place
                count += 1
                parts += 1
                continue
            start = begin
            while start < place:
                stop = _end_of_word(text, start, place)
                if stop < 0:
                    start += 1
                    continue
                size = _analyzed(text, start, stop, word)
                if size:
                    topics[count] = topic
                    rows[count] = _row(word, size, terms, term_ends, order, buckets)
                    count += 1
                start = stop
    return count, parts


@compiled
def _end_of_word(text: Any, begin: Any, end: Any) -> Any:
    """Where the word that begins at a place ends; -1 if none does."""
    kinds = 0
    place = begin
    while place < end:
        kind = _KIND[text[place]]
        if kind:
            kinds |= kind
        elif (
            place == begin
            or place + 1 == end
            or not _BETWEEN[text[place]] & _KIND[text[place - 1]] & _KIND[text[place + 1]]
        ):
            break
        place += 1
    return place if kinds & (_LETTER | _DIGIT) else -1


@compiled
def _analyzed(text: Any, begin: Any, end: Any, word: Any) -> Any:
    """Write the term of a word; return its number of letters, 0 for a stop word."""
    size = end - begin
    if size >= 2 and text[end - 1] | 32 == _S and text[end - 2] == 39:
        size -= 2
    packed = np.uint64(0)
    for place in range(size):
        letter = text[begin + place]
        if _KIND[letter] == _LETTER:
            letter |= np.uint8(32)
        word[place] = letter
        if place < _LONGEST_STOP_WORD:
            packed |= np.uint64(letter) << np.uint64(8 * place)
    if size <= _LONGEST_STOP_WORD:
        for stop_word in _STOP_WORDS:
            if packed == stop_word:
                return 0
    return _stemmed(word, size)


@compiled
def _row(word: Any, size: Any, terms: Any, term_ends: Any, order: Any, buckets: Any) -> Any:
    """The row of a term, or `UNKNOWN`."""
    if len(buckets) < 2:
        return UNKNOWN
    bucket = hashed(word, 0, size) & np.uint64(len(buckets) - 2)
    for place in range(buckets[bucket], buckets[bucket + np.uint64(1)]):
        row = order[place]
        begin = term_ends[row - 1] if row else 0
        if term_ends[row] - begin == size:
            same = 0
            while same < size and terms[begin + same] == word[same]:
                same += 1
            if same == size:
                return row
    return UNKNOWN


@compiled
def hashed(text: Any, begin: Any, end: Any) -> Any:
    """The hash of some bytes (FNV-1a, its upper half folded in)."""
    value = _SEED
    for place in range(begin, end):
        value = (value ^ np.uint64(text[place])) * _PRIME
    return value ^ (value >> np.uint64(32))


@compiled
def _stemmed(word: Any, size: Any) -> Any:
    """Stem a word in place; return its new number of letters."""
    if size <= 2:
        return size
    last = _without_plural_and_past(word, size - 1)
    if word[last] == _Y and _has_vowel(word, last - 1):
        word[last] = _I
    if last > 0:
        last = _replaced(word, last, _DOUBLE, _DOUBLE_SIZES)
    last = _replaced(word, last, _SINGLE, _SINGLE_SIZES)
    if last > 0:
        for rule in range(len(_LAST_SIZES)):
            if _ends(word, last, _LAST, _LAST_SIZES, rule):
                stem = last - _LAST_SIZES[rule, 0]
                if rule == _ION and (stem < 0 or (word[stem] != _S and word[stem] != _T)):
                    continue
                if _measure(word, stem) > 1:
                    last = stem
                break
    if word[last] == _E:
        measure = _measure(word, last)
        if measure > 1 or (measure == 1 and not _is_short(word, last - 1)):
            last -= 1
    if word[last] == _L and _is_double(word, last) and _measure(word, last) > 1:
        last -= 1
    return last + 1


@compiled
def _without_plural_and_past(word: Any, last: Any) -> Any:
    if word[last] == _S:
        plural = _ends(word, last, _FIRST, _FIRST_SIZES, _SSES)
        if plural or _ends(word, last, _FIRST, _FIRST_SIZES, _IES):
            last -= 2
        elif word[last - 1] != _S:
            last -= 1
    if _ends(word, last, _FIRST, _FIRST_SIZES, _EED):
        return last - 1 if _measure(word, last - 3) > 0 else last
    for rule in (_ED, _ING):
        if _ends(word, last, _FIRST, _FIRST_SIZES, rule):
            stem = last - _FIRST_SIZES[rule, 0]
            return _with_e(word, stem) if _has_vowel(word, stem) else last
    return last


@compiled
def _with_e(word: Any, last: Any) -> Any:
    """Mend a word that lost "ed" or "ing"."""
    for rule in (_AT, _BL, _IZ):
        if _ends(word, last, _FIRST, _FIRST_SIZES, rule):
            word[last + 1] = _E
            return last + 1
    if _is_double(word, last):
        return last if word[last] in (_L, _S, _Z) else last - 1
    if _measure(word, last) == 1 and _is_short(word, last):
        word[last + 1] = _E
        return last + 1
    return last


@compiled
def _replaced(word: Any, last: Any, letters: Any, sizes: Any) -> Any:
    """Replace the first suffix that fits, if a syllable comes before it."""
    for rule in range(len(sizes)):
        if _ends(word, last, letters, sizes, rule):
            stem = last - sizes[rule, 0]
            if _measure(word, stem) == 0:
                return last
            for place in range(sizes[rule, 1]):
                word[stem + 1 + place] = letters[rule, 1, place]
            return stem + sizes[rule, 1]
    return last


@compiled
def _ends(word: Any, last: Any, letters: Any, sizes: Any, rule: Any) -> Any:
    size = sizes[rule, 0]
    if size > last + 1 or word[last] != letters[rule, 0, size - 1]:
        return False
    for place in range(size):  # noqa: SIM110
        if word[last + 1 - size + place] != letters[rule, 0, place]:
            return False
    return True


@compiled
def _is_consonant(word: Any, place: Any) -> Any:
    letter = word[place]
    if letter in (_A, _E, _I, _O, _U):
        return False
    consonant = True
    while letter == _Y and place > 0:  # after a consonant it is a vowel
        place -= 1
        letter = word[place]
        if letter in (_A, _E, _I, _O, _U):
            return consonant
        consonant = not consonant
    return consonant


@compiled
def _measure(word: Any, last: Any) -> Any:
    """The number of times that consonants follow vowels."""
    count = 0
    after_vowel = False
    for place in range(last + 1):
        if _is_consonant(word, place):
            count += after_vowel
            after_vowel = False
        else:
            after_vowel = True
    return count


@compiled
def _has_vowel(word: Any, last: Any) -> Any:
    for place in range(last + 1):  # noqa: SIM110
        if not _is_consonant(word, place):
            return True
    return False


@compiled
def _is_double(word: Any, last: Any) -> Any:
    return last >= 1 and word[last] == word[last - 1] and _is_consonant(word, last)


@compiled
def _is_short(word: Any, last: Any) -> Any:
    """Consonant, vowel, consonant at the end, the last none of w, x and y."""
    return (
        last >= 2
        and _is_consonant(word, last)
        and not _is_consonant(word, last - 1)
        and _is_consonant(word, last - 2)
        and word[last] not in (_W, _X, _Y)
    )
