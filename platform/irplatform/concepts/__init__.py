"""The document–concept graph: the concepts of knowledge bases that each article mentions.

Documents and concepts are nodes. A document is joined to the concepts that a scispaCy pipeline
finds in its title and abstract, and concepts are joined where a knowledge base relates them
(GRAPHENE: Zhao et al., CIKM 2019, section 3.1). It lies on disk as memory-mapped sparse rows:

    graph = resources.concepts(ConceptOptions())        # built at first use, then cached

    graph.documents.indptr     int64 [documents + 1]    row = row of the forward index
    graph.documents.indices    int32 [links]            concepts of a document, ascending
    graph.documents.counts     int32 [links]            how often each is mentioned in it
    graph.concepts.indptr      int64 [concepts + 1]
    graph.concepts.indices     int32 [edges]            neighbours of a concept, ascending
    graph.concepts.sources     uint16 [edges]           index into graph.sources
    graph.concepts.forward     uint8 [edges]            1: as the source says it (narrower → broader
                                                        in an is-a), 0: the same edge seen backwards
    graph.sources              tuple[EdgeSource(kb, relation), ...]
    graph.ids, graph.names     Sequence[str] by concept (read from disk as they are looked at)
    graph.kinds                uint8 [concepts]         index into graph.KINDS
    graph.document_frequency   int32 [concepts]         documents that mention it
    graph.document_count, graph.concept_count           sizes

Every edge between concepts stands in both rows, once per source. `graph.adjacency()` is a scipy CSR
matrix [concepts, concepts] with one entry per related pair; `graph.concepts_of(rows)` gives the
concepts of some documents (indices, counts, offsets).

    graph.find("BRAF V600E melanoma")        int64 array of concepts, in the order of the text;
                                             a heading ("Carcinoma, Non-Small-Cell Lung") is one;
                                             a variant, or one of no kind, and those within its name
    graph.find(text, expand=1)               and those narrower by up to one is-a
    graph.narrower(concepts, steps)          the same for concepts
    graph.mentions(text)                     list of Mention(start, end, text, concept, score)
    graph.neighbours(concept)                (other, EdgeSource, forward) per edge
    graph.mentioned_in(concept)              rows of the documents that mention it, and how often
    graph.concept_of("DOID:1909")            the concept with this id in any source; or None
    graph.names_of(concept)                  all its names, the preferred one first
    graph.fingerprint                        for the cache key of anything made from the graph
    graph_identity(options)                  the same, of a graph that is not built yet (JSON)

One thing that several sources have under different ids is one concept: `ids` has its id in the
first of the knowledge bases, and `concept_of` accepts every id.
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
        """Sort the kinds: in another order they make the same graph."""
        return tuple(kind for kind in get_args(ConceptKind) if kind in kinds)

    def bases(self) -> tuple[str, ...]:
        """The knowledge bases; by default all that are installed, the user's own last."""
        if self.knowledge:
            return tuple(dict.fromkeys(self.knowledge))
        return all_installed()
