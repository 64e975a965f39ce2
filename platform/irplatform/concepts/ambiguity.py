"""Which names mean what they name wherever they stand, and which only under conditions.

Gene symbols and abbreviations are short, and many are words (MET, KIT, REST) or stand for several
things (ALL, MS, APC). Such a name must be written with the capitals that its source uses, the
article must also name the concept in another way, or both: neither makes up for the other. What an
article itself defines needs neither.
"""

from __future__ import annotations

import re
from enum import IntFlag
from typing import TYPE_CHECKING

from irplatform.concepts.gene_names import is_known_alias, is_mostly_something_else
from irplatform.concepts.ordinary import ORDINARY_WORDS
from irplatform.knowledge.names import literal_key, stored_key
from irplatform.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from irplatform.knowledge import ConceptKind, NameKind


class Condition(IntFlag):
    """When a name counts.

    `CAPITALS`: written as its source writes it, but for hyphens and spaces. `SUPPORT`: where the
    article names the concept in another way too. `WHOLE`: only as a whole query or heading.
    `ALONE`: where no hyphen joins it to a code, as the symbol F10 in B16-F10.
    """

    NONE = 0
    CAPITALS = 1
    SUPPORT = 2
    WHOLE = 4
    ALONE = 8


_SYMBOL = re.compile(r"(?=.*[A-Z0-9])[^\s,;()]{1,10}")
_AMBIGUOUS = {(True, True): 2, (True, False): 4, (False, True): 2, (False, False): 3}
"""Characters of the longest symbol that needs support: by whether it has letters alone, and whether
it is the gene's own."""
_SHORT_ALIAS = 5
"""Characters up to which an alias of a gene is likely to be something else's name too: PC-3."""
_GREEK = re.compile(r"(?:alpha|beta|gamma|delta|epsilon|kappa)\W?\d*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_TOO_NEAR = {"broad", "related"}


def condition(  # noqa: PLR0911 - a list of cases
    text: str, name_kind: NameKind, concept_kind: ConceptKind, symbol: str = ""
) -> Condition | None:
    """When a name counts, by itself; None where it never does. `symbol` is that of a gene."""
    key = literal_key(text)
    if name_kind in _TOO_NEAR or len(key) < 2 or not any(map(str.isalpha, key)):
        return None
    words = _WORD.findall(text.lower())
    odd = all(word in STOP_WORDS or not word.isalpha() for word in words)
    if len(words) > 1 and (odd or (words[0] in STOP_WORDS and len(words) == 2)):
        if text.islower() or len(key) < 4:
            return Condition.WHOLE
        return Condition.CAPITALS  # AND-1, AN inhibitor
    letters = "".join(words[:2])
    if len(words) > 2 and len(letters) == 2 and letters in STOP_WORDS:  # "at protein": A-T protein
        return Condition.WHOLE if text.islower() else Condition.CAPITALS
    if " " in text.strip():
        return Condition.NONE if len(key) > 4 else Condition.CAPITALS | Condition.SUPPORT
    if key in STOP_WORDS:
        return Condition.CAPITALS | Condition.SUPPORT if text.isupper() else Condition.WHOLE
    if concept_kind == "gene":
        return _of_gene(text, key, name_kind, symbol)
    if _SYMBOL.fullmatch(text) and text != text.capitalize():
        return _of_abbreviation(key)
    return _of_word(text, key, concept_kind)


def _of_word(text: str, key: str, kind: ConceptKind) -> Condition:
    word = text.lower()
    if not ORDINARY_WORDS.isdisjoint((stored_key(word), word.removesuffix("s"))):
        return Condition.WHOLE if kind == "other" else Condition.SUPPORT
    if kind in {"drug", "variant"} and len(key) <= 4:
        return Condition.SUPPORT  # "tea", "ice" and, in small letters, abbreviations
    return Condition.NONE if len(key) > 2 else Condition.WHOLE


def is_acronym_of_nothing(surface: str, name: str) -> bool:
    """Whether a text has a word in capitals where the name is a word: PET is no pet."""
    return len(surface) <= 5 and surface.isalpha() and surface.isupper() and not name.isupper()


def _of_gene(text: str, key: str, name_kind: NameKind, symbol: str) -> Condition:
    official = name_kind == "preferred"
    if not _SYMBOL.fullmatch(text):  # a word: insulin, titin; as an alias, any word: spatial, clone
        alone = len(key) > 5 and name_kind == "synonym" and key not in ORDINARY_WORDS
        return Condition.NONE if alone or official else Condition.SUPPORT
    if (official or name_kind == "previous") and is_mostly_something_else(text):
        return Condition.CAPITALS | Condition.SUPPORT | Condition.ALONE
    usual = _of_symbol(text, key, official=official)
    if official or name_kind == "previous" or len(key) > _SHORT_ALIAS:
        return usual
    if is_known_alias(text, symbol):
        return usual & ~Condition.SUPPORT if len(key) > 2 else usual
    return usual | Condition.SUPPORT


def _of_symbol(text: str, key: str, *, official: bool) -> Condition:
    longest = _AMBIGUOUS[key.isalpha(), official]
    if _GREEK.match(text) and not official:  # beta 3
        return Condition.SUPPORT
    if "-" in text and len(key) > 2:  # PD-1, C-Kit: nobody writes a word like that
        return Condition.NONE if len(key) > 3 else Condition.CAPITALS
    if len(key) <= 2:
        return Condition.CAPITALS | Condition.SUPPORT if official else Condition.WHOLE
    if len(key) <= longest:
        return Condition.CAPITALS | Condition.SUPPORT
    return Condition.CAPITALS if key.isalpha() or len(key) == 3 else Condition.NONE


def _of_abbreviation(key: str) -> Condition:
    if len(key) <= 3 or key in ORDINARY_WORDS:
        return Condition.CAPITALS | Condition.SUPPORT
    return Condition.CAPITALS if key.isalpha() else Condition.NONE


def shared(one: ConceptKind, other: ConceptKind, key: str) -> bool:
    """Whether a name that two concepts have is ambiguous: by its length, and by what they are."""
    if {one, other} in ({"gene", "drug"}, {"gene", "other"}) and len(key) > 3:
        return False  # a gene and its protein
    return len(key) <= 5 or one == other == "gene"
