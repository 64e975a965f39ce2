"""Options of the sparse encoder: the model, what it reads of a text, what is kept of a vector."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field
from irplatform_encoders.pretrained import TwoSidedOptions


class SparseEncoderOptions(TwoSidedOptions):
    """Options of the sparse encoder: a model that sentence-transformers' `SparseEncoder` opens."""

    similarity: Literal["cosine", "dot"] | None = Field(None, description="if not the model's")
    query_prompt: str | None = Field(None, description="put before a query; by default the model's")
    document_prompt: str | None = Field(
        None, description="put before documents, if not the model's"
    )
    long: Literal["split", "cut"] = Field(
        "split",
        description="a document that is longer than the model reads is split, and its best part "
        "counts; or its end is not read",
    )
    max_length: int | None = Field(None, ge=9, description="tokens of a text, if not the model's")
    most_words: int | None = Field(
        None, gt=0, description="words of a document, those with the largest weights; all if none"
    )
    batch_size: int = Field(
        32, gt=0, description="long texts that a GPU encodes at once; of short ones more"
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32",
        description="numbers of 16 bits take half the memory and round weights",
    )
