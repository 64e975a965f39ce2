"""The encoded pools of all training topics, for models that read words beside their closest one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from irplatform.text.closest_words import Words

if TYPE_CHECKING:
    from torch import Tensor

    from irplatform.text.closest_words import Encoded


class ClosestPools:
    """The encoded pools of all training topics, one after the other.

    Attributes:
        words: all topics' words in relation to their query.
        documents: int32 [documents, N], indexes into `words`.
        lexical: float32 [documents, L].
    """

    words: Words
    documents: Tensor
    lexical: Tensor

    def __init__(self) -> None:
        self._encoded: list[Encoded] = []

    def add(self, encoded: Encoded) -> None:
        """Append a topic's documents; 32 bits hold any index and halve the memory."""
        words = encoded.words
        words = replace(words, word=words.word.int(), closest=words.closest.int())
        self._encoded.append(replace(encoded, words=words, documents=encoded.documents.int()))

    def finish(self) -> None:
        """Join the topics."""
        parts = [encoded.words for encoded in self._encoded]
        sizes = torch.tensor([len(part.word) for part in parts])
        total = int(sizes.sum())
        documents = []
        for encoded, start, size in zip(
            self._encoded, (sizes.cumsum(0) - sizes).tolist(), sizes.tolist(), strict=True
        ):
            # A topic's padding index is its number of words; after joining, the number of all.
            padding = encoded.documents == size
            documents.append((encoded.documents + start).masked_fill_(padding, total))
        self.words = Words(
            torch.cat([part.word for part in parts]),
            torch.cat([part.closest for part in parts]),
            torch.cat([part.features for part in parts]),
            torch.cat([part.active for part in parts]),
        )
        self.documents = torch.cat(documents)
        self.lexical = torch.cat([encoded.lexical for encoded in self._encoded])
        self._encoded.clear()
