"""DLH13: divergence from randomness with a hypergeometric model and no parameter.

Per word of the query, with tf its count in the document, F in the collection, qtf in the query, dl
and avgdl the document's and the mean length of the field, and N the number of documents (Amati,
ECIR 2006, in the form of Terrier's class of that name, whose constant k = 0.5 makes it DLH13):

    qtf · (tf · log2((tf · avgdl / dl) · (N / F)) + 0.5 · log2(2π · tf · (1 − tf / dl)))
        / (tf + 0.5)

The second logarithm is Stirling's correction of the binomial coefficient (dl over tf). Where a
field consists of one word alone (tf = dl) the formula says log2(0); the coefficient is then exactly
1 and needs no correction, so that the term is 0 here. Words more frequent than chance lets expect
count for a document and others against it: nothing is cut off at zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform_baselines.counting import CountingReranker

if TYPE_CHECKING:
    from irplatform.text import FieldMatch
    from irplatform.text.arrays import Float64

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
