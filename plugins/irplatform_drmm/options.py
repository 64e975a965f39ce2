"""The options of DRMM, with the values of the two papers as defaults."""

from __future__ import annotations

from typing import Literal

from irplatform.kit import LoopSettings, PairSampler, VectorOptions
from irplatform.plugin import Field, Options

PAPER: dict[str, object] = {
    "vectors.algorithm": "cbow",
    "pairs.relevant": "judged",
    "pairs.unjudged_share": 0.0,
    "loop.validate_on": "alone",
}
"""Where the defaults depart from Mohan et al.: vectors are the ones that all models share, so that
they are trained once, unjudged candidates are learned from, too, and the mixture with the first
stage is validated."""


class DrmmLoop(LoopSettings):
    """Steps and stopping; epochs are short."""

    learning_rate: float = Field(0.05, gt=0, description="step size")
    epochs: int = Field(20, gt=0, description="most epochs")


class DrmmOptions(Options):
    """Options of DRMM; `[paper]` marks a value of Guo et al., CIKM 2016, or Mohan et al., 2018."""

    document_words: int = Field(200, gt=0, description="words read of a document [paper: 200]")
    bins: int = Field(30, gt=2, le=250, description="bins, the last of exact matches [paper]")
    hidden: int = Field(5, gt=0, description="width of the hidden layer [paper]")
    gate: Literal["idf", "vectors"] = Field("idf", description="source of a term's weight")
    stemmer: Literal["krovetz", "none"] = Field(
        "krovetz", description="conflation of words [paper: Krovetz], which needs Java once"
    )
    keep_stop_words: bool = Field(False, description="read stop words of queries, too [paper: no]")
    pairs: PairSampler.Settings = Field(
        PairSampler.Settings(), description="how training pairs are drawn"
    )
    loop: DrmmLoop = Field(DrmmLoop(), description="optimizer and stopping")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")
