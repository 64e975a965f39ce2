"""What the baselines share that score a document by how often it has each word of the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat  # noqa: TC002 - the options need it

from irplatform.plugin import Documents, Field, Options, Reranker, Resources, Topic
from irplatform.text import FieldMatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Float64


class CountingOptions(Options):
    """The options of every baseline that counts words."""

    field: Literal["title", "abstract", "text"] = Field(
        "text", description="what is read; text is title and abstract"
    )


class CountingReranker(Reranker):
    """Scores by the counts of query words in one field; subclasses bring the formula.

    Words are those of the forward index, neither stemmed nor stopped, and so are the statistics of
    the field, which are those of the whole collection.
    """

    Options = CountingOptions
    options: CountingOptions

    def prepare(self, resources: Resources) -> None:
        """Open the forward index."""
        self._index: ForwardIndex = resources.forward_index()

    def weigh(self, match: FieldMatch) -> Float64:
        """The scores of documents, higher is better; finite also where the field is empty."""
        raise NotImplementedError(f"{type(self).__name__} does not define weigh()")

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one float each, higher is better."""
        query, rows = self._index.query_ids(topic.query), self._index.rows(documents.ids)
        scores: list[float] = self.weigh(
            FieldMatch(self._index, self.options.field, query, rows)
        ).tolist()
        return scores


# Documents by decreasing id: the uninformed ranker that every other one has to beat.
#
# Mohan et al. (WWW 2018, table 2) rank by decreasing document id "to provide a low threshold of
# performance". Here every run breaks ties in that order, so it is the ranking of a constant score.


class ReverseDocumentId(Reranker):
    """Ranks by decreasing document id, compared as text, as trec_eval compares them."""

    citation: ClassVar[str] = (
        "“rev DocID” of Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. A Fast Deep Learning "
        "Model for Textual Relevance in Biomedical Information Retrieval. WWW 2018, table 2."
    )

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """The same score for all: ties are ranked by decreasing document id."""
        del topic
        return [0.0] * len(documents)


# BM25 over the words of one field, with the statistics of that field over the collection.
#
# As in Mohan et al. (WWW 2018, section 4.3.1), whose k1 = 2.0 and b = 0.75 are the defaults; the
# formula is that of their lexical factors (`irplatform.text.lexical`). Unlike Lucene's `bm25`, it
# reads unstemmed words, keeps stop words, and knows the exact lengths of documents.


class BM25Options(CountingOptions):
    """Options of BM25; `[paper]` marks a value of Mohan et al., WWW 2018."""

    k1: float = Field(2.0, ge=0, description="how slowly repeated words saturate [paper]")
    b: float = Field(0.75, ge=0, le=1, description="how much long fields are discounted [paper]")


class BM25(CountingReranker):
    """BM25 over title, abstract or both."""

    Options = BM25Options
    citation: ClassVar[str] = (
        "Stephen Robertson, Hugo Zaragoza. The Probabilistic Relevance Framework: BM25 and Beyond. "
        "FnTIR 2009, with the parameters of Mohan et al., WWW 2018, section 4.3.1."
    )
    options: BM25Options

    def weigh(self, match: FieldMatch) -> Float64:
        """BM25 of each document; 0 without a word of the query."""
        return match.bm25(self.options.k1, self.options.b)


# DLH13: divergence from randomness with a hypergeometric model and no parameter.
#
# Per word of the query, with tf its count in the document, F in the collection, qtf in the query,
# dl and avgdl the document's and the mean length of the field, and N the number of documents
# (Amati, ECIR 2006, in the form of Terrier's class of that name, whose constant k = 0.5 makes it
# DLH13):
#
#     qtf · (tf · log2((tf · avgdl / dl) · (N / F)) + 0.5 · log2(2π · tf · (1 − tf / dl)))
#         / (tf + 0.5)
#
# The second logarithm is Stirling's correction of the binomial coefficient (dl over tf). Where a
# field consists of one word alone (tf = dl) the formula says log2(0); the coefficient is then
# exactly 1 and needs no correction, so that the term is 0 here. Words more frequent than chance
# lets expect count for a document and others against it: nothing is cut off at zero.

K = 0.5
"""What is added to tf in the denominator."""


class DLH13(CountingReranker):
    """DLH13 over title, abstract or both."""

    citation: ClassVar[str] = (
        "Giambattista Amati. Frequentist and Bayesian Approach to Information Retrieval. ECIR "
        "2006; DLH13 is the variant of the Terrier platform."
    )

    def weigh(self, match: FieldMatch) -> Float64:
        """DLH13 of each document; 0 without a word of the query."""
        return dlh13(match)


def dlh13(match: FieldMatch) -> Float64:
    """DLH13 of each document; see the module for the formula.

    Returns:
        float64 [documents].
    """
    index, field = match.index, match.field
    document, word = np.nonzero(match.frequencies)
    tf = match.frequencies[document, word].astype(np.float64)
    length = match.lengths[document].astype(np.float64)
    expected = index.collection_frequency(field)[match.known][word] / index.count
    information = tf * np.log2(tf * index.average_length(field) / length / expected)
    rest = 1 - tf / length
    mixed = rest > 0
    information[mixed] += 0.5 * np.log2(2 * np.pi * tf[mixed] * rest[mixed])
    gains = match.repeats[word] * information / (tf + K)
    scores: Float64 = np.bincount(document, weights=gains, minlength=len(match.rows)) + 0.0
    return scores


# Unigram query likelihood with Dirichlet smoothing.
#
# The logarithm of the probability that a document's language model, smoothed with that of the
# collection, generates the query (Zhai and Lafferty, TOIS 2004; Mohan et al., WWW 2018, 4.3.1):
#
#     Σ qtf · log((tf + μ · p) / (dl + μ)),   p = (F + 1) / (T + 1)
#
# over all words of the query, those that the document lacks too. F is the word's count in the
# field over the collection and T the number of all words there; the added 1 is Lucene's, and gives
# words that the collection lacks a probability. Per word this is Lucene's
# `IndriDirichletSimilarity`. With `form = lucene` it is its `LMDirichletSimilarity`, which
# `--retriever qld` ranks by: only words that the document has count, log(1 + tf / (μ · p)) + log(μ
# / (dl + μ)) each, and never less than 0.

MEAN_LENGTH = "mean-length"


class UQLMOptions(CountingOptions):
    """Options of the query likelihood; the paper gives no μ."""

    mu: PositiveFloat | Literal["mean-length"] = Field(
        2000.0, description="smoothing, in words; mean-length: the mean length of the field"
    )
    form: Literal["likelihood", "lucene"] = Field(
        "likelihood",
        description="the query's log-likelihood, or Lucene's variant of it; see the docs",
    )


class UQLM(CountingReranker):
    """Query likelihood over title, abstract or both."""

    Options = UQLMOptions
    citation: ClassVar[str] = (
        "Chengxiang Zhai, John Lafferty. A Study of Smoothing Methods for Language Models Applied "
        "to Information Retrieval. TOIS 2004, as in Mohan et al., WWW 2018, section 4.3.1."
    )
    options: UQLMOptions

    def prepare(self, resources: Resources) -> None:
        """Open the forward index and settle μ."""
        super().prepare(resources)
        mu, field = self.options.mu, self.options.field
        self._words = int(self._index.collection_frequency(field).sum())
        # Where no document has the field, any positive μ gives all of them the same score.
        self._mu = mu if mu != MEAN_LENGTH else self._index.average_length(field) or 1.0

    def weigh(self, match: FieldMatch) -> Float64:
        """Log-likelihood (below 0), or Lucene's variant (from 0 on)."""
        likelihood = self.options.form == "likelihood"
        weigh = log_likelihood if likelihood else lucene_likelihood
        return weigh(match, self._words, float(self._mu))


def log_likelihood(match: FieldMatch, words: int, mu: float) -> Float64:
    """Log-likelihood of the query in each document's smoothed language model.

    Returns:
        float64 [documents].
    """
    background = mu * _probabilities(match, words)
    unseen = mu / (words + 1)
    lengths = match.lengths + mu
    known = (np.log(match.frequencies + background) * match.repeats).sum(axis=1)
    constant = match.unknown * np.log(unseen) - len(match.query) * np.log(lengths)
    return np.asarray(known + constant)


def lucene_likelihood(match: FieldMatch, words: int, mu: float) -> Float64:
    """What Lucene's `LMDirichletSimilarity` computes, on exact lengths; see `log_likelihood`."""
    background = mu * _probabilities(match, words)
    shares = np.log1p(match.frequencies / background)
    shares += np.log(mu / (match.lengths + mu))[:, None]
    shares[match.frequencies == 0] = 0
    return np.asarray((np.maximum(shares, 0) * match.repeats).sum(axis=1))


def _probabilities(match: FieldMatch, words: int) -> Float64:
    counts = match.index.collection_frequency(match.field)[match.known]
    probabilities: Float64 = (counts + 1.0) / (words + 1.0)
    return probabilities
