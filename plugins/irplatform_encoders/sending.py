"""Encoding documents in workers: each opens the model, and is sent texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from irplatform.kit import map_documents
from irplatform_encoders.biencoder_model import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from irplatform.kit import Float32
    from irplatform.plugin import Resources
    from irplatform_encoders.options import BiEncoderOptions


@dataclass(frozen=True)
class SentEncoder:
    """An encoder as a worker opens it; models lie at the same place on all machines."""

    options: BiEncoderOptions
    device: str

    @cached_property
    def _opened(self) -> Encoder:
        return Encoder(self.options, self.device)

    def documents(self, texts: list[str]) -> Float32:
        """Vectors of documents, as `Encoder.documents` makes them."""
        return self._opened.documents(texts)


def encoded(
    encoder: Encoder, resources: Resources, texts: Iterable[list[str]]
) -> Iterator[Float32]:
    """Yield the vectors of blocks of documents, which workers make if there are several."""
    sent = SentEncoder(encoder.options, resources.device)
    return map_documents(encoder.documents, sent.documents, texts, resources.device)
