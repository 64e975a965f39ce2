"""The options of Delta (2017): sizes and training; a smaller default where the paper's is slow."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field, Options
from irplatform.text import LexicalNames, VectorOptions
from irplatform.training import AdadeltaSettings, PointSettings

OVERLAPS = ("jaccard_text", "idf_jaccard_text", "overlap_text", "bigram_overlap_text")
"""The four overlap features (section 4.2, i to iv)."""

PAPER: dict[str, object] = {
    "filters": 256,
    "query_words": 7,
    "points.relevant": "judged",
    "points.unjudged_share": 0.0,
    "loop.patience": 10,
}
"""Where the defaults depart from the paper: its width takes many times as long without a GPU, its
queries have seven words at most, it learns from judged documents alone (section 3.1), and all ten
epochs are run (4.7)."""


class Delta2017Options(Options):
    """Options of Delta (2017); `[paper]` marks a value of Mohan et al., BioNLP 2017."""

    filters: int = Field(
        64, gt=0, description="filters of each of the three convolutions [paper: 256]"
    )
    document_words: int = Field(50, gt=0, description="words of a document that are read [paper]")
    query_words: int | None = Field(
        None, gt=0, description="words of a query that are read; none reads all [paper: 7]"
    )
    lexical: LexicalNames = Field(OVERLAPS, description="overlap features beside the text [paper]")
    weighted: bool = Field(
        False, description="samples count max(1, log(1 + grade)), the paper's models called 'w'"
    )
    form: Literal["quick", "plain"] = Field(
        "quick", description="how scores are computed; both give the same"
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="dropout before the max-pooling")
    classifier_dropout: float = Field(
        0.2, ge=0, lt=1, description="dropout before and after the classifier's layers"
    )
    l2_convolution: float = Field(1e-5, ge=0, description="L2 coefficient of the convolutions")
    l2_classifier: float = Field(1e-5, ge=0, description="L2 coefficient of the classifier")
    points: PointSettings = Field(PointSettings(), description="how training samples are drawn")
    loop: AdadeltaSettings = Field(AdadeltaSettings(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")
