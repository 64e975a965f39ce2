"""Compact identifiers: PREFIX:rest, the prefix in capitals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.knowledge.names import literal_key

if TYPE_CHECKING:
    from irplatform.knowledge.model import ConceptKind

NAME_SPACES: dict[ConceptKind, str] = {"drug": "DRUG", "gene": "GENE", "disease": "DISEASE"}
"""Prefixes of ids that are names, where a source gives nothing else."""
_NUMBERED = {"CIVIC.MPID", "CIVIC.VID", "DOID", "HGNC", "NCBIGENE", "OMIM", "PMID"}
"""Prefixes before whole numbers."""
_MESH = re.compile(r"[CD]\d{6,9}", re.IGNORECASE)


def name_id(kind: ConceptKind, name: str) -> str:
    """The id of something of which a source gives the name alone: DRUG:vemurafenib, GENE:BRAF."""
    return f"{NAME_SPACES[kind]}:{name if kind == 'gene' else literal_key(name)}"


def space(concept_id: str) -> str:
    """The prefix of an id."""
    return concept_id.partition(":")[0]


def typed(term: str) -> str:
    """An id as people type it, compact: MeSH's own ids have no prefix there (D008545)."""
    bare = term.strip()
    return f"MESH:{bare.upper()}" if _MESH.fullmatch(bare) else compact(term)


def compact(identifier: str) -> str:
    """An id with its prefix in capitals: `hgnc:1097` and `HGNC:HGNC:1097` → `HGNC:1097`.

    A number that a spreadsheet made a fraction of is whole again: `NCBIGENE:673.0` is 673.
    """
    prefix, _, rest = identifier.strip().partition(":")
    prefix = prefix.upper()
    rest = rest.removeprefix(f"{prefix}:")
    if prefix in _NUMBERED and (whole := rest.removesuffix(".0")).isdigit():
        rest = whole
    return f"{prefix}:{rest}"
