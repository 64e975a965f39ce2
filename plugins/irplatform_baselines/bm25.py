"""BM25 over the words of one field, with the statistics of that field over the collection.

As in Mohan et al. (WWW 2018, section 4.3.1), whose k1 = 2.0 and b = 0.75 are the defaults; the
formula is that of their lexical factors (`irplatform.text.field_match`). Unlike Lucene's `bm25`, it
reads unstemmed words, keeps stop words, and knows the exact lengths of documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.plugin import Field
from irplatform_baselines.counting import CountingOptions, CountingReranker

if TYPE_CHECKING:
    from irplatform.text import FieldMatch
    from irplatform.text.arrays import Float64


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
