"""Delta (2017), the network and its training (Mohan et al., BioNLP 2017, sections 4.3 to 4.7).

Three convolutions read the difference features of each document word, [d_i − q*_i ; |d_i − q*_i| ;
cos(d_i, q*_i)]; their maximum and overlap features go to a classifier. The paper skips words
without a vector; here they are zeros, so that their neighbours stay apart. SevMos shares the parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.kit import PointSampler, Validator
from irplatform_delta.closest_words import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from irplatform.plugin import TrainingData
    from irplatform_delta.closest_words import Encoded, Encoder, Words
    from irplatform_delta.options import ClassifierOptions, Delta2017Options

LAYERS = 3
WIDTH = 3
FEATURES = 2


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit."""

    dimensions: int
    lexical: int
    filters: int


class Delta2017Network(nn.Module):
    """Difference features, the scanner (section 4.4) and the classifier (section 4.5)."""

    def __init__(self, sizes: Sizes, dropout: float, classifier_dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        inputs = sizes.dimensions + FEATURES
        self.scanner = FullConvolutions(inputs, sizes.filters, LAYERS, WIDTH, dropout)
        self.classifier = RelevanceClassifier(sizes.filters + sizes.lexical, classifier_dropout)

    def forward(self, vectors: Tensor, words: Words, documents: Tensor, lexical: Tensor) -> Tensor:
        """Score documents [n, N] as logits [n]; see `DeltaNetwork.tabulated` for the arguments.

        The first convolution is computed once per word that the documents have.
        """
        if self.training:  # where documents are a part of those that have the words
            distinct, documents = torch.unique(documents, return_inverse=True)
            distinct = distinct[distinct < len(words.word)]  # the last one may be padding
            words = replace(
                words,
                word=words.word[distinct],
                closest=words.closest[distinct],
                features=words.features[distinct],
                active=words.active[distinct],
            )
        scanned = self.scanner(_differences(vectors, words), documents)
        logits: Tensor = self.classifier(torch.cat([scanned, lexical], dim=1))
        return logits

    def penalty(self, l2_convolution: float, l2_classifier: float) -> Tensor:
        return l2_convolution * self.scanner.penalty() + l2_classifier * self.classifier.penalty()


def _differences(vectors: Tensor, words: Words) -> Tensor:
    difference = functional.embedding(words.word, vectors) - functional.embedding(
        words.closest, vectors
    )
    cosine, distance = words.features[:, 0], words.features[:, 1]
    features = torch.cat([difference, distance[:, None], cosine[:, None]], dim=1)
    return features * words.active[:, None]


class FullConvolutions(nn.Module):
    """One-dimensional convolutions in "full" mode with ReLU, dropout and max-pooling (section 4.1).

    A text is padded with width − 1 zeros on either side: n words give n + width − 1 values. Padding
    behind shorter texts of a batch is masked, so that a text's values do not depend on the others.
    """

    def __init__(self, inputs: int, filters: int, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        self.width = width
        self.filters = filters
        self.dropout = dropout
        self.layers = nn.ModuleList(
            nn.Conv1d(inputs if layer == 0 else filters, filters, width, padding=width - 1)
            for layer in range(layers)
        )

    def forward(self, words: Tensor, texts: Tensor) -> Tensor:
        """Convolve texts: [n, filters], at least 0; all 0 for a text without words.

        The first convolution is multiplied out once per word [u, inputs], not per place. Texts [n,
        N] are rows of words; u marks padding, on the right.
        """
        lengths = (texts < len(words)).sum(dim=1)
        first, *further = self._convolutions()
        weight = first.weight.permute(2, 1, 0)  # [width, inputs, filters]
        taps = words @ weight.permute(1, 0, 2).flatten(1)  # [u, width · filters]
        taps = functional.pad(taps, (0, 0, 0, 1)).view(-1, self.filters)
        windows = functional.pad(texts, (self.width - 1, self.width - 1), value=len(words)).unfold(
            1, self.width, 1
        )
        rows = windows * self.width + torch.arange(self.width, device=texts.device)
        summed = functional.embedding_bag(rows.reshape(-1, self.width), taps, mode="sum")
        maps = (summed + first.get_parameter("bias")).view(len(texts), -1, self.filters)
        maps = torch.relu(maps) * self._mask(maps.shape[1], 1, lengths)[:, :, None]
        # [n, places, filters] → [n, filters, 1, places]: an image whose channels lie side by side
        # in memory, which is convolved in half the time of `conv1d`.
        image = maps[:, None].permute(0, 3, 1, 2)
        for number, layer in enumerate(further):
            image = functional.conv2d(
                image, layer.weight[:, :, None], layer.bias, padding=(0, self.width - 1)
            )
            mask = self._mask(image.shape[3], number + 2, lengths)
            image = torch.relu(image) * mask[:, None, None]
        return functional.dropout(image, self.dropout, self.training).amax(dim=(2, 3))

    def _convolutions(self) -> list[nn.Conv1d]:
        return [layer for layer in self.layers if isinstance(layer, nn.Conv1d)]

    def _mask(self, places: int, layers: int, lengths: Tensor) -> Tensor:
        reach = lengths + layers * (self.width - 1) * (lengths > 0)
        return torch.arange(places, device=lengths.device) < reach[:, None]

    def penalty(self) -> Tensor:
        return torch.stack([(layer.weight**2).sum() for layer in self._convolutions()]).sum()


class RelevanceClassifier(nn.Module):
    """Dropout, two ReLU layers as wide as the input, dropout, and one output (section 4.5).

    The output is the logit of the probability of relevance, which does not round to 1.
    """

    def __init__(self, inputs: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = nn.Linear(inputs, inputs)
        self.second = nn.Linear(inputs, inputs)
        self.output = nn.Linear(inputs, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.dropout(inputs, self.dropout, self.training)
        hidden = torch.relu(self.first(hidden))
        hidden = torch.relu(self.second(hidden))
        hidden = functional.dropout(hidden, self.dropout, self.training)
        logits: Tensor = self.output(hidden)[:, 0]
        return logits

    def penalty(self) -> Tensor:
        layers = (self.first, self.second, self.output)
        return torch.stack([(layer.weight**2).sum() for layer in layers]).sum()


class ClassifierTask:
    """Training on samples of either class: cross-entropy and two L2 costs.

    The ranking of validation topics chooses the epoch; in the paper, accuracy does (section 4.7).
    """

    def __init__(
        self,
        data: TrainingData,
        options: ClassifierOptions,
        seed: int,
        weighting: Literal["none", "root", "log"],
    ) -> None:
        self.sampler = PointSampler(data.training, options.points, seed, weighting)
        self._batch_size = options.loop.batch_size

    def batches(self, epoch: int) -> list[PointSampler.Batch]:
        return self.sampler.epoch(epoch).batches(self._batch_size)

    @staticmethod
    def entropy(logits: Tensor, batch: PointSampler.Batch) -> Tensor:
        label = torch.from_numpy(batch.label).to(logits.device)
        weight = torch.from_numpy(batch.weight).to(logits.device)
        return weighted_cross_entropy(logits, label, weight)


class Delta2017Task(ClassifierTask):
    """Delta (2017) in training."""

    def __init__(
        self,
        network: Delta2017Network,
        encoder: Encoder,
        options: Delta2017Options,
        data: TrainingData,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        super().__init__(data, options, seed, "log" if options.weighted else "none")
        self.module = network
        self._encoder = encoder
        self._options = options

        def encoded() -> Iterator[Encoded]:
            for pool in self.sampler.pools:
                yield encoder.encode(pool.labelled.topic, pool.doc_ids)
                advance(1)

        self._pools = joined(encoded())
        self._measure = Validator(data.validation, on=self._options.loop.validate_on).reading(
            encoder.encode, advance
        )

    def loss(self, batch: PointSampler.Batch) -> Tensor:
        rows = torch.from_numpy(batch.rows(self.sampler.starts)).to(self._encoder.device)
        documents, lexical = self._pools.documents[rows], self._pools.lexical[rows]
        logits = self.module(self._encoder.vectors, self._pools.words, documents.long(), lexical)
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_classifier)
        return self.entropy(logits, batch) + penalty

    def validate(self) -> float:
        vectors = self._encoder.vectors
        return self._measure(
            lambda pool: self.module(vectors, pool.words, pool.documents, pool.lexical).tolist()
        )


def weighted_cross_entropy(logits: Tensor, labels: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean of the binary cross-entropy (Mohan et al., BioNLP 2017, section 4.6).

    Logits, labels (1 for relevant samples, 0 for others) and weights are [n].
    """
    losses = functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (weight * losses).sum() / weight.sum()
