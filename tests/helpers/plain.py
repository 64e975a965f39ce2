"""What the plain twins of networks compute with: texts, and vectors and weights as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from small import small_resources, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from small import SmallResources
    from torch import nn

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
    held = resources.word_vectors
    return dict(zip(held.words, np.array(held.matrix, dtype=float), strict=False))


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
