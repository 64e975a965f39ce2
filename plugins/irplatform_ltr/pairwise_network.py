"""A pairwise network over features, and its training written out.

Autograd and the optimizer of torch take three times as long as the arithmetic of so small a
network. Here their operations follow one another as there, so that weights are the same to the bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform_ltr.learners import Standard, read_weights, write_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch

    from irplatform.kit import Int64
    from irplatform_ltr.learners import Features, Scores, Table
    from irplatform_ltr.options import NetworkOptions


PAIRS = 2000
"""Pairs of documents that are drawn in a step (a topic); those of equal grade say nothing."""
_PATH = 32
"""Points between average features and a document's whose slopes are averaged for contributions."""


class PairwiseNetwork:
    """A hidden layer over standardized features, learned from pairs (Burges et al., ICML 2005).

    Each step hides half of the features: with few topics, a network would otherwise rely on the few
    that fit them best.
    """

    _standard: Standard
    _hidden: Scores  # [units, features]
    _bias: Scores  # [units]
    _out: Scores  # [units]

    def __init__(self, options: NetworkOptions) -> None:
        self._options = options

    def fit(self, table: Table, seed: int) -> None:
        import torch

        self._standard = Standard.of(table)
        values = torch.from_numpy(self._standard(table.features).astype(np.float32))
        grades = torch.from_numpy(table.grades.astype(np.float32))
        options = self._options
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            hidden = torch.nn.Linear(values.shape[1], options.units)
            out = torch.nn.Linear(options.units, 1)
            with torch.no_grad():
                _train(hidden, out, values, grades, table.offsets, options)
        self._hidden = hidden.weight.detach().double().numpy()
        self._bias = hidden.bias.detach().double().numpy()
        self._out = out.weight.detach().double().numpy()[0]

    def _units(self, standard: Scores) -> Scores:
        return np.asarray(np.einsum("ij,kj->ik", standard, self._hidden) + self._bias)

    def score(self, features: Features) -> Scores:
        """The network's output, without its constant, which ranks nothing."""
        units = np.maximum(self._units(self._standard(features)), 0)
        return np.asarray(np.einsum("ik,k->i", units, self._out))

    def contributions(self, features: Features) -> Scores:
        """Integrated gradients (Sundararajan et al., ICML 2017); the constant takes the rest."""
        standard = self._standard(features)
        slope = np.zeros_like(standard)
        for step in (np.arange(_PATH) + 0.5) / _PATH:
            active = self._units(step * standard) > 0
            slope += (active * self._out) @ self._hidden
        adds = standard * slope / _PATH
        rest = self.score(features) - adds.sum(axis=1)
        return np.column_stack([adds, rest])

    def save(self, folder: Path, name: str) -> None:
        write_weights(
            folder / f"{name}.json",
            self._standard,
            hidden=self._hidden,
            bias=self._bias,
            out=self._out,
        )

    def load(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.json"
        self._standard, weights = read_weights(path, "network", "hidden", "bias", "out")
        self._hidden, self._bias, self._out = weights


class _AdamW:
    """AdamW over parameters that lie one behind the other, as torch computes it."""

    _FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-8

    def __init__(self, parameters: torch.Tensor, decay: float) -> None:
        import torch

        self._parameters = parameters
        self._decay = decay
        self._mean = torch.zeros_like(parameters)
        self._square = torch.zeros_like(parameters)
        self._steps = 0

    def step(self, slopes: torch.Tensor, rate: float) -> None:
        from irplatform.kit import square_root

        self._steps += 1
        self._parameters.mul_(1 - rate * self._decay)
        self._mean.lerp_(slopes, 1 - self._FIRST)
        self._square.mul_(self._SECOND).addcmul_(slopes, slopes, value=1 - self._SECOND)
        spread = (1 - self._SECOND**self._steps) ** 0.5
        divisor = (square_root(self._square) / spread).add_(self._LEAST)
        size = rate / (1 - self._FIRST**self._steps)
        self._parameters.addcdiv_(self._mean, divisor, value=-size)


def _train(
    hidden: torch.nn.Linear,
    out: torch.nn.Linear,
    values: torch.Tensor,
    grades: torch.Tensor,
    offsets: Int64,
    options: NetworkOptions,
) -> None:
    """A step per topic: pairs drawn with replacement, weighted by their difference in grade.

    The loss is `pairwise_logistic`. Dropout hides features and units.
    """
    import torch

    topics = len(offsets) - 1
    epochs = max(1, min(options.epochs, options.steps // topics))
    layers = (hidden.weight, hidden.bias, out.weight, out.bias)
    parameters = torch.cat([layer.flatten() for layer in layers])
    slopes = torch.zeros_like(parameters)
    parts, slope_parts = _parts(parameters, layers), _parts(slopes, layers)
    weight, bias, out_weight, out_bias = parts
    optimizer = _AdamW(parameters, options.decay)
    rates = iter(_rates(options.rate, epochs * topics))
    for _ in range(epochs):
        for topic in torch.randperm(topics).tolist():
            documents = slice(offsets[topic], offsets[topic + 1])
            grade, rate = grades[documents], next(rates)
            inputs = values[documents] * _dropout_factors(values[documents], options.dropout)
            units = torch.addmm(bias, inputs, weight.t()).relu_()
            mask = _dropout_factors(units, options.dropout)
            outputs = units * mask
            scores = torch.addmm(out_bias, outputs, out_weight.t())[:, 0]
            first, second = torch.randint(len(grade), (2, PAIRS))
            gap = (grade[first] - grade[second]).clamp_(min=0)
            if not gap.any():
                continue
            pull = torch.ops.aten.softplus_backward(
                gap * (1 / gap.sum()), scores[second] - scores[first], 1, 20
            )
            slope = torch.zeros_like(scores).index_put_((second,), pull, accumulate=True)
            slope += torch.zeros_like(scores).index_put_((first,), -pull, accumulate=True)
            of_scores = slope[:, None]
            of_units = torch.ops.aten.threshold_backward(of_scores.mm(out_weight) * mask, units, 0)
            torch.mm(of_units.t(), inputs, out=slope_parts[0])
            torch.sum(of_units, 0, out=slope_parts[1])
            torch.mm(of_scores.t(), outputs, out=slope_parts[2])
            torch.sum(of_scores, 0, out=slope_parts[3])
            optimizer.step(slopes, rate)
    for layer, part in zip(layers, parts, strict=True):
        layer.copy_(part)


def _parts(flat: torch.Tensor, layers: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The layers' parts of a tensor in which they lie one behind the other."""
    import torch

    parts = torch.split(flat, [layer.numel() for layer in layers])
    return [part.view(layer.shape) for part, layer in zip(parts, layers, strict=True)]


def _dropout_factors(values: torch.Tensor, dropout: float) -> torch.Tensor:
    """What dropout multiplies values with: 0, or the inverse of the share that is kept."""
    import torch

    if not dropout:
        return torch.ones_like(values)
    return torch.empty_like(values).bernoulli_(1 - dropout).div_(1 - dropout)


def _rates(first: float, steps: int) -> list[float]:
    """The learning rate of each step, along half a cosine."""
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(()))], lr=first)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    optimizer.step()
    rates = []
    for _ in range(steps):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        schedule.step()
    return rates
