"""A network with one hidden layer that learns from pairs (RankNet: Burges et al., ICML 2005).

Features are standardized, and half of them are hidden from each step: few topics teach many
features, and a network would otherwise rely on whichever fit them best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.training.losses import pairwise_logistic
from irplatform_ltr.learners.learner import Standard, read_weights, write_weights

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from irplatform_ltr.learners.learner import Features, Scores, Table
    from irplatform_ltr.options import NetworkOptions

_PAIRS = 2000
"""Pairs of documents that are drawn in a step (a topic); those of equal grade say nothing."""
_PATH = 32
"""Points between average features and a document's whose slopes are averaged for contributions."""


class PairwiseNetwork:
    """Standardized features, a hidden layer with ReLU, a score."""

    def __init__(self, options: NetworkOptions) -> None:
        self._options = options
        self._standard = Standard(np.zeros(0), np.zeros(0))
        self._hidden: Scores = np.zeros((0, 0))  # [units, features]
        self._bias: Scores = np.zeros(0)  # [units]
        self._out: Scores = np.zeros(0)  # [units]

    def fit(self, table: Table, seed: int) -> None:
        """Train it with Adam, the learning rate falling to 0 along a cosine."""
        import torch

        self._standard = Standard.of(table)
        values = torch.from_numpy(self._standard(table.features).astype(np.float32))
        grades = torch.from_numpy(table.grades.astype(np.float32))
        options = self._options
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            hidden = torch.nn.Linear(values.shape[1], options.units)
            out = torch.nn.Linear(options.units, 1)
            hide = torch.nn.Dropout(options.dropout)
            network = torch.nn.Sequential(hide, hidden, torch.nn.ReLU(), hide, out)
            _train(network, values, grades, table.offsets, options)
        self._hidden = hidden.weight.detach().double().numpy()
        self._bias = hidden.bias.detach().double().numpy()
        self._out = out.weight.detach().double().numpy()[0]

    def _units(self, standard: Scores) -> Scores:
        # Row by row in the same order of additions, however many documents there are.
        return np.asarray(np.einsum("ij,kj->ik", standard, self._hidden) + self._bias)

    def score(self, features: Features) -> Scores:
        """The network's output, without its constant, which ranks nothing."""
        units = np.maximum(self._units(self._standard(features)), 0)
        return np.asarray(np.einsum("ik,k->i", units, self._out))

    def contributions(self, features: Features) -> Scores:
        """Integrated gradients (Sundararajan et al., ICML 2017), from average features on.

        With the constant they add up to the score: its column takes what the steps leave over.
        """
        standard = self._standard(features)
        slope = np.zeros_like(standard)
        for step in (np.arange(_PATH) + 0.5) / _PATH:
            active = self._units(step * standard) > 0
            slope += (active * self._out) @ self._hidden
        adds = standard * slope / _PATH
        rest = self.score(features) - adds.sum(axis=1)
        return np.column_stack([adds, rest])

    def save(self, folder: Path, name: str) -> None:
        """Write weights, means and deviations as JSON."""
        write_weights(
            folder / f"{name}.json",
            self._standard,
            hidden=self._hidden,
            bias=self._bias,
            out=self._out,
        )

    def load(self, folder: Path, name: str) -> None:
        """Read them."""
        path = folder / f"{name}.json"
        self._standard, weights = read_weights(path, "network of ours", "hidden", "bias", "out")
        self._hidden, self._bias, self._out = weights


def _train(
    network: torch.nn.Module,
    values: torch.Tensor,
    grades: torch.Tensor,
    offsets: np.ndarray[Any, np.dtype[np.int64]],
    options: NetworkOptions,
) -> None:
    """A step per topic: pairs drawn with replacement, weighted by their difference in grade."""
    import torch

    from irplatform.training.exact_roots import ExactRoots

    topics = len(offsets) - 1
    epochs = max(1, min(options.epochs, options.steps // topics))
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=options.decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * topics)
    for _ in range(epochs):
        for topic in torch.randperm(topics).tolist():
            documents = slice(offsets[topic], offsets[topic + 1])
            scores, grade = network(values[documents])[:, 0], grades[documents]
            first, second = torch.randint(len(grade), (2, _PAIRS))
            gap = (grade[first] - grade[second]).clamp(min=0)
            if gap.any():
                optimizer.zero_grad()
                loss = pairwise_logistic(scores[first], scores[second], gap)
                loss.backward()  # type: ignore[no-untyped-call]
                with ExactRoots():
                    optimizer.step()
            schedule.step()
    network.eval()
