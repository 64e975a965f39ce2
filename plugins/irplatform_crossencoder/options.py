"""The options of the cross-encoder: which model, and how texts are fed to it."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field, Options


class CrossEncoderOptions(Options):
    """Options of the cross-encoder."""

    model: str | None = Field(
        None,
        description="folder of a sequence-classification model in Hugging Face format "
        "(config.json, *.safetensors, tokenizer files)",
    )
    download: bool = Field(
        False,
        description="`model` may also name a model of the Hugging Face hub, which is downloaded "
        "where it is not in its cache yet",
    )
    revision: str | None = Field(
        None, description="commit or tag of a model of the hub; none takes the newest"
    )
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
