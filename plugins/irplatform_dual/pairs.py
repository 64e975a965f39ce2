"""Training on pairs of texts: each must find its own among all texts of its batch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.errors import InputError
from irplatform.training.text_pairs import TextPair, read_text_pairs
from irplatform_dual.bags import joined
from irplatform_dual.learned import Learned, mark
from irplatform_dual.passages import read_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from irplatform.plugin import Topic
    from irplatform_dual.bags import Bags, Reader
    from irplatform_dual.network import DualNetwork
    from irplatform_dual.options import PairsOptions

    Int64 = npt.NDArray[np.int64]

HELD_OUT = 50
"""Of so many sources, one validates."""
MOST_HELD_OUT = 5_000
_FEWEST = 2


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts, as bags.

    Attributes:
        queries: the texts that ask.
        texts: the texts that they should find.
        group: int64, a number for the source of each pair.
        same: int64, equal for pairs whose texts to be found are equal.
        learned: marks of all queries and sources.
    """

    queries: Bags
    texts: Bags
    group: Int64
    same: Int64
    learned: Learned

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True)
class OfTopics:
    """The pairs of topics: with their queries, or of the sources that they name."""

    queries: frozenset[str]
    sources: frozenset[str]

    @classmethod
    def of(cls, topics: Iterable[Topic], group: str) -> OfTopics:
        """Those of topics whose field `group` is their source."""
        held = list(topics)
        named = (topic.fields.get(group) for topic in held)
        return cls(
            frozenset(" ".join(topic.query.split()) for topic in held),
            frozenset(source for source in named if isinstance(source, str) and source),
        )

    def __contains__(self, pair: TextPair) -> bool:
        return pair.group in self.sources or pair.query in self.queries

    def describe(self) -> dict[str, object]:
        """What it depends on, as JSON."""
        return {"queries": sorted(self.queries), "sources": sorted(self.sources)}


@dataclass(frozen=True)
class Fold:
    """The pairs of one of several parts of all sources."""

    number: int
    of: int

    def __contains__(self, pair: TextPair) -> bool:
        return mark("fold", pair.group or pair.query) % self.of == self.number

    def describe(self) -> dict[str, object]:
        """What it depends on, as JSON."""
        return {"fold": self.number, "of": self.of}


def read_pairs(options: PairsOptions, reader: Reader, without: OfTopics | Fold) -> Pairs:
    """Read a file of pairs, where one is given, and passages of documents, where they are wanted.

    Args:
        options: the file and its columns; how many passages.
        reader: makes bags.
        without: what of the file to leave out.

    Raises:
        InputError: the file is missing or lacks a column, or there are too few pairs.
    """
    kept = _kept(options, without) if options.file is not None else []
    numbers: dict[str, int] = {}
    # Without a source, a query is one of its own.
    group = [numbers.setdefault(pair.group or pair.query, len(numbers)) for pair in kept]
    firsts: dict[str, int] = {}
    same = [firsts.setdefault(pair.text, number) for number, pair in enumerate(kept)]
    queries = reader.texts(pair.query for pair in kept)
    texts = reader.texts(pair.text for pair in kept)
    groups, equal = np.array(group, dtype=np.int64), np.array(same, dtype=np.int64)
    if options.passages:
        passages, titles, rows = read_passages(reader, options)
        queries, texts = joined(queries, passages), joined(texts, titles)
        groups = np.concatenate([groups, rows + len(numbers)])
        equal = np.concatenate([equal, rows + len(kept)])
    if len(np.unique(groups)) < _FEWEST:
        raise InputError(
            "there are too few pairs to learn from, apart from those of the topics at hand.",
            path=options.file,
        )
    return Pairs(
        queries,
        texts,
        groups,
        equal,
        Learned.of((pair.query for pair in kept), {pair.group for pair in kept} - {""}),
    )


def _kept(options: PairsOptions, without: OfTopics | Fold) -> list[TextPair]:
    """The pairs of the file, but for those that are to be left out."""
    if options.file is None or not options.file.is_file():
        raise InputError("there is no such file of pairs.", path=options.file)
    found = read_text_pairs(
        options.file,
        query=options.query,
        text=options.text,
        group=options.group,
        marker=options.marker,
    )
    return list(islice((pair for pair in found if pair not in without), options.most))


class PairsTask:
    """What the training loop needs.

    Args:
        network: to train.
        pairs: to learn from.
        options: how.

    Attributes:
        advance: told of every batch.
    """

    def __init__(self, network: DualNetwork, pairs: Pairs, options: PairsOptions) -> None:
        self.module = network
        self._pairs = pairs
        self._options = options
        self.advance: Callable[[int], None] = lambda _steps: None
        held_out = pairs.group % HELD_OUT == 0
        self._validation = np.flatnonzero(held_out)[:MOST_HELD_OUT]
        self._training = np.flatnonzero(~held_out)

    @property
    def steps(self) -> int:
        """Batches of an epoch."""
        return -(-len(self._training) // self._options.loop.batch_size)

    def batches(self, epoch: int) -> Iterator[Int64]:
        """The epoch's pairs."""
        random = np.random.default_rng([self._options.seed, 1_000_003, epoch])
        order = random.permutation(self._training)
        size = self._options.loop.batch_size
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def loss(self, batch: Int64) -> Tensor:
        """Mean cross-entropy of each text's own among all of the batch, and the other way round.

        Texts that are equal to a pair's own are no negatives.
        """
        self.advance(1)
        queries, texts = self._encode(batch)
        logits = self.module.logits(queries, texts)
        same = self._pairs.same[batch]
        equal = same[:, None] == same
        np.fill_diagonal(equal, val=False)
        logits = logits.masked_fill(
            torch.from_numpy(equal).to(logits.device), torch.finfo(logits.dtype).min
        )
        own = torch.arange(len(batch), device=logits.device)
        forth, back = functional.cross_entropy(logits, own), functional.cross_entropy(logits.T, own)
        return (forth + back) / 2

    def validate(self) -> float:
        """Mean reciprocal rank of the own text among all that are held out, 0 to 1."""
        queries, texts = self._encode(self._validation)
        ranks: list[Tensor] = []
        for start in range(0, len(queries), 512):
            scores = queries[start : start + 512] @ texts.T
            rows = torch.arange(len(scores), device=scores.device)
            own = scores[rows, rows + start]
            ranks.append(1 + (scores > own[:, None]).sum(dim=1))
        return float((1 / torch.cat(ranks).cpu().double()).mean()) if ranks else 0.0

    def _encode(self, numbers: Int64) -> tuple[Tensor, Tensor]:
        queries, texts = self._pairs.queries.take(numbers), self._pairs.texts.take(numbers)
        return self.module.queries(queries), self.module.titles(texts)
