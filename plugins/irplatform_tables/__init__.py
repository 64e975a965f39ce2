"""Formats of knowledge bases that their makers do not publish, such as tables made from MeSH."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from irplatform.knowledge import Format
    from irplatform.plugin import RegisterKnowledge

_NAMES = (
    "mesh-table", "doid-json", "dgidb-cancercommons", "dgidb-clearity", "dgidb-clearity-trials",
    "indications", "hetionet-disease-gene", "hetionet-drug-gene", "drug-names", "mesh-mappings",
)  # fmt: skip


@hookimpl
def register_knowledge(register: RegisterKnowledge) -> None:
    """Register the formats; their readers are imported when a file is added."""
    for name in _NAMES:
        register(name, partial(_format, name))


def _format(name: str) -> Format:
    from irplatform_tables.formats import FORMATS

    return {each.name: each for each in FORMATS}[name]
