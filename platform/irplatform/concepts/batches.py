"""What a worker process makes of some articles while a concept graph is built."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from irplatform.concepts.graph_files import Linked
from irplatform.concepts.linker import SimilarNames
from irplatform.concepts.options import ConceptOptions
from irplatform.concepts.pipeline import ConceptPipeline
from irplatform.concepts.table import ConceptTable
from irplatform.errors import PlatformError
from irplatform.system.workers import batched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from irplatform.data import Document

BATCH_DOCUMENTS = 100

Article = tuple[str, str, str]
"""Id, title, abstract."""


@dataclass(frozen=True)
class Task:
    """Articles to link.

    Attributes:
        table: folder of the concepts; every machine that works must see it.
        linker: folder of the linker's index, or "".
        options: of the graph, as JSON.
        articles: the articles.
    """

    table: str
    linker: str
    options: str
    articles: list[Article]


def batches(documents: Iterable[Document]) -> Iterator[list[Article]]:
    """Cut a stream of documents into lists."""
    articles = ((document.id, document.title, document.abstract) for document in documents)
    return batched(articles, BATCH_DOCUMENTS)


def link(task: Task) -> Linked:
    """Find the concepts of some articles; runs in a worker."""
    pipeline = pipeline_of(task.table, task.linker, task.options)
    articles = ((title, abstract) for _, title, abstract in task.articles)
    lengths, indices, counts = [], [], []
    for mentions in pipeline.mentions(articles):
        concepts, times = np.unique(
            np.array([mention.concept for mention in mentions], np.int32), return_counts=True
        )
        lengths.append(len(concepts))
        indices.append(concepts)
        counts.append(times)
    return Linked(
        doc_ids=[doc_id for doc_id, _, _ in task.articles],
        lengths=np.array(lengths, np.int32),
        indices=np.concatenate([*indices, np.empty(0, np.int32)]).astype(np.int32),
        counts=np.concatenate([*counts, np.empty(0, np.int32)]).astype(np.int32),
        empty=sum(not (title.strip() or text.strip()) for _, title, text in task.articles),
    )


@lru_cache(maxsize=2)
def pipeline_of(table: str, linker: str, options: str) -> ConceptPipeline:
    """The pipeline, made once per process.

    Raises:
        PlatformError: this machine does not see the folder of the concepts.
    """
    if not (Path(table) / "table.json").exists():
        raise PlatformError(
            f"{table} is not there: a worker on another machine needs the same IRPLATFORM_HOME, "
            "on a file system that all of them share."
        )
    chosen = ConceptOptions.model_validate_json(options)
    concepts = ConceptTable(Path(table))
    similar = SimilarNames(Path(linker), concepts, chosen) if linker else None
    return ConceptPipeline(concepts, chosen, similar)
