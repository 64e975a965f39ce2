"""Finds the names of concepts in a text: the longest first, none across another.

A name matches in any case, number and hyphenation (`spelling`), under the conditions that it has
(`ambiguity`): the capitals of its source, or support, which is another name of the same concept
elsewhere in the text, or an abbreviation that the text defines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from irplatform.concepts.ambiguity import Condition, is_acronym_of_nothing
from irplatform.concepts.spelling import Speller, hash_of
from irplatform.concepts.table import KINDS, Mention
from irplatform.knowledge.names import keys as lookup_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from irplatform.concepts.spelling import Words
    from irplatform.concepts.table import Candidate, ConceptTable
    from irplatform.knowledge import ConceptKind

_NOWHERE: frozenset[int] = frozenset()
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_PROTO_ONCOGENE = {"c-", "v-"}
"""What stands before a gene's symbol: c-met."""
_OUTER = {"variant", "other"}
_INNER = {"disease", "drug", "gene"}
_SHOUTED = 0.7
"""Share of capitals among a line's letters from which on they say nothing."""


class _Found(NamedTuple):
    """A name in a text: some words, and what they may mean."""

    words: int
    first: int
    key: str
    free: int
    """The concept, or -1 where none is certain."""
    supported: tuple[int, ...]
    """Concepts that it means where the text supports them."""


@dataclass(frozen=True)
class Definitions:
    """What the abbreviations of a text stand for there.

    Attributes:
        concepts: short form to concept; None where it stands for something unknown.
    """

    concepts: Mapping[str, int | None]


NO_DEFINITIONS = Definitions({})


class NameMatcher:
    """Finds names of concepts.

    Args:
        table: the concepts.
        kinds: only these are found.
    """

    def __init__(self, table: ConceptTable, kinds: Collection[ConceptKind] = KINDS) -> None:
        self.table = table
        self._kinds = frozenset(KINDS.index(kind) for kind in kinds)
        self._speller = Speller()

    def mentions(
        self,
        text: str,
        definitions: Definitions = NO_DEFINITIONS,
        *,
        within: Collection[tuple[int, int]] | None = None,
        strict: bool = True,
    ) -> list[Mention]:
        """Find the concepts that a text speaks of.

        Args:
            text: lines (a title, an abstract); no name goes across their ends.
            definitions: of its abbreviations.
            within: only names inside of these stretches, where they are given.
            strict: whether ambiguous names need support; a topic is too short to give any.

        Returns:
            Mentions in the order of the text. They do not overlap, but for genes, diseases and
            drugs within a variant or a thing of no kind: the gene in "BRAF V600E".
        """
        words = self._speller.words(text)
        defined = list(_defined(text, words, definitions))
        found = [*defined, *self._found(words, _Capitals(text), {f[:2] for f in defined}, strict)]
        if within is not None:
            found = [each for each in found if _inside(words, each, within)]
        taken = bytearray(len(words.spans))
        chosen: list[tuple[_Found, int]] = []
        certain = sorted((f for f in found if f.free >= 0), key=_longest_first)
        chosen += [(each, each.free) for each in certain if _take(taken, each)]
        support = {(concept, each.key) for each, concept in chosen}
        for each in sorted((f for f in found if f.free < 0), key=_longest_first):
            concept = _supported(each, support)
            if concept is not None and _take(taken, each):
                chosen.append((each, concept))
        chosen += self._within_others(certain, chosen)
        mentions = []
        for each, concept in chosen:
            if concept == _UNKNOWN:
                continue
            start = words.spans[each.first][0]
            end = words.spans[each.first + each.words - 1][1]
            mentions.append(Mention(start, end, text[start:end], concept))
        return sorted(mentions, key=lambda mention: (mention.start, -mention.end))

    def _within_others(
        self, certain: list[_Found], chosen: list[tuple[_Found, int]]
    ) -> list[tuple[_Found, int]]:
        """Genes, diseases and drugs named within a variant, or within a thing of no kind."""
        found = []
        outer = [e for e, c in chosen if e.words > 1 and c != _UNKNOWN and self._kind(c) in _OUTER]
        for each in outer:
            taken = bytearray(each.first + each.words)
            taken[: each.first] = b"\x01" * each.first
            for inner in certain:
                end = inner.first + inner.words
                inside = each.first <= inner.first and end <= len(taken)
                if (
                    inside
                    and inner.words < each.words
                    and inner.free != _UNKNOWN
                    and self._kind(inner.free) in _INNER
                    and _take(taken, inner)
                ):
                    found.append((inner, inner.free))
        return found

    def _kind(self, concept: int) -> ConceptKind:
        return KINDS[int(self.table.kinds[concept])]

    def _found(
        self, words: Words, capitals: _Capitals, defined: set[tuple[int, int]], strict: bool
    ) -> Iterator[_Found]:
        for number, (length, hashes, valid) in enumerate(self._speller.runs(words)):
            literal = number == 1
            for first in self.table.may_be_names(hashes).tolist():
                if not valid[first] or (length, first) in defined:
                    continue
                if literal:
                    key, ends = self._speller.literal[words.numbers[first]], _NOWHERE
                else:
                    key, ends = self._speller.key(words, first, length)
                if words.follows_non(first):
                    continue
                candidates = self.table.candidates(int(hashes[first]), key)
                if literal:  # "proteins" is not "protein S"
                    candidates = tuple(each for each in candidates if len(each.ends) <= 1)
                elif ends:
                    candidates = tuple(each for each in candidates if ends <= each.ends)
                if candidates:
                    surface = words.surface(first, first + length - 1)
                    start = words.spans[first][0]
                    loud = capitals.say_nothing(start)
                    proto = words.text[max(0, start - 2) : start] in _PROTO_ONCOGENE
                    meant = self._meant(candidates, surface, loud=loud, proto=proto, strict=strict)
                    if meant is not None:
                        yield _Found(length, first, key, *meant)

    def _meant(
        self,
        candidates: tuple[Candidate, ...],
        surface: str,
        *,
        loud: bool,
        proto: bool,
        strict: bool,
    ) -> tuple[int, tuple[int, ...]] | None:
        """What a name means, by itself: a concept or -1, and what it may mean with support."""
        bare = _NOT_ALPHANUMERIC.sub("", surface)
        free: list[tuple[int, bool, bool, bool, int]] = []
        supported: list[tuple[int, bool, bool, bool, int]] = []
        for concept, rank, condition, name, _ in candidates:
            if int(self.table.kinds[concept]) not in self._kinds:
                continue
            same = _NOT_ALPHANUMERIC.sub("", name) == bare
            gene = self._kind(concept) == "gene"
            if proto and gene and not rank:
                condition, same = Condition.NONE, True  # noqa: PLW2901 - c-met is the gene MET
            if condition & Condition.WHOLE or (condition & Condition.CAPITALS and not same):
                continue
            if gene and not same and _lacks_hyphen(surface, name):
                continue
            if not loud and not gene and is_acronym_of_nothing(surface, name):
                continue
            order = (rank, not gene, name != surface, not same, concept)
            needs = condition & Condition.SUPPORT and strict
            if needs or (condition & Condition.CAPITALS and loud and bare.isalpha()):
                supported.append(order)
            else:
                free.append(order)
        if not free and not supported:
            return None
        best = min(free)[-1] if free else -1
        return best, tuple(dict.fromkeys(order[-1] for order in sorted(supported)))

    def named(self, text: str) -> int | None:
        """The concept whose name a text is, as a whole: a heading, say, comma inversion and all."""
        for key in lookup_keys(text):
            found = [
                (each.rank, each.name != text, each.concept)
                for each in self.table.candidates(hash_of(key), key)
                if int(self.table.kinds[each.concept]) in self._kinds
            ]
            if found:
                return min(found)[-1]
        return None


_UNKNOWN = 1 << 40
"""Stands for something that no knowledge base has; it keeps its place from being anything else."""


def _defined(text: str, words: Words, definitions: Definitions) -> Iterator[_Found]:
    """Where a text's abbreviations stand."""
    if not definitions.concepts:
        return
    starts = {start: number for number, (start, _) in enumerate(words.spans)}
    ends = {end: number for number, (_, end) in enumerate(words.spans)}
    for short, concept in definitions.concepts.items():
        pattern = rf"(?<![^\W_]){re.escape(short)}s?(?![^\W_])"
        for match in re.finditer(pattern, text):
            first, last = starts.get(match.start()), ends.get(match.end())
            if first is not None and last is not None:
                free = _UNKNOWN if concept is None else concept
                yield _Found(last - first + 1, first, f"({short})", free, ())


def _longest_first(found: _Found) -> tuple[int, int, int, int]:
    return -found.words, -len(found.key), found.first, found.free


def _take(taken: bytearray, found: _Found) -> bool:
    """Mark a name's words as taken, unless one of them is."""
    place = slice(found.first, found.first + found.words)
    if any(taken[place]):
        return False
    taken[place] = b"\x01" * found.words
    return True


def _supported(found: _Found, support: set[tuple[int, str]]) -> int | None:
    """The first of the possible meanings that the text has under another name."""
    for concept in found.supported:
        if any(one == concept and _tells(key, found.key) for one, key in support):
            return concept
    return None


def _tells(key: str, short: str) -> bool:
    """Whether one name says what another, shorter one means; or the text itself does: (PR)."""
    return len(key) > len(short)


def _lacks_hyphen(surface: str, name: str) -> bool:
    """Whether a word lacks the hyphen of a name: talk, and the alias T-ALK."""
    return surface.isalpha() and not name.isalpha()


def _inside(words: Words, found: _Found, stretches: Collection[tuple[int, int]]) -> bool:
    start = words.spans[found.first][0]
    end = words.spans[found.first + found.words - 1][1]
    return any(first <= start and end <= last for first, last in stretches)


class _Capitals:
    """Whether a line of a text is written in capitals throughout, so that they say nothing."""

    def __init__(self, text: str) -> None:
        self._loud: list[tuple[int, bool]] = []
        end = 0
        for line in text.split("\n"):
            end += len(line) + 1
            capitals = sum(map(str.isupper, line))
            letters = capitals + sum(map(str.islower, line))
            self._loud.append((end, len(line.split()) > 3 and capitals > _SHOUTED * letters))

    def say_nothing(self, place: int) -> bool:
        return next(loud for end, loud in self._loud if place < end)
