"""What a name means where it stands: the concepts that have it, and their conditions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from irplatform.concepts.ambiguity import Condition, is_acronym_of_nothing
from irplatform.concepts.surface import (
    bare,
    ends_in_a_letter,
    is_count,
    is_initial_and_word,
    lacks_hyphen,
)
from irplatform.concepts.table import KINDS

if TYPE_CHECKING:
    from collections.abc import Collection

    from irplatform.concepts.table import Candidate, ConceptTable
    from irplatform.knowledge import ConceptKind

NOTHING = -1
_REMEMBERED = 1 << 16
# Operations on flags themselves are ten times as slow.
_CAPITALS, _SUPPORT, _WHOLE, _ALONE = (
    int(each) for each in (Condition.CAPITALS, Condition.SUPPORT, Condition.WHOLE, Condition.ALONE)
)


class Place(NamedTuple):
    """How a name stands in a text.

    Attributes:
        surface: the text itself.
        ends: where in the normalized name a word must end (`Speller.key`); None for a single word
            that is looked up as it is, not in the singular.
        loud: whether all is written in capitals there.
        proto: whether "c-" or "v-" stands before it.
        strict: whether ambiguous names need support.
        glued: whether a hyphen joins it to a code: the F10 of B16-F10.
    """

    surface: str
    ends: frozenset[int] | None
    loud: bool
    proto: bool
    strict: bool
    glued: bool = False


class Meaning(NamedTuple):
    """What a name means.

    Attributes:
        certain: a concept, or `NOTHING`.
        supported: concepts that it means where the text supports them, the most likely first.
    """

    certain: int
    supported: tuple[int, ...]

    def in_doubt(self) -> Meaning:
        """The same where only other names in the text make certain."""
        if self.certain == NOTHING:
            return self
        return Meaning(NOTHING, tuple(dict.fromkeys((self.certain, *self.supported))))


class Meanings:
    """Looks up names of the concepts of some kinds."""

    def __init__(self, table: ConceptTable, kinds: Collection[ConceptKind]) -> None:
        self.table = table
        self._kinds = frozenset(KINDS.index(kind) for kind in kinds)
        self._gene = KINDS.index("gene")
        self.of = lru_cache(maxsize=_REMEMBERED)(self._find)

    def candidates(self, value: int, key: str) -> list[Candidate]:
        """The concepts that have a normalized name with this hash, whatever the conditions."""
        kinds = self.table.kinds
        candidates = self.table.candidates(value, key)
        return [each for each in candidates if int(kinds[each.concept]) in self._kinds]

    def _find(self, value: int, key: str, place: Place) -> Meaning | None:
        letters = bare(place.surface)
        free: list[tuple[int, bool, bool, bool, int]] = []
        supported: list[tuple[int, bool, bool, bool, int]] = []
        for each in self.candidates(value, key):
            concept, rank, condition, name, _ = each
            same = bare(name) == letters
            gene = self.table.kinds[concept] == self._gene
            if gene and not rank and place.proto:
                condition, same = 0, True
            same = same or (gene and not rank and is_initial_and_word(place.surface))
            if not _possible(each, place, condition, same=same, gene=gene):
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


def _possible(each: Candidate, place: Place, condition: int, *, same: bool, gene: bool) -> bool:
    if place.ends is None:
        if len(each.ends) > 1:
            return False  # "proteins" is not "protein S"
    elif not place.ends <= each.ends:
        return False
    if (
        condition & _WHOLE
        or (condition & _CAPITALS and not same)
        or (condition & _ALONE and place.glued)
        or ends_in_a_letter(place.surface, each.name)
    ):
        return False
    if gene:
        return same or not (
            lacks_hyphen(place.surface, each.name) or is_count(place.surface, each.name)
        )
    return place.loud or not is_acronym_of_nothing(place.surface, each.name)
