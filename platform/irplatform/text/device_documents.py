"""Documents of a forward index where rerankers compute: on the CPU, or in a GPU's memory.

On a GPU, the index's words and statistics lie in device memory if they fit in the budget. Of a
larger collection, blocks of candidates are copied there, and those used last stay. A batch of
topics takes one copy to the device, and one back for the scores. A CPU, and a device without 64-bit
floats, scores topic by topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.text.forward_index import FIELDS, ForwardIndex
from irplatform.text.given_texts import PADDING, given_texts
from irplatform.text.lexical import lexical_features
from irplatform.text.lexical_on_device import (
    DeviceMatch,
    QueryFacts,
    padded,
    query_facts,
    statistics,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.data import Documents, Topic
    from irplatform.text.arrays import Float32, Int32, Int64

    Array = npt.NDArray[Any]
    Batch = Sequence[tuple[Topic, Documents]]

_CELL = 32
"""Bytes of memory that scoring takes per word of a document."""
_SHARE = 4
"""Documents may take the free device memory divided by this."""


@dataclass(frozen=True)
class Reading:
    """The input of a reranker besides the documents' words.

    Attributes:
        query: a topic's words as the reranker numbers them, from 0: int64 [m]; none by default.
        lexical: names of lexical match features.
        matched: the word ids that they match, int32 [words]; those of the query by default.
    """

    query: Callable[[Topic], Int64] = lambda _: np.empty(0, dtype=np.int64)
    lexical: Sequence[str] = ()
    matched: Callable[[Topic], Int32] | None = None


@dataclass(frozen=True)
class DeviceCandidates:
    """Documents of topics, as tensors on the device.

    Attributes:
        topics: the topics.
        rows: int64 [documents], their rows in the forward index, in the host's memory.
        topic_of: int64 [documents], the place of each document's topic, in the host's memory.
        rows_there: the rows on the device.
        longest: the number of words of the longest document.
        title_lengths: int32 or float64 [documents, 1], the number of words of each title.
        query: int64 [topics, m], `Reading.query`, padded with -1.
        topic: `topic_of` on the device.
        features: float32 [documents, features], the lexical and then the further ones.
        one_by_one: they are of one topic, on a CPU.
    """

    topics: Sequence[Topic]
    rows: Int64
    topic_of: Int64
    rows_there: Tensor
    longest: int
    title_lengths: Tensor
    query: Tensor
    topic: Tensor
    features: Tensor
    one_by_one: bool
    _words: Callable[[int], Tensor]
    _vocabulary: int

    def matrix(self, length: int) -> Tensor:
        """The first words of documents: word ids, int32 [documents, length], -1 for padding."""
        return self._words(length)

    def words(self, length: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """The words of documents, and the place of each of the first `length` among them.

        Returns:
            Word ids and places, as `distinct` does; each word's topic, int64 [words], or None where
            there is only one.
        """
        words, places = self.distinct(self._words(length), self._vocabulary)
        alone = self.one_by_one or len(self.query) == 1
        return words, places, None if alone else self.topic.repeat_interleave(length)

    def distinct(self, tokens: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """The distinct numbers below `size` in a tensor (-1 is padding), and the places of all.

        On a GPU numbers may repeat: to count distinct ones, the GPU would have to wait.

        Returns:
            The u numbers; places, int64 of the shape of `tokens`, where u stands for padding.
        """
        if self.one_by_one:
            arrays = ForwardIndex.distinct_words(tokens.cpu().numpy(), size)
            numbers, places = (torch.from_numpy(array).to(tokens.device) for array in arrays)
            return numbers, places
        numbers = tokens.flatten()
        places = torch.arange(len(numbers), device=tokens.device).view(tokens.shape)
        return numbers, places.masked_fill(tokens == PADDING, len(numbers))


class DeviceDocuments:
    """A collection's documents on a device; `on_device` returns it.

    `budget` is the device memory for documents, in bytes: by default a quarter of what a GPU has
    free. Given one, a CPU computes as a GPU would.
    """

    def __init__(self, index: ForwardIndex, device: str, budget: int | None = None) -> None:
        self.index = index
        self.device = device
        self._budget = _share_of_memory(device) if budget is None else budget
        self._one_by_one = not self._budget
        self._blocks: dict[bytes, _Block] = {}
        fits = index.held and _Collection.size(index) <= self._budget
        self._collection = _Collection(index, device) if fits else None

    def score(
        self,
        batch: Batch,
        reading: Reading,
        score: Callable[[DeviceCandidates], Tensor],
        more: Sequence[Float32] = (),
    ) -> list[Sequence[float]]:
        """Score the documents of topics: a list of scores for each topic.

        `score` returns the scores of candidates, [documents], on the device. `more` are further
        features of each topic's documents, [documents, features].
        """
        with torch.inference_mode():
            parts = [score(candidates) for candidates in self._parts(batch, reading, more)]
            scores = torch.cat(parts).tolist() if parts else []
        return [scores[start:end] for start, end in _bounds(batch)]

    def features(self, batch: Batch, names: Sequence[str]) -> list[Float32]:
        """Lexical match features of topics' documents, each [documents, len(names)]."""
        with torch.inference_mode():
            parts = [part.features for part in self._parts(batch, Reading(lexical=names), ())]
            values = torch.cat([torch.empty(0, len(names), device=self.device), *parts])
        array = values.cpu().numpy()
        return [array[start:end] for start, end in _bounds(batch)]

    def of(self, topic: Topic, doc_ids: Sequence[str], reading: Reading) -> DeviceCandidates:
        """The documents of one topic, all at once."""
        rows, none = self.index.rows(doc_ids), np.empty((len(doc_ids), 0), dtype=np.float32)
        if self._one_by_one:
            return self._on_host(topic, rows, reading, none)
        return self._on_device([topic], np.zeros(len(rows), dtype=np.int64), rows, reading, none)

    def _parts(
        self, batch: Batch, reading: Reading, more: Sequence[Float32]
    ) -> Iterator[DeviceCandidates]:
        """The documents of topics in order, in parts that are computed at once."""
        more = more or [np.empty((len(documents), 0), np.float32) for _, documents in batch]
        if self._one_by_one:
            for (topic, documents), features in zip(batch, more, strict=True):
                if documents:
                    yield self._on_host(topic, self.index.rows(documents.ids), reading, features)
            return
        rows = self.index.rows([doc_id for _, documents in batch for doc_id in documents.ids])
        topic_of = np.repeat(np.arange(len(batch)), [len(documents) for _, documents in batch])
        features = np.concatenate(more)
        longest = int(self.index.lengths("text", rows).max(initial=0))
        size = max(1, self._budget // (_CELL * max(1, longest)))
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            first, last = topic_of[part][[0, -1]]
            topics = [topic for topic, _ in batch[first : last + 1]]
            places = topic_of[part] - first
            yield self._on_device(topics, places, rows[part], reading, features[part])

    def _on_host(
        self, topic: Topic, rows: Int64, reading: Reading, more: Float32
    ) -> DeviceCandidates:
        index = self.index
        lexical = lexical_features(index, _matched(index, reading, topic), rows, reading.lexical)

        def tensor(array: Array) -> Tensor:
            return torch.from_numpy(array).to(self.device)

        topic_of = np.zeros(len(rows), dtype=np.int64)
        return DeviceCandidates(
            [topic],
            rows,
            topic_of,
            tensor(rows),
            int(index.lengths("text", rows).max(initial=0)),
            tensor(index.lengths("title", rows))[:, None],
            tensor(reading.query(topic))[None],
            tensor(topic_of),
            tensor(np.concatenate([lexical, more], axis=1)),
            one_by_one=True,
            _words=lambda length: tensor(index.matrix(rows, length)),
            _vocabulary=len(index.vocabulary),
        )

    def _on_device(
        self,
        topics: Sequence[Topic],
        topic_of: Int64,
        rows: Int64,
        reading: Reading,
        more: Float32,
    ) -> DeviceCandidates:
        index = self.index
        numbers = padded([reading.query(topic) for topic in topics], PADDING)
        inputs: list[Array] = [numbers, topic_of, more, rows]
        if reading.lexical:
            inputs += query_facts(index, [_matched(index, reading, topic) for topic in topics])
        query, topic, features, rows_there, *tensors = to_device(inputs, self.device)
        block = self._block(rows, rows_there)
        if tensors:
            if len(topics) > 1:
                tensors = [facts[..., topic, :] for facts in tensors]
            match = DeviceMatch(block.words, block.numbers, QueryFacts(*tensors))
            features = torch.cat([match.columns(reading.lexical), features], dim=1)
        return DeviceCandidates(
            topics,
            rows,
            topic_of,
            rows_there,
            block.words.shape[1],
            block.numbers[:, :1],
            query,
            topic,
            features,
            one_by_one=False,
            _words=block.matrix,
            _vocabulary=len(index.vocabulary),
        )

    def _block(self, rows: Int64, rows_there: Tensor) -> _Block:
        longest = int(self.index.lengths("text", rows).max(initial=0))
        if given_texts() is not None:
            return self._copied(rows, longest)
        if self._collection is not None:
            return self._collection.block(rows_there, longest)
        key = rows.tobytes()
        if key not in self._blocks:
            self._blocks[key] = self._copied(rows, longest)
            while len(self._blocks) > 1 and self._size() > self._budget:
                del self._blocks[next(iter(self._blocks))]
        return self._blocks[key]

    def _copied(self, rows: Int64, longest: int) -> _Block:
        words = self.index.matrix(rows, longest)
        return _Block(*to_device((words, statistics(self.index, rows)), self.device))

    def _size(self) -> int:
        return sum(block.words.nbytes for block in self._blocks.values())


def _bounds(batch: Batch) -> Iterator[tuple[int, int]]:
    return pairwise(accumulate((len(documents) for _, documents in batch), initial=0))


class StoredVectors:
    """Vectors of a collection's documents: on the device if they fit, else copied as needed.

    `matrix` is float32 [documents, width], such as `training.neural.stored_documents` returns.
    """

    def __init__(self, matrix: Float32, device: str) -> None:
        self.matrix = matrix
        self._device = device
        fits = matrix.nbytes <= _share_of_memory(device)
        self._tensor = torch.from_numpy(np.array(matrix)).to(device) if fits else None

    def of(self, candidates: DeviceCandidates) -> Tensor:
        """The vectors of candidates on the device, float32 [documents, width]."""
        if self._tensor is not None:
            return self._tensor.index_select(0, candidates.rows_there)
        return self.copied(candidates.rows)

    def copied(self, rows: Int64) -> Tensor:
        """The vectors of documents by row, float32 [rows, width]."""
        return torch.from_numpy(self.matrix[rows]).to(self._device)


def _share_of_memory(device: str) -> int:
    """The bytes that documents may take on a GPU; 0 elsewhere."""
    return torch.cuda.mem_get_info(device)[0] // _SHARE if device.startswith("cuda") else 0


@lru_cache(maxsize=2)
def on_device(index: ForwardIndex, device: str) -> DeviceDocuments:
    """The documents of an index where a reranker computes ("cpu", "cuda" or "mps"), made once."""
    return DeviceDocuments(index, device)


@dataclass(frozen=True)
class _Block:
    """Documents side by side."""

    words: Tensor  # int32 [documents, longest], padded with -1
    numbers: Tensor  # float64 [documents, 9], see `statistics`

    def matrix(self, length: int) -> Tensor:
        words = self.words[:, :length]
        return functional.pad(words, (0, length - words.shape[1]), value=PADDING)


class _Collection:
    """All documents, one behind the other."""

    def __init__(self, index: ForwardIndex, device: str) -> None:
        words, offsets = index.all_tokens()
        arrays: list[Array] = [words, offsets, statistics(index, None)]
        self._words, self._offsets, self._numbers = to_device(arrays, device)

    @staticmethod
    def size(index: ForwardIndex) -> int:
        words, offsets = index.all_tokens()
        return words.nbytes + offsets.nbytes * (1 + 3 * len(FIELDS))

    def block(self, rows: Tensor, longest: int) -> _Block:
        starts = self._offsets[rows, None]
        lengths = self._offsets[rows + 1, None] - starts
        place = torch.arange(longest, device=rows.device)
        words = self._words[(starts + place).clamp_(max=len(self._words) - 1)]
        return _Block(words.masked_fill_(place >= lengths, PADDING), self._numbers[rows])


def _matched(index: ForwardIndex, reading: Reading, topic: Topic) -> Int32:
    if reading.matched is not None:
        return reading.matched(topic)
    return index.query_ids(topic.query)


def to_device(arrays: Sequence[Array], device: str) -> list[Tensor]:
    """Copy arrays to a device, in one transfer."""
    sizes = [-(-array.nbytes // 8) * 8 for array in arrays]  # numbers begin at multiples of 8
    buffer = np.zeros(sum(sizes), dtype=np.uint8)
    for array, start in zip(arrays, accumulate(sizes[:-1], initial=0), strict=True):
        buffer[start : start + array.nbytes] = (
            np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        )
    tensor = torch.from_numpy(buffer).to(device)
    return [
        part[: array.nbytes].view(getattr(torch, array.dtype.name)).view(array.shape)
        for array, part in zip(arrays, torch.split(tensor, sizes), strict=True)
    ]
