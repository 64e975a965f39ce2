"""The document–concept graph on disk, in memory-mapped sparse rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.pipeline import versions
from irplatform.concepts.table import KINDS, ConceptTable
from irplatform.concepts.table import VERSION as TABLE_VERSION
from irplatform.errors import InputError
from irplatform.files.formats import read_own_json
from irplatform.knowledge import open_knowledge
from irplatform.spelling import command
from irplatform.text.arrays import Int32, Int64, map_array, ragged
from irplatform.text.string_table import UNKNOWN, StringTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt
    from scipy.sparse import csr_matrix

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.table import Mention

VERSION = 1
"""Of the files."""
_AT_ONCE = 1 << 22
_BRACKET = re.compile(r"(?:(?<!\s)\s+)?[()\[\]]\s*")
FACTS = "graph.json"
TABLE = "table"
"""The folder of a graph with its concepts."""
_OF_THE_LINKER = {"threshold", "linker_kinds"}
"""Options without effect unless scispaCy's linker is used."""


@dataclass(frozen=True)
class EdgeSource:
    """The source of edges: knowledge base, relation ("is-a", "drug-gene", …), number of edges."""

    kb: str
    relation: str
    edges: int = 0

    def __str__(self) -> str:
        return f"{self.relation} ({self.kb})"


@dataclass(frozen=True)
class DocumentRows:
    """Documents by concepts, in sparse rows: `indptr` [documents + 1], the concepts, ascending.

    `counts` is how often the document mentions each.
    """

    indptr: Int64
    indices: Int32
    counts: Int32


@dataclass(frozen=True)
class ConceptRows:
    """Concepts by concepts, in sparse rows: `indptr` [concepts + 1], the neighbours, ascending.

    Every edge stands in both of its rows, with an index into `ConceptGraph.sources`; `forward` is 1
    in the row of the relation's source (the narrower one of an is-a), else 0.
    """

    indptr: Int64
    indices: Int32
    sources: npt.NDArray[np.uint16]
    forward: npt.NDArray[np.uint8]


class ConceptGraph:
    """A document–concept graph. A document's row is that of the forward index.

    Attributes:
        documents, concepts: the links and edges, memory-mapped.
        sources: of edges.
        ids, names, kinds: per concept: its id in the first knowledge base, its preferred name, and
            uint8, an index into `KINDS`.
        document_frequency: int32 [concepts], documents that mention each.
        fingerprint: for the cache key of anything made from the graph.

    Raises:
        InputError: the folder has no graph, or one of another version.
    """

    KINDS = KINDS

    @staticmethod
    def identity(options: ConceptOptions) -> dict[str, Any]:
        """The graph's sources except the documents, as JSON for fingerprints.

        These are the versions of files, names and pipeline, the knowledge bases, and the options.

        Raises:
            InputError: no knowledge base is installed, or scispaCy is missing.
        """
        pipeline = versions(options)
        names = options.bases()
        if not names:
            raise InputError(
                "a concept graph needs knowledge bases, and none is installed. `platform kb list` "
                "says where they are published; `platform kb add NAME FILE` adds one."
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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.facts = read_own_json(folder / FACTS)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError(
                "there is no concept graph here. Build it with `platform concepts build`.",
                path=folder,
            ) from error
        if (version := self.facts.get("version")) != VERSION:
            raise InputError(
                f"this concept graph has version {version}, but this platform reads {VERSION}. Run "
                "`platform concepts build` again.",
                path=folder,
            )
        self.table = ConceptTable(folder / TABLE)
        self.fingerprint: str = self.facts["fingerprint"]
        self.document_count: int = self.facts["documents"]
        self.concept_count = self.table.count
        self.sources = tuple(EdgeSource(*source) for source in self.table.sources)
        self.ids: Sequence[str] = self.table.ids
        self.names: Sequence[str] = self.table.names
        self.kinds = self.table.kinds
        self.documents = DocumentRows(
            map_array(folder / "documents.indptr.int64", np.int64),
            map_array(folder / "documents.indices.int32", np.int32),
            map_array(folder / "documents.counts.int32", np.int32),
        )
        concepts = self.table.folder
        self.concepts = ConceptRows(
            map_array(concepts / "concepts.indptr.int64", np.int64),
            map_array(concepts / "concepts.indices.int32", np.int32),
            map_array(concepts / "concepts.sources.uint16", np.uint16),
            map_array(concepts / "concepts.forward.uint8", np.uint8),
        )
        self.document_frequency = map_array(folder / "document-frequency.int32", np.int32)
        self.doc_ids = StringTable.open(folder, "doc-ids")

    def require(self, *, corpus: str, pipeline: dict[str, str] | None = None) -> ConceptGraph:
        """Return the graph if it fits a corpus and a pipeline.

        Raises:
            InputError: it was built for other documents, or by other versions.
        """
        if self.facts["corpus"]["fingerprint"] != corpus:
            raise InputError(
                f"this concept graph was built for other documents ({self.facts['corpus']['name']})"
                f". Build one with {command('concepts build', collection='C')}.",
                path=self.folder,
            )
        before = self.facts["pipeline"]
        if pipeline is not None and before != pipeline:
            changes = ", ".join(
                f"{name} {before.get(name) or 'none'}, now {version}"
                for name, version in pipeline.items()
                if before.get(name) != version
            )
            raise InputError(
                f"this concept graph was built by another pipeline ({changes}). "
                "Run `platform concepts build` again.",
                path=self.folder,
            )
        return self

    def concept_of(self, concept_id: str) -> int | None:
        """The concept with an id in any source, or None."""
        return self.table.concept_of(concept_id)

    def names_of(self, concept: int) -> list[str]:
        """All names of a concept, the preferred one first."""
        return self.table.names_of(concept)

    def mentions(self, text: str) -> list[Mention]:
        """The concepts that a short text, such as a topic, mentions, with their places.

        Unlike in documents, short symbols and abbreviations need no support.
        """
        return self._matcher.mentions(text, strict=False)

    def find(self, text: str, expand: int = 0) -> Int64:
        """The concepts of a topic, a field of one, or a heading ("Carcinoma, Non-Small-Cell Lung").

        This is the concept with that name, or else those within it; for a variant or a concept of
        no kind, both. `expand` is the number of is-a steps by which narrower concepts are added.

        Returns:
            Distinct concepts, int64: those named in the order of the text, then the narrower ones.
        """
        concept = self._matcher.concept_of(text)
        concepts: dict[int, None] = {}
        if concept is not None:
            concepts[concept] = None
        if concept is None or KINDS[self.kinds[concept]] in {"variant", "other"}:
            mentions = self.mentions(_BRACKET.sub(" ", text))  # BRAF (V600E), CDKN2A Deletion
            concepts.update(dict.fromkeys(mention.concept for mention in mentions))
        topic_concepts = np.fromiter(concepts, np.int64, count=len(concepts))
        return self.narrower(topic_concepts, expand) if expand else topic_concepts

    def named(self, text: str) -> list[int]:
        """The concept with this name, even of a kind that documents are not linked to."""
        concept = NameMatcher(self.table).concept_of(text)
        return [] if concept is None else [concept]

    def narrower(self, concepts: Int64, steps: int) -> Int64:
        """Concepts and those narrower than them by at most `steps` of is-a: distinct, int64.

        The given ones come first, then those below, level by level.
        """
        reached = dict.fromkeys(concepts.tolist())
        level = concepts
        for _ in range(steps):
            starts = self.concepts.indptr[level]
            indices, _ = ragged(starts, self.concepts.indptr[level + 1] - starts)
            selected = ~self.concepts.forward[indices].astype(bool)
            selected &= np.isin(self.concepts.sources[indices], self._codes({"is-a"}))
            below = np.unique(self.concepts.indices[indices[selected]])
            level = np.array([c for c in below.tolist() if c not in reached], np.int64)
            reached.update(dict.fromkeys(level.tolist()))
        return np.fromiter(reached, np.int64, count=len(reached))

    def concepts_of(self, rows: Int64) -> tuple[Int32, Int32, Int64]:
        """The concepts of documents, given by their rows, one document behind the other.

        Returns:
            Concepts and how often each is mentioned, int32 [links], and where each document begins,
            int64 [documents + 1].
        """
        starts = self.documents.indptr[rows]
        indices, offsets = ragged(starts, self.documents.indptr[rows + 1] - starts)
        return self.documents.indices[indices], self.documents.counts[indices], offsets

    def neighbours(self, concept: int) -> list[tuple[int, EdgeSource, bool]]:
        """A concept's edges: the other concept, the source, and True for an edge from here."""
        rows = self.concepts
        place = slice(*rows.indptr[concept : concept + 2].tolist())
        columns = (rows.indices, rows.sources, rows.forward)
        edges = zip(*(column[place].tolist() for column in columns), strict=True)
        return [(other, self.sources[code], bool(forward)) for other, code, forward in edges]

    def mentioned_in(self, concept: int) -> tuple[Int64, Int32]:
        """The documents that mention a concept, and how often; reads all links.

        Returns:
            Rows, ascending int64 [documents], and mentions, int32 [documents].
        """
        indices = self.documents.indices
        parts = [
            start + np.flatnonzero(indices[start : start + _AT_ONCE] == concept)
            for start in range(0, len(indices), _AT_ONCE)
        ]
        links = np.concatenate([*parts, np.empty(0, np.int64)])
        rows = np.searchsorted(self.documents.indptr, links, side="right") - 1
        return rows.astype(np.int64), self.documents.counts[links]

    def adjacency(self, relations: Collection[str] | None = None) -> csr_matrix:
        """The related concepts as ones, float32 [concepts, concepts], symmetric, rows sorted.

        Only edges of the given relations ("is-a", "drug-gene", …) count; by default all.
        """
        from scipy.sparse import csr_matrix

        rows = np.repeat(np.arange(self.concept_count), np.diff(self.concepts.indptr))
        columns = self.concepts.indices.astype(np.int64)
        if relations is not None:
            selected = np.isin(self.concepts.sources, self._codes(relations))
            rows, columns = rows[selected], columns[selected]
        pairs = np.unique(rows * self.concept_count + columns)
        rows, columns = np.divmod(pairs, self.concept_count)
        indptr = np.zeros(self.concept_count + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=self.concept_count), out=indptr[1:])
        ones = np.ones(len(pairs), np.float32)
        shape = (self.concept_count, self.concept_count)
        return csr_matrix((ones, columns.astype(np.int32), indptr), shape=shape)

    def row_of(self, doc_id: str) -> int | None:
        """The row of a document, or None for an unknown id."""
        row = int(self.doc_ids.find([doc_id])[0])
        return None if row == UNKNOWN else row

    @cached_property
    def _matcher(self) -> NameMatcher:
        return NameMatcher(self.table, self.facts["options"]["kinds"])

    def _codes(self, relations: Iterable[str]) -> list[int]:
        names = set(relations)
        return [code for code, source in enumerate(self.sources) if source.relation in names]
