"""Encoding documents in workers: each opens the model, and is sent texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from irplatform.kit import map_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from irplatform.plugin import Options, Resources


@dataclass(frozen=True)
class SentEncoder:
    """An encoder as a worker opens it; models lie at the same place on all machines.

    Attributes:
        kind: the class of the encoder, made of options and a device.
        options: of the encoder.
        device: where it computes.
        encode: makes of the encoder and texts what is sent back.
    """

    kind: Callable[[Any, str], Any]
    options: Options
    device: str
    encode: Callable[[Any, list[str]], Any]

    @cached_property
    def _opened(self) -> Any:
        return self.kind(self.options, self.device)

    def __call__(self, texts: list[str]) -> Any:
        return self.encode(self._opened, texts)


def encoded(
    encoder: Any,
    encode: Callable[[Any, list[str]], Any],
    resources: Resources,
    texts: Iterable[list[str]],
) -> Iterator[Any]:
    """Yield what a function makes of an encoder and blocks of texts, in workers if there are some.

    The function belongs to a module.
    """
    worker_encoder = SentEncoder(type(encoder), encoder.options, resources.device, encode)
    return map_documents(partial(encode, encoder), worker_encoder, texts, resources.device)
