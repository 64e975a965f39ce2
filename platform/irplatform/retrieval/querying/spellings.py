"""Other ways of writing a name that an index tells apart, and that no knowledge base lists.

Analysis splits words at hyphens: KRAS is one term and K-ras two. Spellings that no document has are
dropped where names are counted in the index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TUMORS = ("cancer", "carcinoma", "neoplasm", "tumor", "tumour", "malignancy")
"""Head words that texts use for one another: "lung cancer", "lung carcinoma"."""
_TUMOR = re.compile(rf"\b(({'|'.join(_TUMORS[:-1])})s?|malignanc(y|ies))$", re.IGNORECASE)
_JOINTS = (
    re.compile(r"(?<=[A-Za-z])-?(?=\d+[A-Z]?$)"),  # HER-2, IGF-1R
    re.compile(r"(?<=^[A-Z])-?(?=RA[SF]$)", re.IGNORECASE),  # K-ras, B-raf
)
_GREEK = {
    "A": ("alpha", "α"),
    "B": ("beta", "β"),
    "G": ("gamma", "γ"),
    "D": ("delta", "δ"),
    "E": ("epsilon", "ε"),
}
_LATIN = re.compile(rf"-?({'|'.join(form for forms in _GREEK.values() for form in forms)})(?=\d?$)")
_ONCOGENE = "proto-oncogene"


def of_a_tumor(name: str) -> Iterator[str]:
    """A tumour's name with other words for tumour."""
    if _TUMOR.search(name):
        for word in _TUMORS:
            yield _TUMOR.sub(word, name)


def of_a_symbol(symbol: str) -> Iterator[str]:
    """A gene's symbol with a hyphen where texts put one, or without the one that it has."""
    for joint in _JOINTS:
        if match := joint.search(symbol):
            yield symbol[: match.start()] + ("" if match[0] else "-") + symbol[match.end() :]
            return


def with_latin_letter(symbol: str) -> str:
    """A gene's symbol whose Greek letter is the Latin one of approved symbols: PDGFRα, PDGFRA."""
    if not (match := _LATIN.search(symbol)):
        return symbol
    letter = next(latin for latin, greek in _GREEK.items() if match[1] in greek)
    return f"{symbol[: match.start()]}{letter}{symbol[match.end() :]}"


def by_full_names(symbol: str, full_names: Iterable[str]) -> Iterator[str]:
    """What a gene's full names say of its symbol's spellings.

    The letter at the end may be Greek: PDGFRA, platelet derived growth factor receptor alpha, is
    PDGFRα. A proto-oncogene is written with a c for cellular: cMET; in c-MET the symbol is a word
    of its own.
    """
    for name in full_names:
        word, letter = _GREEK.get(symbol[-1:], ("", ""))
        if word and name.lower().endswith(f" {word}"):
            stem = symbol[:-1]
            yield from (stem + letter, f"{stem}-{letter}", stem + word, f"{stem}-{word}")
        if _ONCOGENE in name.lower():
            yield f"c{symbol}"
