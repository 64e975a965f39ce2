"""The options of Delta: sizes, features and training, with the paper's values as defaults."""

from __future__ import annotations

from typing import Any, Literal

from irplatform.plugin import Field, Options
from irplatform.text import LEX3, LexicalNames, VectorOptions
from irplatform.training import LoopSettings, PairSettings

PAPER: dict[str, object] = {
    "query_words": 7,
    "pairs.relevant": "judged",
    "pairs.unjudged_share": 0.0,
}
"""Where the defaults depart from the paper: its queries have at most seven words, and it learns
from judged documents alone (section 4.1)."""


class DeltaOptions(Options):
    """Options of Delta; `[paper]` marks a value of Mohan et al., WWW 2018."""

    filters: int = Field(32, gt=0, description="filters of each convolution [paper]")
    convolutions: int = Field(3, gt=0, description="convolution layers, each of width 3 [paper]")
    hidden: int = Field(32, gt=0, description="width of the hidden feed-forward layer")
    document_words: int = Field(50, gt=0, description="words of a document that are read [paper]")
    query_words: int | None = Field(
        None, gt=0, description="words of a query that are read; none reads all"
    )
    lexical: LexicalNames = Field(
        LEX3, description="lexical match features beside the text [paper: Lex3]"
    )
    features: tuple[str, ...] = Field(
        (), description="groups of features beside the lexical ones (`platform features list`)"
    )
    feature_settings: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description='their options, as "feature_settings.GROUP.OPTION=VALUE"'
    )
    difference: bool = Field(True, description="use the vectors d − q* (ablation of table 6)")
    delta_features: bool = Field(
        True, description="use cosine, distance and proximity of d and q* (ablation of table 6)"
    )
    form: Literal["tabulated", "plain"] = Field(
        "tabulated", description="how scores are computed; both give the same"
    )
    slope: float = Field(0.1, ge=0, lt=1, description="negative slope of the Leaky ReLU")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout before the max-pooling")
    l2_convolution: float = Field(1e-5, ge=0, description="L2 coefficient of the convolutions")
    l2_feed_forward: float = Field(1e-5, ge=0, description="L2 coefficient of the feed-forward")
    pairs: PairSettings = Field(PairSettings(), description="how training pairs are drawn")
    loop: LoopSettings = Field(LoopSettings(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")
