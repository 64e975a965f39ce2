"""Options of late interaction: which model, what it reads of a text, how vectors are kept."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field
from irplatform_encoders.pretrained import PretrainedOptions


class MultiVectorOptions(PretrainedOptions):
    """Options of late interaction: any model that `MultiVectorEncoder` opens."""

    query_prompt: str | None = Field(None, description="put before a query; by default the model's")
    document_prompt: str | None = Field(
        None, description="put before documents, if not the model's"
    )
    query_length: int | None = Field(
        None, ge=4, description="tokens of a query, with those that are added, if not the model's"
    )
    max_length: int | None = Field(
        None, ge=9, description="tokens of a document, if not the model's"
    )
    long: Literal["split", "cut"] = Field(
        "split",
        description="a document that is longer than the model reads is split, and its best part "
        "counts; or its end is not read",
    )
    batch_size: int = Field(
        32, gt=0, description="long texts that a GPU encodes at once; of short ones more"
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32",
        description="numbers of 16 bits take half the memory and round vectors",
    )
    compression: Literal["float32", "float16", "int8"] = Field(
        "float16",
        description="numbers of documents' vectors in the cache: as they are, of 16 bits, or of 8 "
        "bits with a scale for each vector",
    )
    cache_gigabytes: float = Field(
        20.0,
        ge=0,
        description="most that vectors of a collection take up in the cache; what does not fit is "
        "encoded again for each topic",
    )
