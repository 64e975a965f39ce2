"""Kinds of concepts by the semantic types of UMLS, which MeSH's ASCII files have too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.knowledge.model import ConceptKind

DISORDERS = frozenset(
    ("T019", "T020", "T037", "T046", "T047", "T048", "T049", "T184", "T190", "T191")
)
SUBSTANCES = frozenset(
    f"T{number}" for number in (*range(103, 132), 167, 192, *range(194, 198), 200)
)
_DRUGS = frozenset(("T121", "T125", "T127", "T195", "T200"))
"""Drugs and what acts like one."""


def kind_of_types(types: Iterable[str]) -> ConceptKind:
    """What a concept of these types is; the first that says so decides."""
    for each in types:
        if each in DISORDERS:
            return "disease"
        if each == "T028":  # gene or genome
            return "gene"
        if each in _DRUGS:
            return "drug"
    return "other"
