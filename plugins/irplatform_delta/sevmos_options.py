"""The options of SevMos: sizes and training; a smaller default where the papers' is slow."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field, Options
from irplatform.text import ALL18, LexicalNames, VectorOptions
from irplatform.training import AdadeltaSettings, PointSettings

PAPER: dict[str, object] = {
    "filters": 256,
    "query_words": 7,
    "points.relevant": "judged",
    "points.unjudged_share": 0.0,
    "loop.patience": 10,
}
"""Where the defaults depart from the papers: their width takes many times as long without a GPU,
their queries have seven words at most, they learn from judged documents alone, and all of their ten
epochs are run."""


class SevMosOptions(Options):
    """Options of SevMos; `[paper]` marks a value of Mohan et al., BioNLP 2017 and WWW 2018."""

    layers: int = Field(3, gt=0, description="convolutions [paper: C1 1, C3 3]")
    width: int = Field(3, gt=0, description="width of each [paper: C1 5, C3 3]")
    filters: int = Field(64, gt=0, description="feature maps of each convolution [paper: 256]")
    document_words: int = Field(50, gt=0, description="words of a document that are read [paper]")
    query_words: int | None = Field(
        None, gt=0, description="words of a query that are read; none reads all [paper: 7]"
    )
    lexical: LexicalNames = Field(
        ALL18, description="lexical match features beside the text [paper: all 18 in 2018]"
    )
    weighted: bool = Field(
        False, description="samples count by their grade, the variants called 'w'"
    )
    weighting: Literal["root", "log"] = Field(
        "root",
        description="how they then count: the grade's square root [paper, 2018] or "
        "max(1, log(1 + grade)) [paper, 2017]",
    )
    stored_documents: int = Field(
        1_000_000,
        ge=0,
        description="keep the vectors of all documents where there are at most this many; "
        "otherwise the candidates' are computed per topic",
    )
    form: Literal["quick", "plain"] = Field(
        "quick", description="how texts are convolved; both give the same"
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="dropout before the max-pooling")
    classifier_dropout: float = Field(
        0.2, ge=0, lt=1, description="dropout before and after the classifier's layers"
    )
    l2_convolution: float = Field(1e-5, ge=0, description="L2 coefficient of the convolutions")
    l2_classifier: float = Field(
        1e-5, ge=0, description="L2 coefficient of classifier and similarity"
    )
    points: PointSettings = Field(PointSettings(), description="how training samples are drawn")
    loop: AdadeltaSettings = Field(AdadeltaSettings(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")
