"""What the plain twins of networks compute with: texts, and vectors and weights as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from small import small_resources, words
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from small import SmallResources
    from torch import Tensor, nn

    from irplatform_delta.closest_words import Words
    from irplatform_delta.delta2017_network import FullConvolutions
    from irplatform_delta.network import DeltaNetwork

DIMENSIONS = 6
WORDS = words(40)
WITH_VECTORS = WORDS[:25]
ELSEWHERE = "elsewhere"
"""A word with a vector that no text has."""


def plain_resources(folder: Path, longest: int = 19, **more: str) -> SmallResources:
    """Random texts, one without words, one without vectors, and those given by their ids."""
    random = np.random.default_rng(3)
    texts = {
        f"d{n}": " ".join(random.choice(WORDS, random.integers(1, longest + 1))) for n in range(20)
    }
    texts |= {"empty": "", "unknown": " ".join(WORDS[25:31]), "one": WORDS[4], **more}
    vectors = {word: random.normal(size=DIMENSIONS) for word in (*WITH_VECTORS, ELSEWHERE)}
    return small_resources(folder, texts, vectors)


def plain_vectors(resources: SmallResources) -> dict[str, np.ndarray]:
    """Vectors by word."""
    vectors = resources.word_vectors
    return dict(zip(vectors.words, np.array(vectors.matrix, dtype=float), strict=False))


def plain_weights(network: nn.Module) -> dict[str, np.ndarray]:
    """Weights by name."""
    return {name: weight.numpy().astype(float) for name, weight in network.state_dict().items()}


def full_convolutions(
    weights: Mapping[str, np.ndarray], stage: str, rows: Sequence[np.ndarray], layers: int
) -> np.ndarray:
    """The largest values after some convolutions with width − 1 zeros on either side, and ReLU."""
    for layer in range(layers):
        weight, bias = (weights[f"{stage}.layers.{layer}.{part}"] for part in ("weight", "bias"))
        width = weight.shape[2]
        zeros = [np.zeros(weight.shape[1])] * (width - 1)
        padded = [*zeros, *rows, *zeros]
        rows = [
            np.array(
                [
                    max(0.0, bias[f] + sum(weight[f, :, k] @ padded[t + k] for k in range(width)))
                    for f in range(len(weight))
                ]
            )
            for t in range(len(rows) + width - 1)
            if rows
        ]
    return np.max(rows, axis=0) if rows else np.zeros(len(bias))


def classified(weights: Mapping[str, np.ndarray], inputs: np.ndarray) -> float:
    """What `RelevanceClassifier` makes of its inputs."""
    for layer in ("first", "second"):
        weight, bias = (weights[f"classifier.{layer}.{part}"] for part in ("weight", "bias"))
        inputs = np.maximum(weight @ inputs + bias, 0)
    weight, bias = weights["classifier.output.weight"], weights["classifier.output.bias"]
    return float((weight @ inputs + bias)[0])


def plain_delta(
    network: DeltaNetwork, vectors: Tensor, words: Words, documents: Tensor, lexical: Tensor
) -> Tensor:
    """Delta's scores from the Delta matrix itself, step by step as in the paper, in torch."""
    difference = (vectors[words.word] - vectors[words.closest]) * words.active[:, None]
    delta = torch.cat(
        [difference * network.sizes.difference, words.features * network.sizes.delta_features],
        dim=1,
    )
    matrix = functional.pad(delta, (0, 0, 0, 1))[documents].transpose(1, 2)
    present = documents < len(words.word)
    mask = present[:, None, :]
    maps = functional.conv1d(matrix, network.first.weight, network.bias, padding=1)
    maps = functional.leaky_relu(maps, network.slope) * mask
    for convolution in network.further:
        maps = functional.leaky_relu(convolution(maps), network.slope) * mask
    pooled = maps.masked_fill(~mask, -torch.inf).amax(dim=2)
    return network._feed_forward(pooled, present, lexical)


def plain_convolutions(stage: FullConvolutions, words: Tensor, texts: Tensor) -> Tensor:
    """The result of `FullConvolutions` without dropout, by torch's convolutions of each text."""
    lengths = (texts < len(words)).sum(dim=1)
    maps = functional.pad(words, (0, 0, 0, 1))[texts].transpose(1, 2)
    for number, layer in enumerate(stage.layers):
        maps = torch.relu(layer(maps))
        maps = maps * stage._mask(maps.shape[2], number + 1, lengths)[:, None]
    return maps.amax(dim=2)
