"""The document–concept graph: the concepts of knowledge bases that each article mentions.

Documents and concepts are nodes. A document is joined to the concepts that a scispaCy pipeline
finds in its title and abstract, and concepts are joined where a knowledge base relates them
(GRAPHENE: Zhao et al., CIKM 2019, section 3.1). Entries that are one thing in several knowledge
bases are one concept, with the id of the first base. `graph.ConceptGraph` describes the arrays.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, field_validator

from irplatform.knowledge import ConceptKind, all_installed
from irplatform.options import Options


class ConceptOptions(Options):
    """Options of the document–concept graph."""

    knowledge: tuple[str, ...] = Field(
        (), description="knowledge bases, the first one first; all that are installed by default"
    )
    kinds: tuple[ConceptKind, ...] = Field(
        ("disease", "gene", "drug", "variant", "other"),
        description="kinds of concepts that documents are linked to",
    )
    model: str = Field(
        "auto",
        description="a spaCy model whose entities are the mentions: a name or folder; auto takes "
        "an en_core_sci model where one is installed; none matches the knowledge bases' names",
    )
    linker: Literal["names", "scispacy"] = Field(
        "names",
        description="names links by exact normalized name; scispacy gives what is left to "
        "scispaCy's entity linker (character 3-grams, nearest neighbours), which is slower",
    )
    threshold: float = Field(
        0.85, gt=0, le=1, description="least cosine similarity of scispaCy's entity linker"
    )
    linker_kinds: tuple[ConceptKind, ...] = Field(
        ("disease", "drug"), description="kinds of concepts in scispaCy's linker, of those in kinds"
    )

    @field_validator("kinds", "linker_kinds")
    @classmethod
    def _in_one_order(cls, kinds: tuple[ConceptKind, ...]) -> tuple[ConceptKind, ...]:
        return tuple(kind for kind in get_args(ConceptKind) if kind in kinds)

    def bases(self) -> tuple[str, ...]:
        """The knowledge bases; by default all that are installed, the user's own last."""
        if self.knowledge:
            return tuple(dict.fromkeys(self.knowledge))
        return all_installed()
