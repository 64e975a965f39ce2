"""Our rerankers and retrievers as transformers of PyTerrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyterrier as pt

import irplatform as ir
from irplatform.plugin import InputError, Ranking, Run
from irplatform_pyterrier.frames import filled, results_of, run_of, texts_of, topics_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

_AUTO = "auto"


class Reranker(pt.Transformer):  # type: ignore[misc]
    """A reranker; see `irplatform_pyterrier.reranker`.

    Attributes:
        ready: the reranker, from `irplatform.reranker`.
    """

    def __init__(
        self, ready: Any, interpolate: float | str | None, fields: Sequence[str], cached: bool
    ) -> None:
        self.ready = ready
        self._interpolate = interpolate
        self._fields = fields
        self._cached = cached

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Score the results of each query anew."""
        mixes = ["score"] if self._interpolate is not None else []
        needed = ["query", *mixes, *self._fields]
        keywords: dict[str, Any] = {"cached": self._cached}
        inp = filled(inp, self.ready.collection)
        with pt.validate.any(inp, context=self) as v:
            if self.ready.collection is not None:
                v.result_frame(needed)
            else:
                v.result_frame([*needed, "text"])
                v.result_frame([*needed, "title", "abstract"])
        if self.ready.collection is None:
            keywords = {"texts": texts_of(inp)}
        topics = topics_of(inp, self.ready.collection, self._fields)
        first = run_of(inp, "first stage")
        rank = self._alone if self._interpolate is None else self._mixed
        run = rank(topics, first, keywords)
        # Columns of documents, such as their texts, stay beside them.
        rows = inp.drop(columns=["score", "rank"], errors="ignore")
        ranked = results_of(rows[["qid"]], run)
        return ranked.merge(rows, on=["qid", "docno"])[[*rows.columns, "score", "rank"]]

    def _alone(self, topics: Sequence[Any], first: Run, keywords: Mapping[str, Any]) -> Run:
        candidates = {topic.id: first.rankings[topic.id].doc_ids for topic in topics}
        scores = self.ready.scores(topics, candidates, **keywords)
        return Run(self.ready.name, {t: Ranking.of(candidates[t], scores[t]) for t in candidates})

    def _mixed(self, topics: Sequence[Any], first: Run, keywords: Mapping[str, Any]) -> Run:
        weight = None if self._interpolate == _AUTO else float(self._interpolate or 0)
        mixed: Run = self.ready.rerank(topics, first, weight, **keywords)
        return mixed

    def __repr__(self) -> str:
        mixed = "" if self._interpolate is None else f", interpolate={self._interpolate!r}"
        collection = self.ready.collection and self.ready.collection.id
        head = f"{self.ready.name!r}, collection={collection!r}{mixed}"
        return f"irplatform.reranker({head}, fingerprint={self.ready.fingerprint!r})"


class Retriever(pt.Transformer):  # type: ignore[misc]
    """A retriever; see `irplatform_pyterrier.retriever`.

    Attributes:
        ready: the retriever, from `irplatform.retriever`.
    """

    def __init__(self, ready: Any, num_results: int, fields: Sequence[str]) -> None:
        self.ready = ready
        self._num_results = num_results
        self._fields = fields

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Search for each query."""
        inp = filled(inp, self.ready.collection)
        pt.validate.query_frame(inp, extra_columns=["query", *self._fields], context=self)
        topics = topics_of(inp, self.ready.collection, self._fields)
        return results_of(inp, self.ready.search(topics, self._num_results))

    def fuse_rank_cutoff(self, k: int) -> pt.Transformer:
        """The same with fewer results: PyTerrier asks for `retriever % k`."""
        return Retriever(self.ready, min(k, self._num_results), self._fields)

    def __repr__(self) -> str:
        choice = self.ready.choice
        head = f"{choice.name!r}, collection={self.ready.collection.id!r}"
        options = choice.options.model_dump_json(exclude_defaults=True)
        return f"irplatform.retriever({head}, num_results={self._num_results}, settings={options})"


class Texts(pt.Transformer):  # type: ignore[misc]
    """Adds the texts of documents to results."""

    def __init__(self, collection: Path | str) -> None:
        self._collection = str(collection)
        self._resources = ir.retriever("bm25", collection).resources

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Add the columns `title`, `abstract` and `text`."""
        with pt.validate.any(inp, context=self) as v:
            v.result_frame()
            v.document_frame()
        ids = [Run.id_text(doc_id, "a docno") for doc_id in inp["docno"]]
        unique = [*dict.fromkeys(ids)]
        by_id = {document.id: document for document in self._resources.documents(unique)}
        documents = [by_id[doc_id] for doc_id in ids]
        return inp.assign(
            title=[document.title for document in documents],
            abstract=[document.abstract for document in documents],
            text=[document.text for document in documents],
        )

    def __repr__(self) -> str:
        return f"irplatform.texts({self._collection!r})"


def open_transformer(
    name: str,
    collection: Path | str | None,
    interpolate: float | str | None,
    fields: Sequence[str],
    cached: bool,
    options: Mapping[str, Any],
) -> Reranker:
    """A reranker that is trained, or taken from the cache or a checkpoint.

    Raises:
        InputError: a wrong name, option or share.
    """
    if isinstance(interpolate, str) and interpolate != _AUTO:
        raise InputError(f"interpolate is '{interpolate}'; it is a number, 'auto' or None.")
    if isinstance(interpolate, int | float) and not 0 <= interpolate <= 1:
        raise InputError(f"interpolate is {interpolate}; it must be from 0 to 1.")
    if collection is None and interpolate == _AUTO and options.get("checkpoint") is None:
        raise InputError("interpolate='auto' needs a checkpoint, or a collection to choose it on.")
    ready = ir.reranker(
        name, collection, interpolate="auto" if interpolate == _AUTO else 0.0, **options
    )
    return Reranker(ready, interpolate, fields, cached)


def open_search(
    name: str,
    collection: Path | str,
    num_results: int,
    fields: Sequence[str],
    options: Mapping[str, Any],
) -> Retriever:
    """A retriever.

    Raises:
        InputError: a wrong name, option or number.
    """
    if num_results < 1:
        raise InputError(f"num_results is {num_results}; it must be at least 1.")
    return Retriever(ir.retriever(name, collection, **options), num_results, fields)
