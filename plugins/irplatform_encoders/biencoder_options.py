"""The options of the bi-encoder: which model, and how texts are fed to it."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field
from irplatform_encoders.nearest_options import NearestOptions
from irplatform_encoders.pretrained import PretrainedOptions


class BiEncoderOptions(PretrainedOptions):
    """Options of the bi-encoder: a sentence-transformers model."""

    query_model: str | None = Field(
        None,
        description="another model for queries, where queries and documents have one each "
        "(MedCPT); a folder, or a name of the hub like `model`",
    )
    query_revision: str | None = Field(None, description="commit or tag of that one")
    pooling: Literal["mean", "cls"] | None = Field(
        None,
        description="how words' vectors become a text's, for a transformer that "
        "sentence-transformers has not saved and that does not say so itself",
    )
    similarity: Literal["cosine", "dot"] | None = Field(
        None, description="of vectors; the model's own by default"
    )
    query_prompt: str | None = Field(
        None, description="put before a query; the model's own by default, if it has one"
    )
    document_prompt: str | None = Field(None, description="put before a document, likewise")
    max_length: int | None = Field(
        None, ge=9, description="tokens of a text; the model's own by default, and no more"
    )
    batch_size: int = Field(32, gt=0, description="texts that are encoded at once on a GPU")
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32",
        description="of the network's numbers; the shorter ones are faster on GPUs, and bfloat16 "
        "on some processors with native arithmetic (portable arithmetic on the CPU has none)",
    )


class RetrieverOptions(NearestOptions, BiEncoderOptions):
    """The same with those of the index."""
