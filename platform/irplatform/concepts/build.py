"""Builds the document–concept graph of a corpus in one streaming pass, with all cores.

Worker processes find the concepts of batches of articles; this process appends their rows in the
order of the corpus. An interrupted build continues after its last batch, and gives the same bytes.
"""

from __future__ import annotations

import json
import shutil
import time
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from irplatform.concepts.document_links import RowWriter, link
from irplatform.concepts.graph import FACTS, TABLE, VERSION, ConceptGraph
from irplatform.concepts.similar_names import build_linker, linked_kinds, linker_version
from irplatform.concepts.table import VERSION as TABLE_VERSION
from irplatform.concepts.table import ConceptTable
from irplatform.concepts.table_build import build_table
from irplatform.errors import InputError, counted
from irplatform.files.cache import Artifact, artifact, kept_json
from irplatform.files.digests import fingerprint
from irplatform.files.writing import atomic_write, within_home
from irplatform.knowledge import open_knowledge
from irplatform.system.console import LAST, notice, progress, sections, waiting
from irplatform.workers.distribution import batched, ordered_map

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.concepts import ConceptOptions
    from irplatform.data import Corpus


BATCH_DOCUMENTS = 100

TIMING = "timing.json"


def concept_graph(corpus: Corpus, options: ConceptOptions, workers: int | None = None) -> Artifact:
    """The concept graph of a corpus, built if it is not in the cache; rows are in its order.

    Raises:
        InputError: no knowledge base is installed, or none has names; scispaCy is missing; the
            corpus is empty.
    """
    started = time.monotonic()
    identity = ConceptGraph.identity(options)
    names = options.bases()
    knowledge = open_knowledge(names)
    full_options = options.model_copy(update={"knowledge": names})
    depends_on = {**identity, "corpus": corpus.fingerprint}
    facts = {
        "version": VERSION,
        "fingerprint": fingerprint(depends_on),
        "corpus": {"name": corpus.name, "fingerprint": corpus.fingerprint},
        "knowledge": {base.name: base.fingerprint for base in knowledge.bases},
        "pipeline": identity["pipeline"],
        "options": identity["options"],
    }

    with sections(2) as finished:
        # First: knowledge bases without names then leave no half-built graph.
        table = concept_table(names)
        linker = linker_index(table, full_options) if options.linker == "scispacy" else None
        finished(1)

        def build(folder: Path) -> None:
            _build(corpus, folder, table, linker, full_options, facts, workers, started)

        return artifact("concepts", corpus.name, depends_on, build, resumable=True)


def concept_table(names: tuple[str, ...]) -> Path:
    """The concepts of knowledge bases as arrays; the graphs of all collections share them."""
    knowledge = open_knowledge(names)
    depends_on = {"version": TABLE_VERSION, "knowledge": knowledge.fingerprint}

    def build(folder: Path) -> None:
        notice(f"Bringing together the concepts of {', '.join(names)}.")
        build_table(knowledge.bases, folder)

    return artifact("concept-table", "-".join(names), depends_on, build).path


def linker_index(table: Path, options: ConceptOptions) -> Path:
    """The index of scispaCy's linker over names of concepts."""
    kinds = linked_kinds(options)
    depends_on = {"table": table.name, "kinds": kinds, "version": linker_version()}
    return artifact(
        "concept-linker",
        "-".join(kinds),
        depends_on,
        lambda folder: build_linker(ConceptTable(table), options, folder),
    ).path


def _build(
    corpus: Corpus,
    folder: Path,
    table: Path,
    linker: Path | None,
    options: ConceptOptions,
    facts: dict[str, Any],
    workers: int | None,
    started: float,
) -> None:
    with RowWriter(folder) as writer:
        offset = writer.documents
        if offset:
            notice(f"Concepts: going on after {counted(offset, 'document')}.")
        total = corpus.size_hint()
        remaining = None if total is None else max(0, total - offset)
        articles = (
            (document.id, document.title, document.abstract)
            for document in islice(corpus, offset, None)
        )
        tasks = batched(articles, BATCH_DOCUMENTS)
        places = str(within_home(table)), str(within_home(linker)) if linker else ""
        work = partial(link, *places, options.model_dump_json())
        reading = time.monotonic()
        with progress("finding concepts", remaining, "documents", part=LAST) as advance:
            for linked in ordered_map(work, tasks, workers=workers):
                writer.add(linked)
                advance(len(linked.doc_ids))
        of_documents = writer.seconds + time.monotonic() - reading
    if not writer.documents:  # as `index` refuses it
        shutil.rmtree(folder)
        raise InputError(f"the corpus '{corpus.name}' has no documents.")
    with waiting("writing concepts"):
        counts = writer.finish(ConceptTable(table).count)
        shutil.rmtree(folder / TABLE, ignore_errors=True)
        shutil.copytree(table, folder / TABLE)
        (folder / TABLE / "manifest.json").unlink()
    if without_text := counts["without_text"]:
        notice(f"without text, and so without concepts: {counted(without_text, 'document')}")
    with atomic_write(folder / TIMING) as file:
        duration = writer.seconds + time.monotonic() - started
        json.dump({"seconds": round(of_documents, 3), "whole": round(duration, 3)}, file)
    with atomic_write(folder / FACTS) as file:
        json.dump({**facts, **counts}, file, indent=1)


def open_graph(corpus: Corpus, options: ConceptOptions, workers: int | None = None) -> ConceptGraph:
    """The concept graph of a corpus, opened."""
    return ConceptGraph(concept_graph(corpus, options, workers).path)


def build_facts(
    corpus: Corpus, options: ConceptOptions, workers: int | None = None, *, name: str = ""
) -> dict[str, Any]:
    """Build a graph, or find it, and describe it for people and programs.

    `name` is the collection's name as the user gave it, by default the corpus's.

    Returns:
        Sizes, `edges` by source, `seconds` of the whole build and of finding concepts, to which
        `per_1000_documents` refers.
    """
    graph_artifact = concept_graph(corpus, options, workers)
    graph = ConceptGraph(graph_artifact.path)
    timing = kept_json(graph_artifact.path / TIMING)
    of_documents = float(timing["seconds"])
    documents = max(1, graph.document_count)
    sizes = ("documents", "links", "mentions", "concepts_found")
    return {
        "collection": name or corpus.name,
        "knowledge": ", ".join(graph.facts["knowledge"]),
        "concepts": graph.concept_count,
        **{size: graph.facts[size] for size in sizes},
        "concepts_per_document": round(graph.facts["links"] / documents, 2),
        "without_text": graph.facts["without_text"],
        "without_concept": graph.facts["without_concept"],
        "seconds": timing["whole"],
        "seconds_finding_concepts": of_documents,
        "folder": str(graph_artifact.path),
        "fingerprint": graph.fingerprint,
        "per_1000_documents": {
            "seconds_finding_concepts": round(1000 * of_documents / documents, 2),
            "links": round(1000 * graph.facts["links"] / documents),
            "mentions": round(1000 * graph.facts["mentions"] / documents),
        },
        "edges": [
            {"relation": "document-concept", "kb": "text", "edges": graph.facts["links"]},
            *({"relation": s.relation, "kb": s.kb, "edges": s.edges} for s in graph.sources),
        ],
    }
