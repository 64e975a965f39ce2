"""The network of Delta (Mohan et al., BioNLP 2017, sections 4.3 to 4.5).

Difference features of each document word, [d_i − q*_i ; |d_i − q*_i| ; cos(d_i, q*_i)], three
convolutions over them, their maximum, overlap features beside it, and a classifier. The paper skips
words without a vector ("UNK"); here they stay as zeros, so that words on either side of one do not
become neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.text.closest_words import distinct_rows
from irplatform.training.classifier import RelevanceClassifier
from irplatform.training.full_convolution import FullConvolutions

if TYPE_CHECKING:
    from irplatform.text.closest_words import Words

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
        return self._classify(scanned, lexical)

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
        return self._classify(self.scanner(_differences(vectors, part), place[documents]), lexical)

    def _classify(self, scanned: Tensor, lexical: Tensor) -> Tensor:
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
