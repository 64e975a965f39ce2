"""A network and what it reads from: turns queries and documents into vectors."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from irplatform.training.stored_documents import stored_documents, vectors_digest, weights_digest
from irplatform_dual.bags import Reader, inverse_frequencies
from irplatform_dual.network import DualNetwork, Sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from irplatform.plugin import Resources
    from irplatform.text.arrays import Float32, Int64
    from irplatform_dual.options import EncoderOptions


FORMAT = 2


class Encoder:
    """Vectors of queries and documents; their inner products are the scores."""

    def __init__(self, resources: Resources, options: EncoderOptions, seed: int) -> None:
        self._resources = resources
        self._vectors = resources.vectors(options.vectors)
        self.index = resources.forward_index()
        self.reader = Reader(self.index, self._vectors)
        sizes = Sizes(
            words=len(self._vectors.matrix),
            dimensions=self._vectors.dimensions,
            projection=options.projection or self._vectors.dimensions,
            learned_words=options.words == "learned",
            learned_weights=options.word_weights == "learned",
            shared=options.shared,
        )
        # The default, said aloud, or torch warns of it when word vectors are learned.
        torch.sparse.check_sparse_tensor_invariants.disable()  # type: ignore[no-untyped-call]
        torch.manual_seed(seed)
        network = DualNetwork(
            sizes,
            torch.from_numpy(np.array(self._vectors.matrix)),
            torch.from_numpy(inverse_frequencies(self.index, self._vectors)),
        )
        self.network = network.to(resources.device).eval()

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.network.sizes.projection

    def queries(self, texts: Iterable[str]) -> Float32:
        """Vectors of queries: float32 [n, width], of length 1, or 0 where no word is known."""
        with torch.inference_mode():
            return _array(self.network.queries(self.reader.texts(texts)))

    def documents(self, rows: Int64) -> Float32:
        """Vectors of documents, which are named by their rows of the forward index, likewise."""
        with torch.inference_mode():
            return _array(self.encode(rows))

    def encode(self, rows: Int64) -> Tensor:
        """The same as a tensor, to learn from."""
        titles = self.reader.documents(rows, "title")
        return self.network.documents(titles, self.reader.documents(rows, "abstract"))

    def stored(self) -> Float32:
        """Vectors of all documents, from the cache, memory-mapped: float32 [documents, width]."""
        return stored_documents(
            self._resources, "dual-encoder", self.identity(), self.documents, self.width
        )

    def sizes(self) -> dict[str, Any]:
        """What weights must fit, as JSON."""
        return {"model": "dual-encoder", **asdict(self.network.sizes)}

    def identity(self) -> dict[str, Any]:
        """What vectors depend on beside texts, as JSON."""
        learned = self.network.sizes.learned_words
        return {
            "format": FORMAT,
            **self.sizes(),
            "weights": weights_digest(self.network.state_dict()),
            "vectors": None if learned else vectors_digest(self._vectors),
            "device": self._resources.device,
            "model_threads": self._resources.model_threads,
        }


def _array(vectors: Tensor) -> Float32:
    array: Float32 = vectors.cpu().numpy()
    return array
