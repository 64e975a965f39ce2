"""The retriever: the documents whose vectors are nearest to the query's, through an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.plugin import Resources, Retriever, Topic
from irplatform.runs import Run
from irplatform.text.forward_index import FORWARD_INDEX_FORMAT
from irplatform_biencoder.options import RetrieverOptions
from irplatform_biencoder.reranker import BiEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform_biencoder.encoder import Encoder
    from irplatform_biencoder.vector_store import VectorStore


class BiEncoderSearch(Retriever):
    """Nearest documents by a bi-encoder's vectors, through FAISS."""

    Options = RetrieverOptions
    needs = (*BiEncoder.needs, "faiss")
    on_device = True
    seeded = False
    citation: ClassVar[str] = (
        f"{BiEncoder.citation} The index: Jeff Johnson, Matthijs Douze, Hervé Jégou. "
        "Billion-scale similarity search with GPUs. IEEE Transactions on Big Data 7, 2021."
    )
    options: RetrieverOptions
    _opened: tuple[Resources, Encoder, Any] | None = None

    def depends_on(self) -> Mapping[str, object]:
        """The model's files."""
        from irplatform_biencoder.encoder import depends_on

        return depends_on(self.options)

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank the documents nearest to each topic's query; an empty query finds nothing."""
        from irplatform.retrieval.nearest import nearest

        encoder, index = self._open(resources)
        queries = encoder.queries([topic.query for topic in topics])
        doc_ids = resources.forward_index().doc_ids
        rankings = nearest(index, queries, depth, resources.threads, doc_ids)
        return Run(
            "bi-encoder",
            {topic.id: ranking for topic, ranking in zip(topics, rankings, strict=True)},
        )

    def _open(self, resources: Resources) -> tuple[Encoder, Any]:
        """The model and the index of all documents; features ask for a few topics at a time."""
        from irplatform.retrieval.nearest import open_index
        from irplatform.training.in_threads import passes_at_a_time
        from irplatform_biencoder.encoder import Encoder
        from irplatform_biencoder.vector_store import VectorStore

        if self._opened is None or self._opened[0] is not resources:
            encoder = Encoder(self.options, resources.device, passes_at_a_time(resources))
            folder = self._index(VectorStore(resources, encoder), encoder, resources)
            self._opened = resources, encoder, open_index(folder, self.options.probes)
        return self._opened[1:]

    def _index(self, store: VectorStore, encoder: Encoder, resources: Resources) -> Path:
        from irplatform.retrieval.nearest import FORMAT, build_index

        count, exact = store.count, self.options.compares_all(store.count)

        def build(folder: Path) -> None:
            with resources.progress("indexing vectors", count, "documents") as advance:
                build_index(folder, count, encoder.width, store.rows, exact=exact, advance=advance)

        store.fill("encoding documents")
        depends_on = {"exact": exact, "rows": FORWARD_INDEX_FORMAT, "of": dict(encoder.identity)}
        return resources.artifact(
            "bi-encoder-index", {"format": FORMAT, **depends_on}, build, of_vectors=False
        )
