"""The training of the dual encoder, on pairs of texts and then on topics.

Each text must find its own among all texts of its batch, and each topic its relevant document
(in-batch negatives: Karpukhin et al., EMNLP 2020, section 3.2). Pairs come from a file, and from
documents: a few words of an abstract must find its title (the inverse cloze task: Lee, Chang and
Toutanova, ACL 2019, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.nn import functional

from irplatform.kit import (
    GroupSampler,
    Int64,
    TextPairs,
    Validator,
    WeightFile,
    digests,
    fingerprint,
    run_loop,
)
from irplatform.plugin import InputError
from irplatform_encoders.dual_encoder import FORMAT, Bags, Encoder, Learned, joined, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from irplatform.plugin import Resources, TextPair, TrainingData
    from irplatform_encoders.dual_encoder import DualNetwork, Reader
    from irplatform_encoders.options import DualOptions, EncoderOptions, PairsOptions

HELD_OUT = 50  # of so many sources, one validates
MOST_HELD_OUT = 5_000
_RANKED_AT_ONCE = 512  # texts that are ranked at once for validation
_FEWEST = 2
_WEIGHTS = "dual-pairs.safetensors"
_ENCODED_AT_ONCE = 512  # documents that are encoded at once for validation


def pretrained(
    resources: Resources, options: EncoderOptions, without: TextPairs.OfTopics | Fold
) -> tuple[Encoder, Learned]:
    """An encoder after training on `options.pairs`, and what it learned from."""
    pairs = options.pairs
    if pairs.file is not None and not pairs.file.is_file():
        raise InputError("there is no such file of pairs.", path=pairs.file)
    file = None if pairs.file is None else digests([pairs.file])[0]
    encoder = Encoder(resources, options, pairs.seed)

    def build(folder: Path) -> None:
        training_pairs = read_pairs(pairs, encoder.reader, without)
        resources.notice(f"dual-encoder: learning from {len(training_pairs):,} pairs of texts")
        task = PairsTask(encoder.network, training_pairs, pairs)
        with (
            resources.progress(
                "learning from pairs", task.steps * pairs.loop.epochs, "steps"
            ) as advance,
            TemporaryDirectory(dir=folder) as workspace,
        ):
            task.advance = advance
            run_loop(task, pairs.loop, seed=pairs.seed, workspace=Path(workspace))
        WeightFile(folder / _WEIGHTS).save(encoder.network.state_dict(), encoder.sizes())
        training_pairs.learned.save(folder)

    depends_on = {
        "format": FORMAT,
        "file": file,
        "pairs": pairs.model_dump(mode="json", exclude={"file"}),
        "sizes": encoder.sizes(),
        "vectors": resources.vectors(options.vectors).digest(),
        "without": fingerprint(describe(without)),
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    folder = resources.artifact("dual-encoder-pairs", depends_on, build)
    path = folder / _WEIGHTS
    WeightFile(path).load_into(encoder.network, WeightFile(path).load(encoder.sizes()))
    encoder.network.eval()
    return encoder, Learned.load(folder)


class PairsTask:
    """Texts that ask must find their own texts, and the other way round."""

    def __init__(self, network: DualNetwork, pairs: Pairs, options: PairsOptions) -> None:
        self.module = network
        self._pairs = pairs
        self._options = options
        self.advance: Callable[[int], None] = lambda _steps: None
        held_out = pairs.group % HELD_OUT == 0
        self._validation = np.flatnonzero(held_out)[:MOST_HELD_OUT]
        self._training = np.flatnonzero(~held_out)
        # Which texts that ask and which that are to be found are a pair, by their numbers.
        self._paired = csr_matrix((np.ones(len(pairs), np.bool_), (pairs.asking, pairs.target)))

    @property
    def steps(self) -> int:
        return -(-len(self._training) // self._options.loop.batch_size)

    def batches(self, epoch: int) -> Iterator[Int64]:
        random = np.random.default_rng([self._options.seed, 1_000_003, epoch])
        order = random.permutation(self._training)
        size = self._options.loop.batch_size
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def loss(self, batch: Int64) -> Tensor:
        """Mean cross-entropy of each text's own among all of the batch, and the other way round."""
        self.advance(1)
        queries, texts = self._encode(batch)
        logits = self.module.logits(queries, texts)
        rows, columns = self._pairs.asking[batch], self._pairs.target[batch]
        paired = self._paired[rows][:, columns].toarray()
        np.fill_diagonal(paired, val=False)
        logits = logits.masked_fill(
            torch.from_numpy(paired).to(logits.device), torch.finfo(logits.dtype).min
        )
        targets = torch.arange(len(batch), device=logits.device)
        forth, back = (
            functional.cross_entropy(logits, targets),
            functional.cross_entropy(logits.T, targets),
        )
        return (forth + back) / 2

    def validate(self) -> float:
        """Mean reciprocal rank of the own text among all that are held out, 0 to 1."""
        queries, texts = self._encode(self._validation)
        ranks: list[Tensor] = []
        for start in range(0, len(queries), _RANKED_AT_ONCE):
            scores = queries[start : start + _RANKED_AT_ONCE] @ texts.T
            rows = torch.arange(len(scores), device=scores.device)
            own_scores = scores[rows, rows + start]
            ranks.append(1 + (scores > own_scores[:, None]).sum(dim=1))
        return float((1 / torch.cat(ranks).cpu().double()).mean()) if ranks else 0.0

    def _encode(self, numbers: Int64) -> tuple[Tensor, Tensor]:
        queries, texts = self._pairs.queries.take(numbers), self._pairs.texts.take(numbers)
        return self.module.queries(queries), self.module.titles(texts)


class TopicsTask:
    """Topics must find their own documents among all of a batch."""

    def __init__(
        self, encoder: Encoder, options: DualOptions, data: TrainingData, seed: int
    ) -> None:
        self._encoder = encoder
        self._options = options
        self.sampler = GroupSampler(data.training, options.groups, encoder.index, seed)
        topics, pools = self.sampler.topics, self.sampler.pools
        self._queries = encoder.reader.texts(labelled.topic.query for labelled in topics)
        self._rows = [encoder.index.rows(pool.doc_ids) for pool in pools]
        judged = ([d for d, grade in t.judgments.items() if grade > 0] for t in topics)
        self._relevant = [set(encoder.index.rows(relevant).tolist()) for relevant in judged]
        self._validator = Validator.of(data, options)
        self._candidates = self._validator.candidate_rows(encoder.index)

    @property
    def module(self) -> DualNetwork:
        return self._encoder.network

    def batches(self, epoch: int) -> list[GroupSampler.Batch]:
        return self.sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: GroupSampler.Batch) -> Tensor:
        """Mean cross-entropy of each topic's relevant document among all of the batch."""
        members = zip(batch.topic, batch.documents, strict=True)
        rows = np.stack([self._rows[topic][documents] for topic, documents in members])
        distinct, places = np.unique(rows, return_inverse=True)
        targets = torch.from_numpy(places.reshape(rows.shape)[:, 0]).to(self.module.device)
        queries = self.module.queries(self._queries.take(batch.topic))
        logits = self.module.logits(queries, self._encoder.encode(distinct))
        others = torch.from_numpy(self._other_relevant(batch.topic, rows[:, 0], distinct))
        logits = logits.masked_fill(others.to(logits.device), torch.finfo(logits.dtype).min)
        return functional.cross_entropy(logits, targets)

    def _other_relevant(
        self, topics: Int64, own_rows: Int64, documents: Int64
    ) -> npt.NDArray[np.bool_]:
        place = {row: number for number, row in enumerate(documents.tolist())}
        mask = np.zeros((len(topics), len(documents)), dtype=np.bool_)
        for number, (topic, row) in enumerate(zip(topics, own_rows, strict=True)):
            for other in self._relevant[topic]:
                if other != row and other in place:
                    mask[number, place[other]] = True
        return mask

    def validate(self) -> float:
        rows, of_topic = self._candidates.distinct, self._candidates.of_topic
        if not len(rows):
            return 0.0
        blocks = range(0, len(rows), _ENCODED_AT_ONCE)
        documents = np.concatenate(
            [self._encoder.documents(rows[b : b + _ENCODED_AT_ONCE]) for b in blocks]
        )
        queries = self._encoder.queries(t.topic.query for t in self._validator.topics)
        return self._validator(lambda number: documents[of_topic[number]] @ queries[number])


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts, as bags."""

    queries: Bags  # the texts that ask
    texts: Bags  # the texts that they should find
    group: Int64  # int64, a number for the source of each pair
    asking: Int64  # int64, equal for pairs whose asking texts are equal, from 0
    target: Int64  # int64, equal for pairs whose texts to be found are equal, from 0
    learned: Learned  # marks of all queries and sources

    def __len__(self) -> int:
        return len(self.group)


def read_pairs(options: PairsOptions, reader: Reader, without: TextPairs.OfTopics | Fold) -> Pairs:
    """Read a file of pairs, where one is given, and passages where they are wanted."""
    text_pairs = pairs_of_file(options, without) if options.file is not None else []
    numbers: dict[str, int] = {}
    # A query without a source is a source.
    group = [numbers.setdefault(pair.group or pair.query, len(numbers)) for pair in text_pairs]
    query_numbers = _numbered([pair.query for pair in text_pairs])
    text_numbers = _numbered([pair.text for pair in text_pairs])
    queries = reader.texts(pair.query for pair in text_pairs)
    texts = reader.texts(pair.text for pair in text_pairs)
    groups = np.array(group, dtype=np.int64)
    if options.passages:
        passages, titles, rows = read_passages(reader, options)
        queries, texts = joined(queries, passages), joined(texts, titles)
        groups = np.concatenate([groups, rows + len(numbers)])
        query_numbers = np.concatenate([query_numbers, len(text_pairs) + np.arange(len(rows))])
        text_numbers = np.concatenate([text_numbers, len(text_pairs) + rows])
    if len(np.unique(groups)) < _FEWEST:
        raise InputError(
            "there are too few pairs to learn from, apart from those of the topics at hand.",
            path=options.file,
        )
    return Pairs(
        queries,
        texts,
        groups,
        query_numbers,
        text_numbers,
        Learned.of(TextPairs.OfTopics.of_pairs(text_pairs)),
    )


def pairs_of_file(options: PairsOptions, without: TextPairs.OfTopics | Fold) -> list[TextPair]:
    """The pairs of the file, but for those that are to be left out."""
    if options.file is None or not options.file.is_file():
        raise InputError("there is no such file of pairs.", path=options.file)
    pairs = TextPairs(
        options.file,
        query=options.query,
        text=options.text,
        group=options.group,
        marker=options.marker,
    )
    return list(islice((pair for pair in pairs if pair not in without), options.most))


def _numbered(texts: Sequence[str]) -> Int64:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)


def read_passages(reader: Reader, options: PairsOptions) -> tuple[Bags, Bags, Int64]:
    """Draw passages of documents with title and abstract; return them, their titles, and rows."""
    random = np.random.default_rng([options.seed, 2_000_003])
    index = reader.index
    complete = (index.lengths("title") > 0) & (index.lengths("abstract") > 0)
    rows = np.flatnonzero(complete)
    if len(rows) > (most := options.most // max(options.passages, 1)):
        rows = np.sort(random.choice(rows, most, replace=False))
    titles, abstracts = reader.documents(rows, "title"), reader.documents(rows, "abstract")
    lengths = np.diff(abstracts.offsets)
    usable = np.flatnonzero((np.diff(titles.offsets) > 0) & (lengths > 0))
    draws = np.repeat(usable, options.passages)
    spare = np.maximum(lengths[draws] - options.passage_words, 0)
    starts = abstracts.offsets[draws] + random.integers(0, spare + 1)
    sizes = np.minimum(lengths[draws], options.passage_words)
    places, offsets = index.ragged(starts, sizes)
    return Bags(abstracts.words[places], offsets), titles.take(draws), rows[draws]


@dataclass(frozen=True)
class Fold:
    """The pairs of one of several parts of all sources."""

    number: int
    of: int

    def __contains__(self, pair: TextPair) -> bool:
        return mark("fold", pair.group or pair.query) % self.of == self.number


def describe(pairs: TextPairs.OfTopics | Fold) -> dict[str, object]:
    """A description of pairs that are left out, as JSON."""
    if isinstance(pairs, Fold):
        return {"fold": pairs.number, "of": pairs.of}
    return {"queries": sorted(pairs.queries), "sources": sorted(pairs.sources)}
