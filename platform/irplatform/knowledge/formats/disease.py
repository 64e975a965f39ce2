"""What the formats of the Disease Ontology have in common: cross-references, name kinds.

Ids that a term had before it was merged are cross-references, too: other sources still use them.

Schriml et al., Human Disease Ontology, Nucleic Acids Research 2022.
"""

from __future__ import annotations

from irplatform.knowledge.model import Name, NameKind
from irplatform.knowledge.names import kind_of_synonym

_PREFIXES = {
    "UMLS_CUI": "UMLS",
    "NCI": "NCIT",
    "MIM": "OMIM",
    "MSH": "MESH",
    "ORDO": "ORPHANET",
    "ICDO": "ICDO",
}
_SCOPES: dict[str, NameKind] = {"NARROW": "narrow", "BROAD": "broad", "RELATED": "related"}


def cross_reference(space: str, identifier: str) -> str:
    """A cross-reference as a compact identifier: SNOMEDCT_US_2023_03_01 is SNOMEDCT."""
    prefix = space.strip().upper()
    if prefix.startswith("SNOMEDCT"):
        prefix = "SNOMEDCT"
    return f"{_PREFIXES.get(prefix, prefix)}:{identifier.strip()}"


def synonym(text: str, scope: str = "EXACT", *, acronym: bool = False) -> Name:
    """A synonym as a name, by its scope: EXACT, NARROW, BROAD, RELATED."""
    kind = _SCOPES.get(scope.upper())
    if kind is None:
        kind = "abbreviation" if acronym else kind_of_synonym(text)
    return Name(text, kind)
