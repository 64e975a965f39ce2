"""Unigram query likelihood with Dirichlet smoothing.

The logarithm of the probability that a document's language model, smoothed with that of the
collection, generates the query (Zhai and Lafferty, TOIS 2004; Mohan et al., WWW 2018, 4.3.1):

    Σ qtf · log((tf + μ · p) / (dl + μ)),   p = (F + 1) / (T + 1)

over all words of the query, those that the document lacks too. F is the word's count in the field
over the collection and T the number of all words there; the added 1 is Lucene's, and gives words
that the collection lacks a probability. Per word this is Lucene's `IndriDirichletSimilarity`. With
`form = lucene` it is its `LMDirichletSimilarity`, which `--retriever qld` ranks by: only words that
the document has count, log(1 + tf / (μ · p)) + log(μ / (dl + μ)) each, and never less than 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat  # noqa: TC002 - the options need it

from irplatform.plugin import Field, Resources
from irplatform_baselines.counting import CountingOptions, CountingReranker

if TYPE_CHECKING:
    from irplatform.text import FieldMatch
    from irplatform.text.arrays import Float64

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
