"""The resources of retrievers and rerankers: indexes, word vectors, documents, cached folders."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from irplatform.data import Documents
from irplatform.errors import PlatformError, one_line
from irplatform.files.cache import OWN_KINDS, Artifact, artifact
from irplatform.files.code_digests import is_third_party, module_of
from irplatform.files.costs import Work
from irplatform.registry.live_code import function_digest
from irplatform.registry.loading import registry
from irplatform.system import console
from irplatform.system.progress import Stopwatch
from irplatform.text.given_texts import given_texts
from irplatform.text.vector_source import VectorSource
from irplatform.training.checkpoints import STATISTICS
from irplatform.workers.distribution import takes_gpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.data import Corpus
    from irplatform.lucene import LuceneIndex
    from irplatform.plugin.features import FeatureGroup
    from irplatform.plugin.rerankers import Reranker
    from irplatform.plugin.retrievers import Retriever
    from irplatform.text import ForwardIndex, VectorOptions, WordVectors

_KIND = re.compile(r"[a-z0-9][a-z0-9-]*")
_HARDLY_ANY = 0.05
"""Share of a collection's text; published English vectors cover more than nine tenths."""


@dataclass
class UsageLog:
    """The fingerprints of artifacts that work used, and the notices that it showed."""

    artifacts: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


@dataclass
class _Opened:
    """Open files and indexes, shared by resources that differ in their seed."""

    index_artifact: Artifact | None = None
    index: LuceneIndex | None = None
    forward_index: tuple[ForwardIndex, Artifact] | None = None
    concepts: dict[str, ConceptGraph] = field(default_factory=dict)
    notices: set[str] = field(default_factory=set)
    log: UsageLog | None = None
    quiet: bool = False
    """Notices are only recorded."""
    compared: set[str] = field(default_factory=set)
    """Fingerprints of the vectors whose coverage was shown."""


@dataclass
class CollectionResources:
    """The resources of one corpus; implements `plugin.Resources`.

    Attributes:
        device: "cpu", "cuda" or "mps".
        threads: for searching, reading documents and tokenizing.
        source: the source of word vectors.
        model_threads: threads of torch on the CPU.
        resume: continue an interrupted training, reranking or building.
        artifacts: fingerprints of artifacts in use, for the metadata of runs.
        vectors_used: folders of word vectors in use, by `VectorSource.key`.
        words_used: folders of what is known of the collection's words, and is in use, by kind.
    """

    corpus: Corpus
    device: str
    seed: int
    threads: int
    source: VectorSource = field(default_factory=VectorSource)
    resume: bool = True
    model_threads: int = 1
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    artifacts: dict[str, str] = field(default_factory=dict)
    vectors_used: dict[str, Path] = field(default_factory=dict)
    words_used: dict[str, Path] = field(default_factory=dict)
    _opened: _Opened = field(default_factory=_Opened)
    _vectors: dict[str, tuple[WordVectors, Artifact]] = field(default_factory=dict)
    _system_seed: int | None = None

    @property
    def system_seed(self) -> int:
        """The seed of everything that the members of a system share."""
        return self.seed if self._system_seed is None else self._system_seed

    def of_member(self, number: int) -> CollectionResources:
        """Return the resources of a member of a system, with its own seed."""
        seed, system_seed = self.seed + number, self.seed
        return replace(self, seed=seed, _system_seed=system_seed, vectors_used={}, words_used={})

    def with_vectors(self, ready: Mapping[str, Path]) -> CollectionResources:
        """Return the resources with a checkpoint's vectors."""
        source = replace(self.source, ready=ready)
        return replace(self, source=source, vectors_used={}, _vectors={})

    def unopened(self) -> CollectionResources:
        """Return the resources with nothing open, for another process, also elsewhere."""
        _ = self.corpus.fingerprint, self.corpus.texts_fingerprint  # while its files are at hand
        source = self.source.for_another_machine()
        opened = _Opened(notices=set(self._opened.notices), compared=set(self._opened.compared))
        return replace(
            self,
            source=source,
            stopwatch=Stopwatch(),
            artifacts={},
            vectors_used={},
            words_used={},
            _opened=opened,
            _vectors={},
        )

    def index_artifact(self) -> Artifact:
        """Return the folder of the Lucene index, built if missing; opening it starts Java."""
        if self._opened.index_artifact is None:
            from irplatform.lucene import build_index

            with self.stopwatch.timed("index"):
                self._opened.index_artifact = build_index(self.corpus, threads=self.threads)
        self._note("index", self._opened.index_artifact.fingerprint)
        return self._opened.index_artifact

    def index(self) -> LuceneIndex:
        """Return the Lucene index."""
        index_artifact = self.index_artifact()
        if self._opened.index is None:
            from irplatform.lucene import LuceneIndex

            self._opened.index = LuceneIndex.open(
                index_artifact.path, own=self.corpus.index_path is None
            )
        return self._opened.index

    def forward_index(self) -> ForwardIndex:
        """Return token ids and lexical statistics."""
        if self._opened.forward_index is None:
            from irplatform.text import ForwardIndex, build_forward_index
            from irplatform.text.forward_index import FORWARD_INDEX_FORMAT

            with self.stopwatch.timed("forward_index"):
                index_artifact = artifact(
                    "forward-index",
                    self.corpus.name,
                    {"corpus": self.corpus.fingerprint, "format": FORWARD_INDEX_FORMAT},
                    lambda folder: build_forward_index(
                        self.corpus, folder, workers=self.threads, total=self.corpus.size_hint()
                    ),
                    work=Work("forward-index", amount=self.corpus.size_hint() or 1),
                )
                self._opened.forward_index = ForwardIndex.open(index_artifact.path), index_artifact
            for vectors, vectors_artifact in self._vectors.values():
                self._show_coverage(vectors, vectors_artifact.fingerprint)
        index, index_artifact = self._opened.forward_index
        self._note("forward_index", index_artifact.fingerprint)
        self.words_used[STATISTICS] = index_artifact.path
        return index

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:
        """Return word vectors: a checkpoint's, imported, or trained on this corpus."""
        from irplatform.text import VectorOptions, WordVectors

        options = options or VectorOptions()
        key = self.source.key(options)
        if key not in self._vectors:
            with self.stopwatch.timed("vectors"):
                vectors_artifact = self.source.open(self.corpus, options)
                self._vectors[key] = (WordVectors.open(vectors_artifact.path), vectors_artifact)
            self._show_coverage(self._vectors[key][0], vectors_artifact.fingerprint)
        vectors, vectors_artifact = self._vectors[key]
        self._note("vectors", vectors_artifact.fingerprint)
        self.vectors_used[key] = vectors_artifact.path
        return vectors

    def _show_coverage(self, vectors: WordVectors, fingerprint: str) -> None:
        """Show how much of the collection published vectors cover, once both are open."""
        imported = vectors.facts.get("source") == "imported"
        if (
            not imported
            or self._opened.forward_index is None
            or fingerprint in self._opened.compared
        ):
            return
        self._opened.compared.add(fingerprint)
        index, _ = self._opened.forward_index
        frequency = index.collection_frequency("text")
        of_words, of_text = vectors.coverage(index.vocabulary, frequency)
        warns = of_text < _HARDLY_ANY
        self.notice(
            f"{'WARNING: ' if warns else ''}{vectors.facts.get('file', 'published vectors')}: "
            f"{of_words:.1%} of the {len(index.vocabulary):,} words of {self.corpus.name} have a "
            f"vector, and so {of_text:.1%} of its text"
            f"{': rankings with these vectors mean little' if warns else ''}"
        )

    def concepts(self, options: ConceptOptions | None = None) -> ConceptGraph:
        """Return the document–concept graph."""
        from irplatform.concepts import ConceptOptions
        from irplatform.concepts.build import concept_graph
        from irplatform.concepts.graph import ConceptGraph

        options = options or ConceptOptions()
        key = options.model_dump_json()
        if key not in self._opened.concepts:
            with self.stopwatch.timed("concepts"):
                graph_artifact = concept_graph(self.corpus, options, self.threads)
                self._opened.concepts[key] = ConceptGraph(graph_artifact.path)
        graph = self._opened.concepts[key]
        self._note("concepts", graph.fingerprint)
        return graph

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        """Return documents by id, read from the index at first use, or texts that are scored."""
        if (texts := given_texts()) is not None:
            return Documents.of([texts.documents[doc_id] for doc_id in doc_ids])
        return Documents(doc_ids, lambda ids: self.index().documents(ids, threads=self.threads))

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
        """Return a cached folder of something made from this corpus, perhaps with word vectors.

        Raises:
            PlatformError: the kind cannot name a folder, or the platform uses it.
        """
        made_from: dict[str, object] = {"corpus": self.corpus.fingerprint}
        maker = module_of(build)
        if is_third_party(maker):
            if not _KIND.fullmatch(kind) or kind in OWN_KINDS:
                raise PlatformError(
                    f"'{kind}' cannot be the kind of an artifact of {maker}: use lower-case "
                    "letters, digits and '-', such as the plugin's name and what it is."
                )
            made_from |= {"maker": maker.partition(".")[0], "source": function_digest(build)}
        if of_vectors:
            made_from["vectors"] = self.source.describe()
        depends_on = {**made_from, "of": dict(depends_on)}
        path = artifact(
            kind,
            self.corpus.name,
            depends_on,
            build,
            resumable=resumable and self.resume,
            filled_later=filled_later,
        ).path
        if of_words:
            self.words_used[kind] = path
        return path

    def progress(
        self, label: str, total: int, unit: str = ""
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Show progress on stderr."""
        return console.progress(label, total, unit)

    def notice(self, message: str) -> None:
        """Show a line on stderr, once."""
        message = one_line(message)
        if self._opened.log is not None and message not in self._opened.log.notices:
            self._opened.log.notices.append(message)
        if message not in self._opened.notices:
            if len(self._opened.notices) >= 1000:  # a service has ever new topics
                self._opened.notices.clear()
            self._opened.notices.add(message)
            if not self._opened.quiet:
                console.notice(message)

    @contextmanager
    def record(self, *, quietly: bool = False) -> Iterator[UsageLog]:
        """Record the artifacts and notices of a block, to replay them with cached results.

        `quietly` does not show the notices now. A block within another counts for both.
        """
        opened = self._opened
        log = UsageLog()
        outer, opened.log, opened.quiet = opened.log, log, quietly
        try:
            yield log
        finally:
            opened.log, opened.quiet = outer, False
            if outer is not None:
                outer.artifacts |= log.artifacts
                outer.notices += [line for line in log.notices if line not in outer.notices]

    def replay(self, log: UsageLog) -> None:
        """Replay the artifacts and notices of a cached result."""
        for name, fingerprint in log.artifacts.items():
            self._note(name, fingerprint)
        for message in log.notices:
            self.notice(message)

    def _note(self, name: str, fingerprint: str) -> None:
        self.artifacts[name] = fingerprint
        if self._opened.log is not None:
            self._opened.log.artifacts[name] = fingerprint

    def reranker(self, name: str, settings: Mapping[str, object] | None = None) -> Reranker:
        """Return another reranker, prepared."""
        registration = registry().reranker(name)
        reranker = registration.create(settings or {})
        with registration.plugin_call("preparing"):
            reranker.prepare(self)
        return reranker

    def checkpoint(self, folder: Path) -> Sequence[Reranker]:
        """Return the members of a checkpoint, with its word vectors.

        Raises:
            InputError: the folder is not a checkpoint, or its reranker is not installed.
        """
        from irplatform.training.checkpoints import Checkpoint

        checkpoint = Checkpoint.read(folder)
        registration = registry().reranker(checkpoint.reranker)
        resources = self.with_vectors(checkpoint.vectors)
        return checkpoint.load(
            registration, lambda: resources.reranker(checkpoint.reranker, checkpoint.options)
        )

    def retriever(self, name: str, settings: Mapping[str, object] | None = None) -> Retriever:
        """Return a retriever."""
        return registry().retriever(name).create(settings or {})

    def feature_group(
        self, name: str, settings: Mapping[str, object] | None = None
    ) -> FeatureGroup:
        """Return a feature group, prepared; the members of a system share what it learns."""
        registration = registry().feature_group(name)
        group = registration.create(settings or {})
        with registration.plugin_call("preparing"):
            group.prepare(replace(self, seed=self.system_seed))
        return group

    @property
    def java_version(self) -> str:
        """The major version of the Java that Lucene runs on."""
        from irplatform.lucene.java import find_runtime, runtime_version

        return str(runtime_version(find_runtime()))


def on_this_machine(resources: CollectionResources) -> CollectionResources:
    """Return resources with a device of this machine, where only others have a GPU."""
    if takes_gpu(resources.device):
        import torch

        if not torch.cuda.is_available():
            return replace(resources, device="cpu")
    return resources
