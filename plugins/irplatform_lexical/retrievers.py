"""First-stage retrievers over titles and abstracts in the Lucene index.

Each searches for the words of `topic.query` (`irplatform.lucene.queries` has the formulas);
`bm25` can expand topics with knowledge bases (`irplatform.expansion`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from irplatform.kit import (
    BM25,
    QLD,
    RM3,
    Expander,
    QueryPlan,
    content_words,
    open_knowledge,
)
from irplatform.plugin import Options, Reads, Resources, Retriever, Run, Topic, Traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Saturation(Options):
    """The options of BM25's formula."""

    k1: float = Field(0.9, ge=0, description="how slowly repeated words saturate")
    b: float = Field(0.4, ge=0, le=1, description="how much long documents are discounted")


class BM25Options(Saturation):
    """The options of `bm25`."""

    expand: tuple[str, ...] = Field((), description="knowledge bases that expand the queries")
    plan: QueryPlan = Field(default_factory=QueryPlan, description="how a topic is expanded")


class QLDOptions(Options):
    """The options of `qld`."""

    mu: float = Field(1000, gt=0, description="Dirichlet smoothing, in words")


class RM3Options(Saturation):
    """The options of `rm3`."""

    fb_terms: int = Field(10, gt=0, description="how many words the feedback adds")
    fb_docs: int = Field(10, gt=0, description="how many documents it takes them from")
    original_query_weight: float = Field(0.5, ge=0, le=1, description="share of the original words")


class LuceneRetriever(Retriever):
    """Searches the collection's index; subclasses say how to score."""

    def traits(self) -> Traits:
        return Traits(seeded=False, limits_dates=True)

    def similarity(self) -> BM25 | QLD:
        raise NotImplementedError(f"{type(self).__name__} does not define similarity()")

    def feedback(self) -> RM3 | None:
        """The feedback that expands queries; None for none."""
        return None

    def queries(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, Any]:
        """The query of every topic; its words, unless subclasses make something else of it."""
        del resources
        return {topic.id: topic.query for topic in topics}

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        index = resources.index()
        rankings = index.search(
            self.queries(topics, resources),
            depth,
            similarity=self.similarity(),
            feedback=self.feedback(),
            before=index.date_limits(topics),
            threads=resources.threads,
        )
        return Run(type(self).__name__, rankings)

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        words = self.queries([topic], resources)[topic.id]
        leaf = super().explain(replace(topic, query=words), resources)
        index, feedback = resources.index(), self.feedback()
        if feedback is None:
            return leaf
        weights, note = index.expanded(
            words, self.similarity(), feedback, index.date_limits([topic]).get(topic.id)
        )
        ordered = sorted(weights.items(), key=lambda pair: -pair[1])
        parts = [{**leaf, "weight": weight, "text": word} for word, weight in ordered]
        return {"kind": "sum", "note": note, "parts": parts}


class BM25Formula(LuceneRetriever):
    """The base of retrievers that score by BM25."""

    citation = "Robertson and Zaragoza, The Probabilistic Relevance Framework (FnTIR 2009)"
    options: Saturation

    def similarity(self) -> BM25 | QLD:
        return BM25(self.options.k1, self.options.b)


class BM25Retriever(BM25Formula):
    """BM25 over title and abstract."""

    Options: ClassVar[type[Options]] = BM25Options
    options: BM25Options

    def queries(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, Any]:
        if not self.options.expand:
            return super().queries(topics, resources)
        expander = self._expander(resources)
        with resources.progress("expanding queries", len(topics), "topics") as advance:
            queries: dict[str, Any] = {}
            are_named = False
            for topic in topics:
                expression = expander.expression(topic)
                are_named = are_named or "names of" in str(expander.explained(expression))
                queries[topic.id] = expander.compiled(expression)
                advance(1)
        if not are_named:
            names = ", ".join(self.options.expand)
            resources.notice(f"no topic names anything that {names} knows: no query is expanded.")
        return queries

    def traits(self) -> Traits:
        names = ", ".join(self.options.expand)
        return replace(super().traits(), remark=f"queries expanded with {names}" if names else "")

    def reads(self) -> Reads:
        if not self.options.expand:
            return Reads()
        folds = self.options.plan.dependencies()
        return Reads(more={"knowledge": open_knowledge(self.options.expand).fingerprint, **folds})

    def check_topics(self, topics: Sequence[Topic]) -> None:
        if self.options.expand:
            self.options.plan.check_fields(topics)

    def describe_run(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, object]:
        plan = self.options.plan
        choice = plan.chosen_on(topics) if self.options.expand else None
        if choice is None:
            return {}
        resources.notice(str(choice))
        warning = {} if choice.held_out else {"warning": str(choice)}
        return {"plan_chosen_on": choice.as_json(), **warning}

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        if not self.options.expand:
            return super().explain(topic, resources)
        expander = self._expander(resources)
        return expander.explained(expander.expression(topic))

    def _expander(self, resources: Resources) -> Expander:
        return Expander(resources.index(), self.options.expand, self.options.plan)


class QLDRetriever(LuceneRetriever):
    """Query likelihood with Dirichlet smoothing over title and abstract."""

    Options: ClassVar[type[Options]] = QLDOptions
    options: QLDOptions
    citation = "Zhai and Lafferty, A Study of Smoothing Methods for Language Models (SIGIR 2001)"

    def similarity(self) -> BM25 | QLD:
        return QLD(self.options.mu)


class RM3Retriever(BM25Formula):
    """BM25 whose query is expanded with words of the first documents that it finds."""

    Options: ClassVar[type[Options]] = RM3Options
    options: RM3Options
    citation = "Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD (TREC 2004)"

    def feedback(self) -> RM3:
        options = self.options
        return RM3(options.fb_terms, options.fb_docs, options.original_query_weight)


class MBMRetriever(BM25Formula):
    """BM25 for cleaned queries: Greek letters as words, no stop words, every word once.

    After DeepSenSe's first stage, for which the paper gives no formula. The reranker `mbm` finds
    `k1` and `b` on training topics.
    """

    Options: ClassVar[type[Options]] = Saturation
    citation = "The first stage of: Lo et al. DeepSenSe, section “Datasets”, which gives no formula"

    def queries(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, Any]:
        del resources
        words = {topic.id: content_words(topic.query) or [topic.query] for topic in topics}
        return {topic: " ".join(dict.fromkeys(terms)) for topic, terms in words.items()}
