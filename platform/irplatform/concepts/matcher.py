"""Finds the names of concepts in a text, the longest first; they do not overlap.

A name matches in any case, number and hyphenation (`spelling`), under its conditions (`ambiguity`):
the capitals of its source, support, or both. Support is another name of the same concept in the
text, or an abbreviation that the text defines.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from irplatform.concepts.ambiguity import (
    ORDINARY_WORDS,
    Condition,
    bare,
    ends_in_a_letter,
    is_acronym_of_nothing,
    is_count,
    is_initial_and_word,
    lacks_hyphen,
)
from irplatform.concepts.spelling import Speller, hash_of
from irplatform.concepts.table import KINDS, Mention
from irplatform.knowledge.model import keys as lookup_keys
from irplatform.text.tokenizer import Capitals

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from irplatform.concepts.ambiguity import Definitions
    from irplatform.concepts.spelling import Words
    from irplatform.concepts.table import Candidate, ConceptTable
    from irplatform.knowledge import ConceptKind


NOTHING = -1
_GENE = KINDS.index("gene")
_REMEMBERED = 1 << 16
_PROTO_ONCOGENE = {"c-", "v-"}
"""Prefixes of a gene's symbol: c-met."""
_OUTER = {"variant", "other"}
_INNER = {"disease", "drug", "gene"}
_UNKNOWN = 1 << 40
"""A thing outside the knowledge bases; nothing else is found in its place."""
# Operations on flags themselves are ten times as slow.
_CAPITALS, _SUPPORT, _WHOLE, _ALONE = (
    int(flag) for flag in (Condition.CAPITALS, Condition.SUPPORT, Condition.WHOLE, Condition.ALONE)
)


class Place(NamedTuple):
    """A name in a text, with its surroundings.

    Attributes:
        ends: where in the normalized name a word must end (`Speller.key`); None for a single word
            that is looked up unchanged, not in the singular.
        loud: everything around it is in capitals.
        proto: "c-" or "v-" precedes it.
        strict: ambiguous names need support.
        glued: a hyphen joins it to a code: the F10 of B16-F10.
    """

    surface: str
    ends: frozenset[int] | None
    loud: bool
    proto: bool
    strict: bool
    glued: bool = False


class Meaning(NamedTuple):
    """The concepts that a name means: one or `NOTHING`, and those that the text must support."""

    certain: int
    supported: tuple[int, ...]

    def in_doubt(self) -> Meaning:
        """The same meaning, but only if the text supports it."""
        if self.certain == NOTHING:
            return self
        return Meaning(NOTHING, tuple(dict.fromkeys((self.certain, *self.supported))))


def _possible(
    candidate: Candidate, place: Place, condition: int, *, same: bool, gene: bool
) -> bool:
    if place.ends is None:
        if len(candidate.ends) > 1:
            return False  # "proteins" is not "protein S"
    elif not place.ends <= candidate.ends:
        return False
    if (
        condition & _WHOLE
        or (condition & _CAPITALS and not same)
        or (condition & _ALONE and place.glued)
        or ends_in_a_letter(place.surface, candidate.name)
    ):
        return False
    if gene:
        return same or not (
            lacks_hyphen(place.surface, candidate.name) or is_count(place.surface, candidate.name)
        )
    return place.loud or not is_acronym_of_nothing(place.surface, candidate.name)


class _NameMatch(NamedTuple):
    words: int
    first: int
    key: str
    free: int
    """The concept, or `NOTHING` where none is certain."""
    supported: tuple[int, ...]
    """Concepts that it means where the text supports them."""


class NameMatcher:
    """Finds names of the concepts of some kinds."""

    def __init__(self, table: ConceptTable, kinds: Collection[ConceptKind] = KINDS) -> None:
        self.table = table
        self._kinds = frozenset(KINDS.index(kind) for kind in kinds)
        self._meaning = lru_cache(maxsize=_REMEMBERED)(self._find)
        self._speller = Speller()

    def mentions(
        self,
        text: str,
        definitions: Definitions | None = None,
        *,
        within: Collection[tuple[int, int]] | None = None,
        strict: bool = True,
    ) -> list[Mention]:
        """Find the concepts that a text mentions.

        Args:
            text: lines (a title, an abstract); no name spans two lines.
            definitions: of its abbreviations.
            within: if given, only names inside these stretches of the text are found.
            strict: ambiguous names need support; topics are too short to give any.

        Returns:
            Mentions in the order of the text. They do not overlap, except for genes, diseases and
            drugs within a variant or a concept of no kind: the gene in "BRAF V600E".
        """
        words = self._speller.words(text)
        defined = list(_defined(text, words, definitions or {}))
        places = {match[:2] for match in defined}
        matches = [*defined, *self._matches(words, Capitals(text), places, strict)]
        if within is not None:
            matches = [match for match in matches if _inside(words, match, within)]
        occupancy = bytearray(len(words.spans))
        matches.sort(key=_longest_first)
        certain = [match for match in matches if match.free != NOTHING]
        choices = [(match, match.free) for match in certain if _take(occupancy, match)]
        support = {(concept, match.key) for match, concept in choices}
        for name in (match for match in matches if match.free == NOTHING):
            concept = _supported(name, support)
            if concept is not None and _take(occupancy, name):
                choices.append((name, concept))
        choices += self._within_others(certain, choices)
        mentions = []
        for match, concept in choices:
            if concept == _UNKNOWN:
                continue
            start = words.spans[match.first][0]
            end = words.spans[match.first + match.words - 1][1]
            mentions.append(Mention(start, end, text[start:end], concept))
        return sorted(mentions, key=lambda mention: (mention.start, -mention.end))

    def _within_others(
        self, certain: list[_NameMatch], choices: list[tuple[_NameMatch, int]]
    ) -> list[tuple[_NameMatch, int]]:
        """Genes, diseases and drugs named within a variant, or within a concept of no kind."""
        inner_matches = []
        outer = [e for e, c in choices if e.words > 1 and c != _UNKNOWN and self._kind(c) in _OUTER]
        for match in outer:
            occupancy = bytearray(match.first + match.words)
            occupancy[: match.first] = b"\x01" * match.first
            for inner in certain:
                end = inner.first + inner.words
                inside = match.first <= inner.first and end <= len(occupancy)
                if (
                    inside
                    and inner.words < match.words
                    and inner.free != _UNKNOWN
                    and self._kind(inner.free) in _INNER
                    and _take(occupancy, inner)
                ):
                    inner_matches.append((inner, inner.free))
        return inner_matches

    def _kind(self, concept: int) -> ConceptKind:
        return KINDS[int(self.table.kinds[concept])]

    def _matches(
        self, words: Words, capitals: Capitals, defined: set[tuple[int, int]], strict: bool
    ) -> Iterator[_NameMatch]:
        for number, (length, hashes, valid) in enumerate(self._speller.runs(words)):
            for first in self.table.may_be_names(hashes).tolist():
                if not valid[first] or (length, first) in defined:
                    continue
                last = first + length - 1
                if words.follows_non(first) or words.cuts_a_number(first, last):
                    continue
                start = words.spans[first][0]
                loud = capitals.uninformative(start)
                ends: frozenset[int] | None
                if number == 1:
                    key, ends = self._speller.literal[words.numbers[first]], None
                else:
                    key, ends = self._speller.key(words, first, length)
                place = Place(
                    surface=words.surface(first, last),
                    ends=ends,
                    loud=loud,
                    proto=words.text[max(0, start - 2) : start] in _PROTO_ONCOGENE,
                    strict=strict,
                    glued=words.glued(first, last),
                )
                meaning = self._meaning(int(hashes[first]), key, place)
                if meaning is None:
                    continue
                date = length == 2 and words.is_a_date(first, loud=loud)
                label = length == 1 and key in ORDINARY_WORDS and words.is_a_label(first)
                if strict and (date or label):
                    meaning = meaning.in_doubt()
                yield _NameMatch(length, first, key, *meaning)

    def _candidates(self, value: int, key: str) -> list[Candidate]:
        kinds = self.table.kinds
        candidates = self.table.candidates(value, key)
        return [
            candidate for candidate in candidates if int(kinds[candidate.concept]) in self._kinds
        ]

    def _find(self, value: int, key: str, place: Place) -> Meaning | None:
        letters = bare(place.surface)
        free: list[tuple[int, bool, bool, bool, int]] = []
        supported: list[tuple[int, bool, bool, bool, int]] = []
        for candidate in self._candidates(value, key):
            concept, rank, condition, name, _ = candidate
            same = bare(name) == letters
            gene = self.table.kinds[concept] == _GENE
            if gene and not rank and place.proto:
                condition, same = 0, True
            same = same or (gene and not rank and is_initial_and_word(place.surface))
            if not _possible(candidate, place, condition, same=same, gene=gene):
                continue
            order = (rank, not gene, name != place.surface, not same, concept)
            unsure = condition & _CAPITALS and place.loud and letters.isalpha() and place.strict
            if unsure or (condition & _SUPPORT and place.strict):
                supported.append(order)
            else:
                free.append(order)
        if not free and not supported:
            return None
        best = min(free)[-1] if free else NOTHING
        return Meaning(best, tuple(dict.fromkeys(order[-1] for order in sorted(supported))))

    def concept_of(self, text: str) -> int | None:
        """The concept with this name or heading, comma inversion included, or None."""
        for key in lookup_keys(text):
            candidates = [
                (candidate.rank, candidate.name != text, candidate.concept)
                for candidate in self._candidates(hash_of(key), key)
            ]
            if candidates:
                return min(candidates)[-1]
        return None


def _defined(text: str, words: Words, definitions: Definitions) -> Iterator[_NameMatch]:
    if not definitions:
        return
    starts = {start: number for number, (start, _) in enumerate(words.spans)}
    ends = {end: number for number, (_, end) in enumerate(words.spans)}
    for short, concept in definitions.items():
        pattern = rf"(?<![^\W_]){re.escape(short)}s?(?![^\W_])"
        for match in re.finditer(pattern, text):
            first, last = starts.get(match.start()), ends.get(match.end())
            if first is not None and last is not None:
                free = _UNKNOWN if concept is None else concept
                yield _NameMatch(last - first + 1, first, f"({short})", free, ())


def _longest_first(match: _NameMatch) -> tuple[int, int, int, int]:
    return -match.words, -len(match.key), match.first, match.free


def _take(occupancy: bytearray, match: _NameMatch) -> bool:
    """Mark a name's words as taken, unless one of them is."""
    place = slice(match.first, match.first + match.words)
    if any(occupancy[place]):
        return False
    occupancy[place] = b"\x01" * match.words
    return True


def _supported(match: _NameMatch, support: set[tuple[int, str]]) -> int | None:
    """The first of the possible meanings that the text supports."""
    # A longer name decides what a shorter one means, as does the text's definition: (PR).
    longer = {concept for concept, key in support if len(key) > len(match.key)}
    return next((concept for concept in match.supported if concept in longer), None)


def _inside(words: Words, match: _NameMatch, stretches: Collection[tuple[int, int]]) -> bool:
    start = words.spans[match.first][0]
    end = words.spans[match.first + match.words - 1][1]
    return any(first <= start and end <= last for first, last in stretches)
