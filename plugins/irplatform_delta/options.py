"""The options of Delta (2018), Delta (2017) and SevMos, with the papers' values as presets."""

from __future__ import annotations

from typing import Any, Literal

from irplatform.kit import (
    ALL18,
    LexicalNames,
    LoopSettings,
    PairSampler,
    PointSampler,
    VectorOptions,
)
from irplatform.plugin import Field, Options

PAPER_2018: dict[str, object] = {
    "query_words": 7,
    "pairs.relevant": "judged",
    "pairs.unjudged_share": 0.0,
    "loop.validate_on": "alone",
}
"""Delta's queries have at most seven words, it learns from judged documents alone (4.1), and the
model alone is validated."""

PAPER_CLASSIFIERS: dict[str, object] = {
    "filters": 256,
    "query_words": 7,
    "points.relevant": "judged",
    "points.unjudged_share": 0.0,
    "loop.patience": 10,
    "loop.validate_on": "alone",
}
"""Delta (2017) and SevMos: 256 filters, which take many times as long without a GPU, at most seven
words of a query, judged documents alone (BioNLP 2017, section 3.1), and all ten epochs (4.7), of
which the best is that of the model alone."""

OVERLAPS = ("jaccard_text", "idf_jaccard_text", "overlap_text", "bigram_overlap_text")
"""The four overlap features of Delta (2017) (section 4.2, i to iv)."""


LEX3: tuple[str, ...] = ("bm25_abstract", "idf_jaccard_title", "idf_overlap_title")
"""The features of Delta-32-Lex3, chosen by greedy search on the paper's validation data."""


class DeltaOptions(Options):
    """Options of Delta; `[paper]` marks a value of Mohan et al., WWW 2018."""

    filters: int = Field(32, gt=0, description="filters of each convolution [paper]")
    convolutions: int = Field(3, gt=0, description="convolution layers, each of width 3 [paper]")
    hidden: int = Field(32, gt=0, description="width of the hidden feed-forward layer")
    document_words: int = Field(50, gt=0, description="words read of a document [paper]")
    query_words: int | None = Field(None, gt=0, description="words read of a query; none reads all")
    lexical: LexicalNames = Field(LEX3, description="lexical match features [paper: Lex3]")
    features: tuple[str, ...] = Field((), description="feature groups (`platform features list`)")
    feature_settings: dict[str, dict[str, Any]] = Field({}, description="their options, by name")
    difference: bool = Field(True, description="use the vectors d − q* (table 6)")
    delta_features: bool = Field(True, description="use their cosine and distances (table 6)")
    slope: float = Field(0.1, ge=0, lt=1, description="negative slope of the Leaky ReLU")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout before the max-pooling")
    l2_convolution: float = Field(1e-5, ge=0, description="L2 coefficient of the convolutions")
    l2_feed_forward: float = Field(1e-5, ge=0, description="L2 coefficient of the feed-forward")
    pairs: PairSampler.Settings = Field(
        PairSampler.Settings(), description="how training pairs are drawn"
    )
    loop: LoopSettings = Field(LoopSettings(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")


class AdadeltaSettings(LoopSettings):
    """The same for the classifiers of Mohan et al., BioNLP 2017, section 4.7 (`[paper]`)."""

    optimizer: Literal["adagrad", "adam", "adadelta"] = Field(
        "adadelta", description="gradient descent method [paper]"
    )
    learning_rate: float = Field(1.0, gt=0, description="its step size")
    epochs: int = Field(10, gt=0, description="most epochs [paper]")


class ClassifierOptions(Options):
    """Options that Delta (2017) and SevMos share; `[paper]` marks a value of BioNLP 2017."""

    filters: int = Field(64, gt=0, description="filters of each convolution [paper: 256]")
    document_words: int = Field(50, gt=0, description="words read of a document [paper]")
    query_words: int | None = Field(None, gt=0, description="words read of a query [paper: 7]")
    dropout: float = Field(0.2, ge=0, lt=1, description="dropout before the max-pooling")
    classifier_dropout: float = Field(0.2, ge=0, lt=1, description="dropout around its layers")
    l2_convolution: float = Field(1e-5, ge=0, description="L2 coefficient of the convolutions")
    l2_classifier: float = Field(1e-5, ge=0, description="L2 of classifier and similarity")
    points: PointSampler.Settings = Field(
        PointSampler.Settings(), description="how training samples are drawn"
    )
    loop: AdadeltaSettings = Field(AdadeltaSettings(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")


class Delta2017Options(ClassifierOptions):
    """Options of Delta (2017); `[paper]` marks a value of Mohan et al., BioNLP 2017."""

    lexical: LexicalNames = Field(OVERLAPS, description="overlap features beside the text [paper]")
    weighted: bool = Field(False, description="weigh samples by max(1, log(1 + grade)) ['w']")


class SevMosOptions(ClassifierOptions):
    """Options of SevMos; `[paper]` marks a value of Mohan et al., BioNLP 2017 and WWW 2018."""

    layers: int = Field(3, gt=0, description="convolutions [paper: C1 1, C3 3]")
    width: int = Field(3, gt=0, description="width of each [paper: C1 5, C3 3]")
    lexical: LexicalNames = Field(ALL18, description="lexical match features [paper, 2018]")
    weighted: bool = Field(False, description="weigh samples by their grade [paper: 'w']")
    weighting: Literal["root", "log"] = Field(
        "root", description="by the grade's root [paper, 2018] or by max(1, log(1 + grade)) [2017]"
    )
    stored_documents: int = Field(1_000_000, ge=0, description="most documents to store vectors of")
