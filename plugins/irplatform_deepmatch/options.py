"""The options of DeepMatch: the paper gives no sizes, so all of them are our choice."""

from __future__ import annotations

from irplatform.kit import LoopSettings, PairSampler, VectorOptions
from irplatform.plugin import Field, Options


class DeepMatchOptions(Options):
    """Options of DeepMatch."""

    document_words: int = Field(100, gt=0, description="words read of a document")
    query_words: int = Field(30, gt=0, description="words read of a query")
    first_maps: int = Field(8, gt=0, description="feature maps of the first convolution, 3 × 3")
    second_maps: int = Field(16, gt=0, description="feature maps of the second convolution, 3 × 3")
    grid_query: int = Field(3, gt=0, description="rows that the query's words are pooled to")
    grid_document: int = Field(10, gt=0, description="columns that a document's are pooled to")
    hidden: int = Field(32, gt=0, description="width of the hidden feed-forward layer")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout before the feed-forward stage")
    l2: float = Field(1e-5, ge=0, description="L2 coefficient of all weights")
    pairs: PairSampler.Settings = Field(
        PairSampler.Settings(), description="how training pairs are drawn"
    )
    loop: LoopSettings = Field(LoopSettings(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")
