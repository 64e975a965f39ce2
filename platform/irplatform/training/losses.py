"""Losses of pairs of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def pairwise_hinge(higher: Tensor, lower: Tensor, weight: Tensor, margin: float = 1.0) -> Tensor:
    """Weighted mean of max(0, margin − s(Q,D+) + s(Q,D−)) (Mohan et al., WWW 2018, section 3.4).

    All tensors are [n], one number per pair.
    """
    import torch

    return (weight * torch.relu(margin - higher + lower)).sum() / weight.sum()


def pairwise_logistic(higher: Tensor, lower: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean of log(1 + exp(s(Q,D−) − s(Q,D+))): RankNet's loss (Burges et al., ICML 2005).

    All tensors are [n], one number per pair.
    """
    from torch.nn import functional

    return (weight * functional.softplus(lower - higher)).sum() / weight.sum()
