"""Normalized names: what two spellings of one name have in common.

Case, hyphens and spaces ("HER-2", "HER2", "non small-cell"), accents and Greek letters, British
spelling, possessives, plurals (the S stemmer: Harman, JASIS 1991), MeSH's comma inversion
("Carcinoma, Non-Small-Cell Lung") and a drug's dosage make no difference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.text.tokenizer import fold

if TYPE_CHECKING:
    from irplatform.knowledge.model import NameKind

_POSSESSIVE = re.compile(r"(?<=\w)['’]s?(?!\w)")
_WORD = re.compile(r"[^\W_]+")
_PLURAL = re.compile(r"(?<![^\W_])[^\W\d_]{4,}s(?![^\W_])")
_BRITISH = {
    "aemi": "emi",
    "aetiolog": "etiolog",
    "anaesth": "anesth",
    "behaviour": "behavior",
    "coeliac": "celiac",
    "faec": "fec",
    "foet": "fet",
    "gynaec": "gynec",
    "haem": "hem",
    "homologue": "homolog",
    "leucocyt": "leukocyt",
    "naev": "nev",
    "oedem": "edem",
    "oesoph": "esoph",
    "oestr": "estr",
    "paed": "ped",
    "paeni": "peni",
    "pnoe": "pne",
    "rrhoe": "rrhe",
    "sulph": "sulf",
    "tumour": "tumor",
}
_BRITISH_PART = re.compile("|".join(_BRITISH))
_DOSAGE = re.compile(
    r"(?:(?<!\s)\s+)?[(\[]?(?<![\w-])\d+(?:[.,]\d+){0,4}\s*(?:mg|mcg|µg|μg|ug|g|ml|iu|units?|%)"
    r"(?:\s*/\s*(?:\d+(?:\.\d+)?\s*)?\w+)?(?!\w)[)\]]?",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"(?<!\s)\s+(?:(?:oral|extended[- ]release|film[- ]coated)\s+)*"
    r"(?:tablets?|capsules?|injections?|solution|suspension|ointment|cream|gel|syrup)\s*$",
    re.IGNORECASE,
)
_SALT = re.compile(
    r"(?<!\s)\s+(?:acetate|besylate|citrate|fumarate|hcl|(?:di)?hydrochloride|malate|(?:di)?maleate"
    r"|mesylate|monohydrate|(?:di)?phosphate|potassium|(?:di)?sodium|succinate|sul(?:f|ph)ate"
    r"|tartrate|(?:di)?tosylate)$",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"(?=(?:.*[A-Z]){2})[A-Za-z0-9][A-Za-z0-9/-]{1,7}")


def keys(text: str) -> list[str]:
    """All keys under which a name is looked up, the most literal first; empty for no words."""
    variants = [text]
    if ", " in text:
        variants.append(uninverted(text))
    if _DOSAGE.search(text):
        variants.append(without_dosage(text))
    all_keys = [literal_key(text)]
    all_keys += [stored_key(variant) for variant in variants]
    return [key for key in dict.fromkeys(all_keys) if key]


def stored_keys(text: str) -> list[str]:
    """The keys under which a name is kept: one, or two where it has a comma inversion."""
    all_keys = [stored_key(text)]
    if ", " in text:
        all_keys.append(stored_key(uninverted(text)))
    return [key for key in dict.fromkeys(all_keys) if key]


def literal_key(text: str) -> str:
    """Letters and digits alone; no plural is touched."""
    return _joined(_plain(text))


def stored_key(text: str) -> str:
    """Letters and digits, words in the singular; a word in capitals alone is a symbol, and kept."""
    plain = _plain(text)
    symbol = text.isupper() and len(text.split()) == 1
    return _joined(plain if symbol else _PLURAL.sub(_singular, plain))


def uninverted(text: str) -> str:
    """`Carcinoma, Non-Small-Cell Lung` → `Non-Small-Cell Lung Carcinoma`."""
    return " ".join(reversed(text.split(", ")))


def without_dosage(text: str) -> str:
    """A drug's name without amounts and the form in which it is given."""
    bare = _FORM.sub("", _DOSAGE.sub("", text)).strip(" ,-")
    return bare or text.strip()


def without_salt(text: str) -> str:
    """A drug's name without the salt that it is given as: imatinib mesylate → imatinib."""
    return _SALT.sub("", text)


def is_abbreviation(text: str) -> bool:
    """Whether a name is one short word with two capitals: NSCLC, GIST, HER2."""
    return _ABBREVIATION.fullmatch(text) is not None


def kind_of_synonym(text: str) -> NameKind:
    """What a synonym is to its concept where its source says no more."""
    return "abbreviation" if is_abbreviation(text) else "synonym"


def _plain(text: str) -> str:
    plain = text.lower() if text.isascii() else fold(text)
    if "'" in plain or "’" in plain:
        plain = _POSSESSIVE.sub("", plain)
    return _BRITISH_PART.sub(lambda part: _BRITISH[part[0]], plain)


def _singular(match: re.Match[str]) -> str:
    word = match[0]
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    if word.endswith("es"):
        return word if word.endswith(("aes", "ees", "oes")) else word[:-1]
    return word if word.endswith(("us", "ss", "is")) else word[:-1]


def _joined(plain: str) -> str:
    """Words without gaps, except between two digits: NKX2-1 is not NKX21."""
    words = _WORD.findall(plain)
    if len(words) == 1:
        return str(words[0])
    parts: list[str] = []
    for word in words:
        if parts and word[0].isdigit() and parts[-1][-1].isdigit():
            parts.append(" ")
        parts.append(word)
    return "".join(parts)
