"""Pre-training of DeepSenSe's F and G on citing sentences and the titles that they cite.

A sentence's own title must score highest among all titles of its batch (softmax over in-batch
negatives); other titles that it cites are not negatives. Sentences of an article stand together, so
that some negatives are of its subject. A small head on v₁ and v₂ scores, and is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress, groupby, islice
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from irplatform.kit import (
    LoopSettings,
    TextPairs,
    WeightFile,
    digests,
    fingerprint,
    run_loop,
)
from irplatform.plugin import InputError
from irplatform_deepsense.encoding import Texts
from irplatform_deepsense.network import DeepSenSeNetwork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.kit import Int64
    from irplatform.plugin import Resources, TextPair, Topic
    from irplatform_deepsense.encoding import Encoder
    from irplatform_deepsense.network import Tables
    from irplatform_deepsense.options import DeepSenSeOptions, PairsOptions

SENTENCE, TITLE, ARTICLE = "sentence", "cited_title", "citing_id"
HEAD = 32  # width of the head's hidden layer
HELD_OUT = 50  # of so many articles, the sentences of one validate
FORMAT = 2
_WEIGHTS = "deepsense-pairs.safetensors"


def pretrained(
    resources: Resources,
    network: DeepSenSeNetwork,
    encoder: Encoder,
    options: DeepSenSeOptions,
    topics: Sequence[Topic],
) -> dict[str, Tensor]:
    """Weights of F and G after pre-training on `options.pairs.file`, for all members of a system.

    Articles that cite in the topics of training or validation are left out.
    """
    pairs = options.pairs
    if pairs.file is None:
        return {}
    path = pairs.file
    excluded = TextPairs.OfTopics.of(topics, ARTICLE)

    def build(folder: Path) -> None:
        training_pairs = read_pairs(path, encoder, pairs.sentences, excluded)
        several = "" if len(training_pairs) == 1 else "s"
        resources.notice(
            f"pre-training on {len(training_pairs):,} sentence{several} of {path.name}"
        )
        torch.manual_seed(pairs.seed)
        module = PairNetwork(DeepSenSeNetwork(network.sizes, options.dropout))
        task = PairsTask(module.to(resources.device), encoder, pairs, training_pairs)
        loop = LoopSettings(
            optimizer="adam", learning_rate=pairs.learning_rate, epochs=pairs.epochs
        )
        with resources.progress("pre-training", task.steps * pairs.epochs, "steps") as advance:
            task.advance = advance
            run_loop(task, loop, seed=pairs.seed, workspace=folder)
        for file in folder.iterdir():
            file.unlink()  # the loop's own state
        WeightFile(folder / _WEIGHTS).save(module.network.shared_state(), {})

    depends_on = {
        "format": FORMAT,
        "file": digests([path])[0],
        "options": options.model_dump(
            mode="json",
            include={"vectors", "dropout", "query_words", "title_words", "document_stop_words"},
        ),
        "pairs": pairs.model_dump(mode="json", exclude={"file"}),
        "weights": {name: list(w.shape) for name, w in network.shared_state().items()},
        "sizes": [network.sizes.compare_on, network.sizes.product, network.sizes.pooling],
        "left out": fingerprint(
            {"articles": sorted(excluded.sources), "sentences": sorted(excluded.queries)}
        ),
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    return WeightFile(resources.artifact("deepsense-pairs", depends_on, build) / _WEIGHTS).load()


class PairNetwork(nn.Module):
    """The network with a head for pairs of sentence and title."""

    def __init__(self, network: DeepSenSeNetwork) -> None:
        super().__init__()
        self.network = network
        self.head = nn.Sequential(
            nn.Linear(2 * network.sizes.compare, HEAD), nn.ELU(), nn.Linear(HEAD, 1)
        )


class PairsTask:
    """Each sentence must find its own title among all of its batch."""

    def __init__(
        self, module: PairNetwork, encoder: Encoder, options: PairsOptions, pairs: Sequence[Pair]
    ) -> None:
        self.module = module
        self.encoder = encoder
        self._options = options
        self.advance: Callable[[int], None] = lambda _steps: None
        blocks = list(_blocks(pairs, options.neighbours))
        # Sentences without an article stand for themselves.
        articles = [block[0].article or str(number) for number, block in enumerate(blocks)]
        held_out = set(list(dict.fromkeys(articles))[::HELD_OUT])
        apart = [article in held_out for article in articles]
        self.validation = [pair for block in compress(blocks, apart) for pair in block]
        self._training = [
            block for block, validation in zip(blocks, apart, strict=True) if not validation
        ]
        if not self._training:
            raise InputError(
                "there are too few sentences with titles to pre-train on, apart from those of the "
                "topics at hand.",
                path=options.file,
            )

    @property
    def steps(self) -> int:
        return sum(1 for _ in self.batches(0))

    def batches(self, epoch: int) -> Iterator[Sequence[Pair]]:
        random = np.random.default_rng([self._options.seed, 1_000_003, epoch])
        order = random.permutation(len(self._training))
        return self._cut([pair for block in order for pair in self._training[block]])

    def _cut(self, pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
        size = self._options.batch_size
        for start in range(0, len(pairs) - 1, size):  # a last one alone has nothing to beat
            yield pairs[start : start + size]

    def loss(self, batch: Sequence[Pair]) -> Tensor:
        """Cross-entropy of each sentence's own title among all of the batch."""
        self.advance(1)
        targets = torch.arange(len(batch), device=self.encoder.device)
        return nn.functional.cross_entropy(self._scores(batch), targets)

    def _scores(self, batch: Sequence[Pair]) -> Tensor:
        """Scores of all sentences with all titles, the lowest for others that a sentence cites."""
        count = len(batch)
        texts = [[p.sentence for p in batch], [p.title for p in batch]]
        network = self.module.network
        tables, (sentences, titles) = _at_hand(
            network,
            self.encoder,
            [
                (np.concatenate(kind), np.cumsum([0, *(len(text) for text in kind[:-1])]))
                for kind in texts
            ],
        )
        every = torch.arange(count, device=self.encoder.device)
        sentence = sentences.padded(every, tables.padding).repeat_interleave(count, dim=0)
        title = titles.padded(every, tables.padding).repeat(count, 1)
        scores = self.module.head(torch.cat(network.match(tables, sentence, title), dim=1))
        cited = _cited(batch)
        np.fill_diagonal(cited, val=False)
        table: Tensor = scores.view(count, count)
        return table.masked_fill(self.encoder.tensor(cited), torch.finfo(table.dtype).min)

    def validate(self) -> float:
        """The share of sentences with their own title first in their batch, 0 to 1."""
        hits, count = 0, 0
        for batch in self._cut(self.validation):
            best = self._scores(batch).argmax(dim=1)
            hits += int((best == torch.arange(len(batch), device=best.device)).sum())
            count += len(batch)
        return hits / max(count, 1)


def _blocks(pairs: Sequence[Pair], size: int) -> Iterator[list[Pair]]:
    block: list[Pair] = []
    for pair in pairs:
        if block and (len(block) == size or pair.article != block[-1].article):
            yield block
            block = []
        block.append(pair)
    if block:
        yield block


def _cited(batch: Sequence[Pair]) -> npt.NDArray[np.bool_]:
    """Which sentences cite which titles, wherever in the batch they do: [sentences, titles]."""
    cited: dict[bytes, set[bytes]] = {}
    for pair in batch:
        cited.setdefault(pair.sentence.tobytes(), set()).update(pair.cited)
    titles = [pair.title.tobytes() for pair in batch]
    return np.array([[t in cited[pair.sentence.tobytes()] for t in titles] for pair in batch])


def _at_hand(
    network: DeepSenSeNetwork, encoder: Encoder, texts: Sequence[tuple[Int64, Int64]]
) -> tuple[Tables, list[Texts]]:
    distinct, places = np.unique(np.concatenate([words for words, _ in texts]), return_inverse=True)
    words = encoder.tensor(distinct)
    tables = network.tabulate(encoder.vectors[words], encoder.idf[words])
    ends = np.cumsum([len(words) for words, _ in texts])[:-1]
    return tables, [
        Texts(encoder.tensor(part), encoder.tensor(starts))
        for part, (_, starts) in zip(np.split(places, ends), texts, strict=True)
    ]


@dataclass(frozen=True)
class Pair:
    """A sentence and a title that it cites, as rows of word vectors."""

    article: str  # that it stands in
    sentence: Int64  # int64
    title: Int64  # int64
    cited: frozenset[bytes]  # the bytes of all titles that it cites, which are not its negatives


def read_pairs(path: Path, encoder: Encoder, most: int, without: TextPairs.OfTopics) -> list[Pair]:
    """Read pairs, one per sentence: its first title."""
    pairs: list[Pair] = []
    for asking in read_sentences(path, most, without):
        sentence = encoder.query(asking[0].query)
        titles = [title for pair in asking if len(title := encoder.title(pair.text))]
        if len(sentence) and titles:
            cited = frozenset(title.tobytes() for title in titles)
            pairs.append(Pair(asking[0].group, sentence, titles[0], cited))
    return pairs


def read_sentences(path: Path, most: int, without: TextPairs.OfTopics) -> Iterator[list[TextPair]]:
    """Stream the pairs of a file, sentence by sentence."""
    every = TextPairs(path, SENTENCE, TITLE, ARTICLE, marker="[CIT]")
    pairs = (pair for pair in every if pair not in without)
    for _, of_sentence in islice(groupby(pairs, key=lambda pair: (pair.group, pair.query)), most):
        yield list(of_sentence)
