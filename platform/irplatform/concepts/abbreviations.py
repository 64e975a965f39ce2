"""What an article's abbreviations stand for, among the concepts of the knowledge bases.

scispaCy's detector (Schwartz & Hearst, PSB 2003) finds the pairs of long and short form; here the
long form gets its concept. An article's own definition takes precedence over whatever a knowledge
base says of the short form. Of two definitions of a short form, the detector takes the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.concepts.gene_names import is_mostly_something_else
from irplatform.concepts.table import KINDS
from irplatform.knowledge.names import literal_key
from irplatform.text.stop_words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from irplatform.concepts.matcher import NameMatcher
    from irplatform.concepts.surface import Definitions

_PROTEIN = re.compile(
    r"(?:ase|in|receptor|factor|antigen|ligand|homolog|oncogene|protein)s?(?:[ -]\w{1,5})?$",
    re.IGNORECASE,
)
_SHARE = 0.5
"""Least share of a long form that its concept's name covers."""
_SHORTEST = 4
"""Letters of a word that tells names apart."""
_GENERIC = frozenset({"factor", "kinase", "protein", "receptor"})
"""Words that names of unrelated genes share."""
_TELLING = 4
"""Characters from which on a gene's own symbol is seldom defined as anything else: PTEN, CDK4."""


def definitions(matcher: NameMatcher, long_forms: Mapping[str, str]) -> Definitions:
    """Give abbreviations their concepts.

    Returns:
        Short form to the concept whose name is the long form, or its end ("metastatic
        castration-resistant prostate cancer"), or to the gene with that symbol where the long form
        is its protein's name; to None where the long form is something else than the knowledge
        bases know under the short form; and nothing where it may well be the same, or where they
        know but a part of the short form ("FLT3-ITD").
    """
    concepts: dict[str, int | None] = {}
    for short, long_form in long_forms.items():
        concept = _concept(matcher, long_form)
        usual = next(iter(matcher.mentions(short, strict=False)), None)
        if usual is None:
            concepts[short] = concept
        elif concept is not None:
            protein = _is_protein_of(matcher, usual.concept, concept, short, long_form)
            concepts[short] = usual.concept if protein else concept
        elif usual.text == short and not _may_be(matcher, usual.concept, short, long_form):
            concepts[short] = None
    return concepts


def _concept(matcher: NameMatcher, long_form: str) -> int | None:
    ends = [each for each in matcher.mentions(long_form) if each.end == len(long_form)]
    if not ends:
        return None
    covered, words = len(ends[0].text.split()), len(long_form.split())
    enough = covered == words or (covered > 1 and covered >= _SHARE * words)
    return ends[0].concept if enough else None


def _is_protein_of(
    matcher: NameMatcher, usual: int, concept: int, short: str, long_form: str
) -> bool:
    """Whether a short form is a gene's own symbol, and its long form the gene's protein.

    Not so TF, a transferrin's symbol, for tissue factor.
    """
    table = matcher.table
    kinds = KINDS[table.kinds[usual]], KINDS[table.kinds[concept]]
    if kinds[0] != "gene" or kinds[1] not in {"drug", "other"} or table.names[usual] != short:
        return False
    if not _PROTEIN.search(long_form):
        return False
    word = re.compile(rf"(?<![^\W_]){re.escape(short)}(?![^\W_])")
    return (
        len(short) >= _TELLING
        or _akin(table.names_of(usual), long_form, besides=_GENERIC)
        or any(map(word.search, table.names_of(concept)))
    )


def _may_be(matcher: NameMatcher, usual: int, short: str, long_form: str) -> bool:
    """Whether a long form without a concept may be what its short form usually means.

    Genes have many old names that no source lists.
    """
    table = matcher.table
    kind = KINDS[table.kinds[usual]]
    symbol = kind == "gene" and table.names[usual] == short
    if symbol and len(short) >= _TELLING and not is_mostly_something_else(short):
        return True
    if kind == "variant" and short.split(maxsplit=1)[0] in long_form.split():  # FLT3 ITD
        return True
    return _akin(table.names_of(usual), long_form)


def _akin(names: list[str], long_form: str, besides: Collection[str] = ()) -> bool:
    """Whether half of a long form's words, besides some, occur in names of a concept."""
    words = [w for w in content_words(long_form) if len(w) >= _SHORTEST and w not in besides]
    keys = [literal_key(name) for name in names]
    shared = sum(any(word in key for key in keys) for word in words)
    return bool(words) and shared >= _SHARE * len(words)
