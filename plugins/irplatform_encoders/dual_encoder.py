"""A network and what it reads from: turns queries and documents into vectors."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from irplatform.errors import InputError
from irplatform.training.neural import stored_documents, vectors_digest, weights_digest
from irplatform.training.topic_identity import query_mark, source_mark, topic_marks
from irplatform_encoders.dual_network import DualNetwork, Reader, Sizes, inverse_frequencies

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from torch import Tensor

    from irplatform.plugin import Resources, Topic
    from irplatform.text.arrays import Float32, Int64
    from irplatform_encoders.dual_options import EncoderOptions


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


# What a model learned from, so that it can be kept from the topics that it saw.
#
# A first stage and a stacked reranker score training topics, too; scores of what a model remembers
# would mislead whatever learns from them. Queries are known by their words, as topics are anywhere
# (`topic_marks`), and remembered as 64 bits of a SHA-256.

_FILE = "learned.npy"


def mark(kind: str, text: str) -> int:
    """Stands for a query or a source, whatever its white space."""
    content = f"{kind} {' '.join(text.split())}"
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "little")


@dataclass(frozen=True)
class Learned:
    """Marks of the texts that a model learned from.

    Attributes:
        marks: uint64, increasing.
    """

    marks: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, queries: Iterable[str] = (), sources: Iterable[str] = ()) -> Learned:
        """Marks of these queries, and of sources all of whose pairs were learned from."""
        return cls._of(_marks(map(query_mark, queries), sources))

    @classmethod
    def of_topics(cls, topics: Iterable[Topic]) -> Learned:
        """Marks of topics, by whichever they are known again."""
        return cls._of(_marks((mark for topic in topics for mark in topic_marks(topic)), ()))

    @classmethod
    def _of(cls, marks: set[int]) -> Learned:
        return cls(np.array(sorted(marks), dtype=np.uint64))

    def __or__(self, other: Learned) -> Learned:
        return Learned(np.union1d(self.marks, other.marks))

    def knows(self, topic: Topic, group: str) -> bool:
        """Whether it learned from a topic's query or source, which its field `group` names."""
        marks = _marks(topic_marks(topic), topic.values(group))
        return bool(np.isin(np.array(list(marks), dtype=np.uint64), self.marks).any())

    def save(self, folder: Path) -> None:
        """Write it into a folder."""
        np.save(folder / _FILE, self.marks, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Learned:
        """Read what `save` wrote."""
        try:
            marks = np.load(folder / _FILE, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError("cannot be read as marks of texts.", path=folder / _FILE) from error
        return cls(marks.astype(np.uint64))


def _marks(queries: Iterable[str], sources: Iterable[str]) -> set[int]:
    """Marks of queries, given by their `query_mark`, and of sources that are not empty."""
    return {mark("query", query) for query in queries} | {
        mark("source", source) for source in map(source_mark, sources) if source
    }
