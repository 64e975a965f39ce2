"""SPLADE's pooling, with little memory: the largest logit of each word first, its logarithm then.

A language model gives each token of a text a logit for each word of its vocabulary. SPLADE weighs a
word by log(1 + max(logit, 0)) at the token where that is largest (Formal et al., arXiv 2109.10086),
or sums over tokens (Formal, Piwowarski and Clinchant, SIGIR 2021). sentence-transformers computes
all logits [texts, tokens, words] and the logarithm of each. The logarithm rises with the logit, so
that of the largest one is enough; and blocks of words are enough for the largest ones.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sentence_transformers.util import batch_to_device
from torch import nn

from irplatform_encoders.on_cpu import in_blocks, in_float32

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from irplatform.kit import Float32

_SAMPLE = ["a b c d e 1 2 3 w1 w2 w3"]
_NEAR = 1e-4  # a share of the largest weight, for rounding
_ON_CPU, _ON_GPU = 1 << 18, 1 << 26
"""Logits that are computed at once: a core's cache holds them; a GPU's memory does."""


class Pooling:
    """Weights of words [texts, words] from what goes into a language model's last layer.

    It takes the place of sentence-transformers' `SpladePooling`, behind a model without that layer.

    Args:
        last: gives words their logits.
        pooling: the `SpladePooling`.
        device: where it computes.
    """

    def __init__(self, last: nn.Linear, pooling: Any, device: str) -> None:
        self._last = last
        self._sums = pooling.pooling_strategy == "sum"
        self._logarithms = 2 if getattr(pooling, "activation_function", "") == "log1p_relu" else 1
        self._by_numpy = in_float32(device)
        self._at_once = _ON_CPU if device == "cpu" else _ON_GPU

    def __call__(self, features: dict[str, Any]) -> dict[str, Any]:
        """Add `sentence_embedding` to the features of texts, as sentence-transformers does."""
        rows, read = features["token_embeddings"], features["attention_mask"].bool()
        is_full = bool(read.all())
        if self._by_numpy and is_full and rows.dtype == torch.float32:
            pooled = self._pooled_by_numpy(rows)
        else:
            pooled = self._pooled(rows, None if is_full else read[:, :, None])
        features["sentence_embedding"] = pooled if self._sums else self._weights(pooled.float())
        return features

    def _weights(self, logits: Tensor) -> Tensor:
        weights = logits.relu_()
        for _ in range(self._logarithms):
            weights = weights.log1p_()
        return weights

    def _pooled(self, rows: Tensor, read: Tensor | None) -> Tensor:
        weight, bias = self._last.weight, self._last.bias
        size = max(64, self._at_once // (rows.shape[0] * rows.shape[1]))
        parts = []
        for start in range(0, len(weight), size):
            part = slice(start, start + size)
            logits = nn.functional.linear(rows, weight[part], None if bias is None else bias[part])
            if read is not None:  # padding counts as 0, which is the least
                logits = logits.masked_fill_(~read, 0)
            parts.append(self._weights(logits).sum(1) if self._sums else logits.amax(1))
        return torch.cat(parts, 1)

    def _pooled_by_numpy(self, rows: Tensor) -> Tensor:
        """The same in portable arithmetic, each text without the others."""
        read: Float32 = rows.contiguous().numpy()
        weight: Float32 = self._last.weight.detach().numpy()
        bias = np.float32(0) if self._last.bias is None else self._last.bias.detach().numpy()
        bias = np.broadcast_to(bias, len(weight))
        pooled = np.empty((len(read), len(weight)), np.float32)

        def pool(part: slice) -> None:
            logits = np.matmul(read, weight[part].T)
            if self._sums:
                logits += bias[part]
                pooled[:, part] = self._weights(torch.from_numpy(logits)).numpy().sum(1)
            else:  # the bias of a word is the same at all tokens
                np.add(logits.max(axis=1), bias[part], out=pooled[:, part])

        in_blocks(pool, len(weight))
        return torch.from_numpy(pooled)


def pool_quickly(model: nn.Module, device: str) -> None:
    """Let `Pooling` do the work of SPLADE's pooling in a model.

    A language model that does something with the logits is left as it is: both ways have to give a
    sample the same weights.
    """
    for parts in list(model.modules()):
        for transformer, pooling in pairwise(parts.children()):
            network = getattr(transformer, "auto_model", None)
            if type(pooling).__name__ == "SpladePooling" and isinstance(network, nn.Module):
                _replace(transformer, network, pooling, device)


def _replace(transformer: Any, network: Any, pooling: Any, device: str) -> None:
    last = network.get_output_embeddings()
    places = [
        (module, name)
        for module in network.modules()
        for name, child in module.named_children()
        if child is last
    ]
    if type(last) is not nn.Linear or len(places) != 1:
        return
    ((owner, name),) = places
    quick = Pooling(last, pooling, device)
    read: Callable[[list[str]], dict[str, Any]]
    read = transformer.preprocess if hasattr(transformer, "preprocess") else transformer.tokenize
    sample = batch_to_device(dict(read(_SAMPLE)), device)

    def weights(pool: Callable[[dict[str, Any]], dict[str, Any]]) -> Tensor:
        pooled: Tensor = pool(transformer({**sample}))["sentence_embedding"].float()
        return pooled

    with torch.inference_mode():
        expected = weights(pooling)
        setattr(owner, name, nn.Identity())
        try:
            near = _NEAR * max(1.0, float(expected.max()))
            same = torch.allclose(weights(quick), expected, rtol=0, atol=near)
        except (AttributeError, RuntimeError, TypeError, ValueError):  # it asks the last layer
            same = False
    if same:
        pooling.forward = quick
    else:
        setattr(owner, name, last)
