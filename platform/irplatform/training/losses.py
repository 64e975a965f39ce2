"""Losses of several rerankers, over pairs, lists and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.system.arithmetic import square_root

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


def listwise_logistic(scores: Tensor, grades: Tensor) -> Tensor:
    """`pairwise_logistic` over all pairs of different grade of a list of documents.

    Pairs weigh the square root of the difference of their grades. Both tensors are [n]; grades are
    on the CPU, so that no step waits for a GPU, and at least two differ.
    """
    higher, lower = (grades[:, None] > grades[None]).nonzero(as_tuple=True)
    weight = square_root((grades[higher] - grades[lower]).to(scores.dtype))
    higher, lower, weight = (
        each.to(scores.device, non_blocking=True) for each in (higher, lower, weight)
    )
    return pairwise_logistic(scores[higher], scores[lower], weight)


def weighted_cross_entropy(logits: Tensor, labels: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean of the binary cross-entropy (Mohan et al., BioNLP 2017, section 4.6).

    Logits, labels (1 for relevant samples, 0 for others) and weights are [n].
    """
    from torch.nn import functional

    losses = functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (weight * losses).sum() / weight.sum()
