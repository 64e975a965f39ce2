"""A bridge to PyTerrier, both ways.

Our rerankers and retrievers are transformers of PyTerrier:

    import irplatform_pyterrier as ir

    bm25 = ir.retriever("bm25", collection="demo")
    delta = ir.reranker("delta", collection="demo")
    pt.Experiment([bm25, bm25 % 100 >> delta], ir.topics("demo"), ir.qrels("demo"), ["ndcg_cut_20"])

A transformer of PyTerrier is the reranker or retriever `pyterrier`, whose option `transformer`
names it. Craig Macdonald, Nicola Tonellotto. Declarative Experimentation in Information Retrieval
using PyTerrier. ICTIR 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.kit import require
from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pandas import DataFrame
    from pyterrier import Transformer

    from irplatform.plugin import RegisterReranker, RegisterRetriever

__all__ = ["documents", "qrels", "reranker", "retriever", "texts", "topics"]


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `pyterrier`."""
    register("pyterrier", "irplatform_pyterrier.theirs:PyTerrierReranker")


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `pyterrier`."""
    register("pyterrier", "irplatform_pyterrier.theirs:PyTerrierRetriever")


def reranker(
    name: str,
    *,
    collection: Path | str | None,
    checkpoint: Path | str | None = None,
    settings: Mapping[str, object] | None = None,
    interpolate: float | str | None = None,
    fields: Sequence[str] = (),
    cached: bool = True,
    **options: Any,
) -> Transformer:
    """A reranker as a transformer: from results with `qid`, `query` and `docno` to new scores.

    One that learns takes `checkpoint`, or is trained on the collection's training topics, as in
    `platform run`. Equal scores are ordered by document id, descending.

    Args:
        name: of the reranker.
        collection: its documents are those that are reranked: a name, an ir_datasets id or a path.
            None reranks the texts in the columns `title`, and `abstract` or else `text`, with a
            reranker that reads nothing else, such as `cross-encoder`.
        checkpoint: a folder that `platform train` wrote.
        settings: options of the reranker, as `{"filters": 64}`.
        interpolate: None gives the reranker's own scores; a number from 0 to 1 mixes them with the
            `score` column, which has this share; "auto" takes the share that was chosen in
            training. Mixed scores are those of the runs that `platform run` writes.
        fields: columns that hold fields of the topics, such as `disease`. A topic of the collection
            has its own fields without them.
        cached: whether scores are kept in the cache, and taken from it.
        options: further attributes of `irplatform.RunSettings`: `device`, `train_on`, `seed`.

    Raises:
        InputError: a wrong name or option, or a reranker that learns without anything to learn
            from. Transforming raises it where a document is not in the collection.

    Examples:
        >>> bm25 >> reranker("bm25-title", collection="demo", settings={"k1": 1.2})
    """
    require("irplatform_pyterrier", "pyterrier")
    from irplatform_pyterrier.ours import open_transformer

    keywords = {**options, "checkpoint": checkpoint, "settings": settings or {}}
    return open_transformer(name, collection, interpolate, tuple(fields), cached, keywords)


def retriever(
    name: str,
    *,
    collection: Path | str,
    num_results: int = 1000,
    settings: Mapping[str, object] | None = None,
    fields: Sequence[str] = (),
    **options: Any,
) -> Transformer:
    """A retriever as a transformer: from queries with `qid` and `query` to results.

    Args:
        name: of the retriever.
        collection: a name, an ir_datasets id or a path.
        num_results: documents per query at most.
        settings: options of the retriever, as `{"k1": 1.2}`.
        fields: columns that hold fields of the topics, as in `reranker`.
        options: further attributes of `irplatform.RunSettings`: `expand`, `device`.

    Raises:
        InputError: a wrong name or option.

    Examples:
        >>> retriever("rm3", collection="demo", num_results=100).search("melanoma BRAF")
    """
    require("irplatform_pyterrier", "pyterrier")
    from irplatform_pyterrier.ours import open_search

    keywords = {**options, "settings": settings or {}}
    return open_search(name, collection, num_results, tuple(fields), keywords)


def texts(collection: Path | str) -> Transformer:
    """A transformer that adds the columns `title`, `abstract` and `text` (both) to results.

    Examples:
        >>> retriever("bm25", collection="demo") >> texts("demo") >> their_reranker
    """
    require("irplatform_pyterrier", "pyterrier")
    from irplatform_pyterrier.ours import Texts

    return Texts(collection)


def topics(collection: Path | str) -> DataFrame:
    """The topics of a collection as a frame: `qid`, `query`, and a column for each field."""
    require("irplatform_pyterrier", "pyterrier")
    from irplatform_pyterrier.frames import topics_frame

    return topics_frame(collection)


def qrels(collection: Path | str) -> DataFrame:
    """The judgments of a collection as a frame: `qid`, `docno` and `label`.

    Raises:
        InputError: it has none.
    """
    require("irplatform_pyterrier", "pyterrier")
    from irplatform_pyterrier.frames import qrels_frame

    return qrels_frame(collection)


def documents(collection: Path | str) -> Iterator[dict[str, str]]:
    """The documents of a collection, to be indexed by PyTerrier: `docno`, `title` and `abstract`.

    Examples:
        >>> PisaIndex("demo.pisa", text_field=["title", "abstract"]).index(documents("demo"))
    """
    from irplatform_pyterrier.frames import documents_of

    return documents_of(collection)
