"""The document–concept graph: which concepts of knowledge bases each article speaks of.

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
    graph.document_frequency   int32 [concepts]         documents that speak of it
    graph.document_count, graph.concept_count           sizes

Every edge between concepts stands in both rows, once per source: use `graph.adjacency()` for a
scipy CSR matrix [concepts, concepts] with one entry per related pair, and `graph.concepts_of(rows)`
for the concepts of some documents (indices, counts, offsets).

    graph.find("BRAF V600E melanoma")        int64 array of concepts, in the order of the text;
                                             a heading ("Carcinoma, Non-Small-Cell Lung") is one;
                                             a variant, or one of no kind, and those within its name
    graph.find(text, expand=1)               and what is narrower by up to one is-a
    graph.narrower(concepts, steps)          the same for concepts
    graph.mentions(text)                     list of Mention(start, end, text, concept, score)
    graph.neighbours(concept)                (other, EdgeSource, forward) per edge
    graph.mentioned_in(concept)              rows of the documents that speak of it, and how often
    graph.concept_of("DOID:1909")            the concept with this id, in whatever source; or None
    graph.names_of(concept)                  all its names, the preferred one first
    graph.fingerprint                        for what is made from it (pass it to depends_on)
    graph_identity(options)                  the same, of a graph that is not built yet (JSON)

One thing that several sources know under different ids is one concept: `ids` gives its id in the
first of the knowledge bases, and `concept_of` accepts every one.
"""
