"""Delta (2017), the network and its training (Mohan et al., BioNLP 2017, sections 4.3 to 4.7).

Three convolutions read the difference features of each document word, [d_i − q*_i ; |d_i − q*_i| ;
cos(d_i, q*_i)]; their maximum and overlap features go to a classifier. The paper skips words
without a vector ("UNK"); here they stay as zeros, so that the words on either side do not become
neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.training import Points, Validator
from irplatform_delta.closest_words import ClosestPools, distinct_rows
from irplatform_delta.convolution import ClassifierTask, FullConvolutions, RelevanceClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.plugin import TrainingData
    from irplatform_delta.closest_words import Encoded, Encoder, Words
    from irplatform_delta.options import Delta2017Options


LAYERS = 3
WIDTH = 3
FEATURES = 2


@dataclass(frozen=True)
class Sizes:
    """What fixes the shapes of the network, and so which weights fit it."""

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

    def plain(self, vectors: Tensor, words: Words, documents: Tensor, lexical: Tensor) -> Tensor:
        """Score from each document's matrix of difference features.

        Args:
            vectors: float32 [rows, V].
            words: u distinct words, or all words of several queries.
            documents: int64 [n, N], indexes into `words`; u marks padding, on the right.
            lexical: float32 [n, L].

        Returns:
            float32 [n], logits of the probability of relevance.
        """
        scanned = self.scanner.plain(_differences(vectors, words), documents)
        return self._classified(scanned, lexical)

    def forward(self, vectors: Tensor, words: Words, documents: Tensor, lexical: Tensor) -> Tensor:
        """Score with the first convolution computed once per word that the documents have.

        Args and result are those of `plain`.
        """
        distinct, place = distinct_rows(len(words.word), documents)
        part = replace(
            words,
            word=words.word[distinct],
            closest=words.closest[distinct],
            features=words.features[distinct],
            active=words.active[distinct],
        )
        scanned = self.scanner(_differences(vectors, part), place[documents])
        return self._classified(scanned, lexical)

    def _classified(self, scanned: Tensor, lexical: Tensor) -> Tensor:
        logits: Tensor = self.classifier(torch.cat([scanned, lexical], dim=1))
        return logits

    def penalty(self, l2_convolution: float, l2_classifier: float) -> Tensor:
        """The L2 costs of both stages."""
        return l2_convolution * self.scanner.penalty() + l2_classifier * self.classifier.penalty()


def _differences(vectors: Tensor, words: Words) -> Tensor:
    difference = functional.embedding(words.word, vectors) - functional.embedding(
        words.closest, vectors
    )
    cosine, distance = words.features[:, 0], words.features[:, 1]
    features = torch.cat([difference, distance[:, None], cosine[:, None]], dim=1)
    return features * words.active[:, None]


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
        self._pools = ClosestPools()
        for pool in self._sampler.pools:
            self._pools.add(encoder.encode(pool.labelled.topic, pool.doc_ids))
            advance(1)
        self._pools.finish()
        self._measure = Validator(data.validation).reading(encoder.encode, advance)

    def loss(self, batch: Points) -> Tensor:
        """Weighted cross-entropy and the two L2 costs."""
        rows = torch.from_numpy(batch.rows(self._starts)).to(self._encoder.device)
        documents, lexical = self._pools.documents[rows], self._pools.lexical[rows]
        form = self.module.plain if self._options.form == "plain" else self.module
        logits = form(self._encoder.vectors, self._pools.words, documents.long(), lexical)
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_classifier)
        return self.entropy(logits, batch) + penalty

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""

        def score(encoded: Encoded) -> list[float]:
            logits = self.module(
                self._encoder.vectors, encoded.words, encoded.documents, encoded.lexical
            )
            values: list[float] = logits.tolist()
            return values

        return self._measure(score)
