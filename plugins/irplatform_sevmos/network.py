"""The network of SevMos (Severyn & Moschitti, SIGIR 2015, section 3), in the Delta papers' sizes.

Query and document each go through convolutions of their own to a vector, x_q and x_d (Mohan et
al., BioNLP 2017, section 5.1.1; WWW 2018, section 4.3.3). Their similarity is x_qᵀ M x_d with a
trained M; [x_q ; similarity ; x_d ; lexical features] goes to the classifier.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from irplatform.training.classifier import RelevanceClassifier
from irplatform.training.full_convolution import FullConvolutions


@dataclass(frozen=True)
class Sizes:
    """What fixes the shapes of the network, and so which weights fit it."""

    dimensions: int
    lexical: int
    filters: int
    layers: int
    width: int


class SevMosNetwork(nn.Module):
    """Two convolution stages, a bilinear similarity and a classifier."""

    lexical_mean: Tensor
    lexical_scale: Tensor

    def __init__(self, sizes: Sizes, dropout: float, classifier_dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        shape = sizes.dimensions, sizes.filters, sizes.layers, sizes.width, dropout
        self.query = FullConvolutions(*shape)
        self.document = FullConvolutions(*shape)
        self.similarity = nn.Linear(sizes.filters, sizes.filters, bias=False)
        self.classifier = RelevanceClassifier(
            2 * sizes.filters + 1 + sizes.lexical, classifier_dropout
        )
        # BM25 and proportions differ by orders of magnitude; the training data says by how much.
        self.register_buffer("lexical_mean", torch.zeros(sizes.lexical))
        self.register_buffer("lexical_scale", torch.ones(sizes.lexical))

    def match(self, query: Tensor, document: Tensor, lexical: Tensor) -> Tensor:
        """Score pairs of vectors.

        Args:
            query: float32 [n, filters], x_q of each document's query.
            document: float32 [n, filters], x_d.
            lexical: float32 [n, L].

        Returns:
            float32 [n], logits of the probability of relevance.
        """
        similarity = (self.similarity(query) * document).sum(dim=1, keepdim=True)
        standard = (lexical - self.lexical_mean) / self.lexical_scale
        logits: Tensor = self.classifier(torch.cat([query, similarity, document, standard], dim=1))
        return logits

    def penalty(self, l2_convolution: float, l2_classifier: float) -> Tensor:
        """The L2 costs of the convolutions, and of similarity and classifier."""
        texts = self.query.penalty() + self.document.penalty()
        rest = self.classifier.penalty() + (self.similarity.weight**2).sum()
        return l2_convolution * texts + l2_classifier * rest
