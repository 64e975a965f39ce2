"""The resources that the platform offers to plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.data import Documents
    from irplatform.lucene import LuceneIndex
    from irplatform.text import ForwardIndex, VectorOptions, WordVectors


class Resources(Protocol):
    """Resources are built at first use, cached on disk, and shared between plugins."""

    device: str
    """Where to compute: "cpu", "cuda" or "mps"."""
    seed: int
    threads: int
    model_threads: int
    """Threads of torch on the CPU; another number of them gives other trained weights."""

    @property
    def system_seed(self) -> int:
        """The seed of everything that the members of a system share."""

    def index(self) -> LuceneIndex:
        """The collection's Lucene index.

        Its `search` makes the fields that a query names. For a search with Lucene's own classes,
        `reader_with(["title"])` gives the reader that has them; `reader` may have `contents` alone.
        """

    def forward_index(self) -> ForwardIndex:
        """Token ids and lexical statistics of every document."""

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:
        """Word vectors: a checkpoint's, else those the user imported, else trained on the text."""

    def concepts(self, options: ConceptOptions | None = None) -> ConceptGraph:
        """The document–concept graph, whose rows are those of the forward index."""

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        """Documents by id, read when first looked at."""

    def artifact(
        self,
        kind: str,
        depends_on: Mapping[str, object],
        build: Callable[[Path], None],
        *,
        of_vectors: bool = True,
        of_words: bool = False,
        resumable: bool = False,
        filled_later: bool = False,
    ) -> Path:
        """A cached folder of something made from the collection's documents and word vectors.

        Args:
            kind: what it is, in lower-case letters, digits and "-"; keep it unique to the plugin.
            depends_on: what else its content depends on, as JSON.
            of_vectors: it depends on the word vectors.
            of_words: it is about the collection's words, not its documents, and small: checkpoints
                keep it, to score texts without the collection.
            build: fills an empty folder; called only if the artifact is missing.
            resumable: `build` continues with what an interrupted call left in the folder.
            filled_later: its files change after `build`. Otherwise changed files mean that it is
                damaged, and it is made again.
        """

    def progress(
        self, label: str, total: int, unit: str = ""
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Show progress, such as "counting stems" in "documents".

        Call the yielded function with the number of steps just done.
        """

    def notice(self, message: str) -> None:
        """Show a line on stderr, once."""

    def reranker(self, name: str, settings: Mapping[str, object] | None = None) -> Any:
        """Another `Reranker`, prepared; one that learns still has to `fit` or `load`."""

    def checkpoint(self, folder: Path) -> Sequence[Any]:
        """The members of a checkpoint that `platform train` wrote: rerankers, ready to score."""

    def retriever(self, name: str, settings: Mapping[str, object] | None = None) -> Any:
        """Another `Retriever`."""

    def feature_group(self, name: str, settings: Mapping[str, object] | None = None) -> Any:
        """A `FeatureGroup`, prepared; one that learns still has to `fit` or `load`."""
