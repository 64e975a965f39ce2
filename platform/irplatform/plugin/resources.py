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
    """What the platform offers: built at first use, cached on disk, shared between plugins."""

    device: str
    """Where to compute: "cpu", "cuda" or "mps"."""
    seed: int
    threads: int
    model_threads: int
    """Of torch on the CPU: another number of them rounds otherwise, and so trains other weights."""

    @property
    def system_seed(self) -> int:
        """Of what all members of a system share; `seed` differs between them."""

    def index(self) -> LuceneIndex:
        """The collection's Lucene index."""

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
        resumable: bool = False,
        filled_later: bool = False,
    ) -> Path:
        """A cached folder of something made from the collection's documents and word vectors.

        Args:
            kind: what it is, in lower-case letters, digits and "-"; keep it unique to the plugin.
            depends_on: what else its content depends on, as JSON.
            of_vectors: whether word vectors have a part in it; without, other vectors change
                nothing.
            build: fills an empty folder; called only where the artifact is not there yet.
            resumable: whether `build` goes on from what is in the folder: it is then given what an
                interrupted call left there. Else it starts over.
            filled_later: whether its files change after `build`. Otherwise digests of them are
                kept, and an artifact whose files are not the same any more is made again.
        """

    def progress(
        self, label: str, total: int, unit: str = ""
    ) -> AbstractContextManager[Callable[[int], None]]:
        """A progress display; call what it yields with the number of steps just done.

        Args:
            label: what is being done, in lower case, such as "counting stems".
            total: how many steps there are.
            unit: what they are, such as "documents".
        """

    def notice(self, message: str) -> None:
        """Tell the user something, in a line on stderr; the same line is told once."""

    def reranker(self, name: str, settings: Mapping[str, object] | None = None) -> Any:
        """Another `Reranker`, prepared; one that learns still has to `fit` or `load`."""

    def checkpoint(self, folder: Path) -> Sequence[Any]:
        """The members of a checkpoint that `platform train` wrote: rerankers, ready to score."""

    def retriever(self, name: str, settings: Mapping[str, object] | None = None) -> Any:
        """Another `Retriever`."""

    def feature_group(self, name: str, settings: Mapping[str, object] | None = None) -> Any:
        """A `FeatureGroup`, prepared; one that learns still has to `fit` or `load`."""
