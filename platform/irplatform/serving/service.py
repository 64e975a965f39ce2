"""A retriever and a reranker that answer requests: search, rerank, explain.

Requests of one kind are answered together: a model scores many texts at once faster than one by
one, and the answers are the same.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.data import Document
from irplatform.errors import InputError
from irplatform.experiment.run_settings import one_reranker
from irplatform.features.calculator import forget_features
from irplatform.queries.free_texts import new_topic
from irplatform.queries.ready import reranker as make_reranker
from irplatform.queries.ready import retriever as make_retriever
from irplatform.reranking.explain import explanations
from irplatform.serving.requests import Explain, Request, Rerank, RerankForInfinity, Search, Text
from irplatform.spelling import option
from irplatform.system.arithmetic import settings_kept
from irplatform.system.console import waiting
from irplatform.text.given_texts import GivenTexts, substitute
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from irplatform.data import FieldValue
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.queries.ready import ReadyReranker, ReadyRetriever

Answer = dict[str, Any]
_WITHOUT_COLLECTION = ("settings", "preset", "checkpoint", "device", "threads", "model_threads")
"""Settings of a reranker that has no collection."""


@dataclass(frozen=True)
class Service:
    """Answers requests with a reranker, a retriever, or both.

    Attributes:
        reranker: scores texts, and documents of its collection.
        retriever: searches the collection.
        rerank_depth: documents of a search that are reranked.
    """

    reranker: ReadyReranker | None
    retriever: ReadyRetriever | None
    rerank_depth: int = 100

    @property
    def name(self) -> str:
        """The reranker's name, or the retriever's."""
        return self._reranker.name if self.reranker else self._retriever.choice.name

    def about(self) -> dict[str, Any]:
        """Return the names of what is served."""
        return {
            "version": __version__,
            "reranker": self.reranker and self.reranker.name,
            "retriever": self.retriever and self.retriever.choice.name,
            "collection": self.retriever and self.retriever.collection.id,
        }

    def warm_up(self) -> None:
        """Answer a first request, so that nothing is left to load."""
        if self.retriever:
            self.search([Search(query="melanoma")])
        elif self.reranker:
            request = {"query": "melanoma", "documents": ["BRAF in melanoma"]}
            self.rerank([Rerank.model_validate(request)])

    def kind(self, request: Request) -> Hashable:
        """Return a key: requests with the same one can be answered together."""
        if isinstance(request, Search):
            return Search, self._depth(request), self._reranks(request)
        return type(request), request.by_id

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer requests of one kind."""
        answers: dict[type[Request], Callable[[Any], list[Answer]]] = {
            Search: self.search,
            Rerank: self.rerank,
            RerankForInfinity: self.rerank,
            Explain: self.explain,
        }
        try:
            return answers[type(requests[0])](requests)
        finally:
            forget_features()  # each request is a new topic

    @settings_kept()
    def search(self, requests: Sequence[Search]) -> list[Answer]:
        """Find documents for queries, and rerank them if there is a reranker."""
        retriever = self._retriever
        topics = [new_topic(r.query, _fields(r.fields)) for r in requests]
        run = retriever.search(topics, self._depth(requests[0]))
        if self.reranker and self._reranks(requests[0]):
            run = self.reranker.rerank(topics, run, cached=False)
        rankings = [
            run.rankings[topic.id].top(request.top_n)
            for topic, request in zip(topics, requests, strict=True)
        ]
        doc_ids = list(dict.fromkeys(doc_id for ranking in rankings for doc_id in ranking.doc_ids))
        documents_by_id = dict(zip(doc_ids, retriever.resources.documents(doc_ids), strict=True))
        answers = []
        for ranking, request in zip(rankings, requests, strict=True):
            documents = [documents_by_id[doc_id] for doc_id in ranking.doc_ids]
            results = [
                {
                    "rank": rank,
                    "id": document.id,
                    "score": score,
                    "title": document.title,
                    **({"abstract": document.abstract} if request.return_documents else {}),
                }
                for rank, ((_, score), document) in enumerate(
                    zip(ranking, documents, strict=True), start=1
                )
            ]
            answers.append({"query": request.query, "results": results})
        return answers

    @settings_kept()
    def rerank(self, requests: Sequence[Rerank]) -> list[Answer]:
        """Score documents for queries; all are texts, or all are given by id."""
        reranker = self._reranker
        topics = [new_topic(r.query, _fields(r.fields)) for r in requests]
        candidates: dict[str, list[str]] = {}
        texts: dict[str, Document] = {}
        for topic, request in zip(topics, requests, strict=True):
            if request.by_id:
                candidates[topic.id] = request.ids
                self._refuse_unknown(request.ids)
            else:
                documents = _documents(request.documents, f"{topic.id}.")
                candidates[topic.id] = [*documents]
                texts |= documents
        distinct = {topic: list(dict.fromkeys(ids)) for topic, ids in candidates.items()}
        scores = reranker.scores(topics, distinct, texts=texts or None, cached=False)
        answers = []
        for topic, request in zip(topics, requests, strict=True):
            of_id = dict(zip(distinct[topic.id], scores[topic.id].tolist(), strict=True))
            of_place = [of_id[doc_id] for doc_id in candidates[topic.id]]
            best = sorted(range(len(of_place)), key=lambda place: (-of_place[place], place))
            results = [
                {
                    "index": place,
                    "relevance_score": of_place[place],
                    **(
                        {"document": document}
                        if (document := self._document(request, place))
                        else {}
                    ),
                }
                for place in best[: request.top_n]
            ]
            answers.append({"model": reranker.name, "results": results, **request.counts})
        return answers

    @settings_kept()
    def explain(self, requests: Sequence[Explain]) -> list[Answer]:
        """Explain the scores of documents by the first member of the reranker."""
        return [self._explain(request) for request in requests]

    def _explain(self, request: Explain) -> Answer:
        reranker, topic = self._reranker, new_topic(request.query, _fields(request.fields))
        system = reranker.system
        if request.by_id:
            self._refuse_unknown(request.ids)
            texts = None
            doc_ids = list(dict.fromkeys(request.ids))
        else:
            texts = GivenTexts(_documents(request.documents, f"{topic.id}."))
            doc_ids = list(texts.documents)
        with nullcontext() if texts is None else substitute(texts):
            documents = reranker.resources.documents(doc_ids)
            reasons = explanations(system.choice.registration, system.members[0], topic, documents)
        results = [
            {
                "index": place,
                **({"id": doc_id} if request.by_id else {}),
                "explanation": explanation,
            }
            for place, (doc_id, explanation) in enumerate(zip(doc_ids, reasons, strict=True))
        ]
        return {"model": reranker.name, "members": len(system.members), "results": results}

    def _reranks(self, request: Search) -> bool:
        return self.reranker is not None and request.rerank

    def _depth(self, request: Search) -> int:
        return max(request.top_n, self.rerank_depth if self._reranks(request) else 0)

    @property
    def _reranker(self) -> ReadyReranker:
        if self.reranker is None:
            raise InputError(
                f"this server has no reranker: start it with {option('reranker', 'NAME')}."
            )
        return self.reranker

    @property
    def _retriever(self) -> ReadyRetriever:
        if self.retriever is None:
            raise InputError(
                f"this server has no collection: start it with {option('collection', 'NAME')}."
            )
        return self.retriever

    def _refuse_unknown(self, doc_ids: Sequence[str]) -> None:
        if self._reranker.collection is None:
            raise InputError(
                f"documents have ids in a collection: start with {option('collection', 'NAME')}."
            )
        contains = self._reranker.resources.index().contains
        for doc_id in doc_ids:
            if not contains(doc_id):
                raise InputError(f"'{self._reranker.collection.id}' has no document '{doc_id}'.")

    def _document(self, request: Rerank, place: int) -> Mapping[str, Any] | str | None:
        if not request.return_documents:
            return None
        text = request.documents[place]
        if request.by_id:
            (document,) = self._reranker.resources.documents([text.id])
            text = Text(title=document.title, text=document.abstract)
            text.sent = {"id": document.id, "title": document.title, "abstract": document.abstract}
        texts = isinstance(request, RerankForInfinity)
        return f"{text.title} {text.text}".strip() if texts else text.sent


def open_service(settings: RunSettings, rerank_depth: int) -> Service:
    """Load the systems that settings name, and answer a first request with them.

    A reranker without a collection scores texts alone. One that learns is trained as in a run, so
    that both use the same checkpoint; `rerank_depth` holds for answers only.
    """
    reranker = retriever = None
    if settings.rerankers:
        name = one_reranker(settings, "platform serve")
        run_settings = settings if settings.collection else None
        alone = {} if run_settings else {n: getattr(settings, n) for n in _WITHOUT_COLLECTION}
        reranker = make_reranker(name, run_settings, **alone)
    if settings.collection:
        (name,) = settings.first_stage.retrievers
        retriever = make_retriever(name, settings)
    service = Service(reranker, retriever, rerank_depth)
    with waiting("warming up"), suppress(InputError):  # some rerankers score no texts
        service.warm_up()
    return service


def _fields(fields: Mapping[str, str | list[str]]) -> dict[str, FieldValue]:
    return {n: value if isinstance(value, str) else tuple(value) for n, value in fields.items()}


def _documents(texts: Sequence[Text], prefix: str) -> dict[str, Document]:
    pairs = ((f"{prefix}{number}", text) for number, text in enumerate(texts))
    return {i: Document(i, t.title, t.text, _fields(t.fields)) for i, t in pairs}
