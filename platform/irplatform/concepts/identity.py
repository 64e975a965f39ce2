"""What a concept graph is made from beside the documents, for fingerprints.

Whatever is trained on a graph depends on this: with another version of the rules, or another
knowledge base, documents have other concepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.concepts.graph import VERSION
from irplatform.concepts.pipeline import versions
from irplatform.concepts.table import VERSION as TABLE_VERSION
from irplatform.errors import InputError
from irplatform.knowledge import open_knowledge

if TYPE_CHECKING:
    from irplatform.concepts.options import ConceptOptions


_OF_THE_LINKER = {"threshold", "linker_kinds"}
"""Options that change nothing where scispaCy's linker takes no part."""


def graph_identity(options: ConceptOptions) -> dict[str, Any]:
    """Versions of files, names and pipeline, the knowledge bases and the options, as JSON.

    Raises:
        InputError: no knowledge base is installed, or scispaCy is missing.
    """
    pipeline = versions(options)
    names = options.bases()
    if not names:
        raise InputError(
            "a concept graph needs knowledge bases, and none is installed. `platform kb list` says "
            "where they are published; `platform kb add NAME FILE` adds one."
        )
    return {
        "version": VERSION,
        "knowledge": open_knowledge(names).fingerprint,
        "table": TABLE_VERSION,
        "pipeline": pipeline,
        "options": options.model_copy(update={"knowledge": names}).model_dump(
            mode="json", exclude=set() if options.linker == "scispacy" else _OF_THE_LINKER
        ),
    }
