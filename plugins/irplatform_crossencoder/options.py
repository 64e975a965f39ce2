"""The options of the cross-encoder: which model, and how texts are fed to it."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field
from irplatform.training.pretrained import PretrainedOptions


class CrossEncoderOptions(PretrainedOptions):
    """Options of the cross-encoder: a sequence-classification model."""

    max_length: int = Field(
        512, gt=8, description="tokens of query and document together; documents are cut to fit"
    )
    query_tokens: int = Field(
        256, gt=0, description="tokens of a query at most, and no more than half of what fits"
    )
    batch_size: int = Field(32, gt=0, description="documents that are scored at once")
    output: Literal["logit", "probability"] = Field(
        "logit",
        description="of models with two labels: the difference of the logits of the second label "
        "and the first, or the second's probability; of models with one label: its logit, or the "
        "sigmoid of it",
    )
