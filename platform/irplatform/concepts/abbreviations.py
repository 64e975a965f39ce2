"""What an article's abbreviations stand for, among the concepts of the knowledge bases.

scispaCy's detector (Schwartz & Hearst, PSB 2003) finds the pairs of long and short form; here the
long form gets its concept. An article's own definition takes precedence over whatever a knowledge
base says of the short form. Of two definitions of a short form, the detector takes the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.concepts.surface import Definitions
from irplatform.concepts.table import KINDS
from irplatform.knowledge.names import literal_key
from irplatform.text.stop_words import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.concepts.matcher import NameMatcher

_PROTEIN = re.compile(
    r"(?:ase|in|receptor|factor|antigen|ligand|homolog|oncogene|protein)s?(?:[ -]\w{1,5})?$",
    re.IGNORECASE,
)
_SHARE = 0.5
"""Least share of a long form that its concept's name covers."""
_SHORTEST = 4
"""Letters of a word that tells names apart."""


def definitions(matcher: NameMatcher, long_forms: Mapping[str, str]) -> Definitions:
    """Give abbreviations their concepts.

    Args:
        matcher: finds the long forms' names.
        long_forms: short form to long form.

    Returns:
        Short form to the concept whose name is the long form, or its end ("metastatic
        castration-resistant prostate cancer"), or to the gene with that symbol where the long form
        is its protein's name; to None where the long form is something else than the knowledge
        bases know under the short form; and nothing where it may well be the same.
    """
    concepts: dict[str, int | None] = {}
    for short, long_form in long_forms.items():
        concept = _concept(matcher, long_form)
        usual = next((m.concept for m in matcher.mentions(short, strict=False)), None)
        if concept is not None:
            symbol = usual is not None and _is_gene_of(matcher, usual, concept, short)
            concepts[short] = usual if symbol and _PROTEIN.search(long_form) else concept
        elif usual is None or not _akin(matcher.table.names_of(usual), long_form):
            concepts[short] = None
    return Definitions(concepts)


def _concept(matcher: NameMatcher, long_form: str) -> int | None:
    ends = [each for each in matcher.mentions(long_form) if each.end == len(long_form)]
    if not ends:
        return None
    covered, words = len(ends[0].text.split()), len(long_form.split())
    enough = covered == words or (covered > 1 and covered >= _SHARE * words)
    return ends[0].concept if enough else None


def _is_gene_of(matcher: NameMatcher, usual: int, concept: int, short: str) -> bool:
    """Whether a short form is a gene's own symbol, and its long form may be its protein."""
    table = matcher.table
    kinds = KINDS[table.kinds[usual]], KINDS[table.kinds[concept]]
    return kinds[0] == "gene" and kinds[1] in {"drug", "other"} and table.names[usual] == short


def _akin(names: list[str], long_form: str) -> bool:
    """Whether half of a long form's words occur in names of a concept."""
    words = [word for word in content_words(long_form) if len(word) >= _SHORTEST]
    keys = [literal_key(name) for name in names]
    shared = sum(any(word in key for key in keys) for word in words)
    return bool(words) and shared >= _SHARE * len(words)
