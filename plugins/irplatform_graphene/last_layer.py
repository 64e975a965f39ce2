"""The weights of features in the last layer, found before the network is trained further.

Forty topics do not teach a network by gradient steps what a hundred features are worth: it learns
the topics by heart first. The weights of a linear model over the network's own score and the
features have one optimum, which an L2 penalty keeps away from single topics. So the last layer
starts there and the weights of features stay; training goes on with what the network can add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from irplatform.training.losses import centered, pairwise_weights

if TYPE_CHECKING:
    from irplatform.text.arrays import Float32, Float64, Int64
    from irplatform_graphene.network import GrapheneNetwork


_SPREAD = 2.0
"""Standard deviation of scores within a topic, which the losses' scale suits."""
_LEAST = 0.05
"""Share of a deviation that the network's own score keeps, to have something to train."""


def fit_last_layer(
    network: GrapheneNetwork,
    network_scores: Float32,
    features: Float32,
    grades: Float64,
    offsets: Int64,
    *,
    l2: float,
    seed: int,
) -> None:
    """Set the weights of features, and the scale of the network's own score where it has one.

    Args:
        network: whose last layer.
        network_scores: float32 [documents], scores by the network as it is, without features.
        features: float32 [documents, features], standardized.
        grades: float64 [documents].
        offsets: int64 [topics + 1], where the documents of each topic begin.
        l2: penalty on the squared weights.
        seed: of the choice of pairs.
    """
    values = centered(np.hstack([network_scores[:, None], features]), offsets)
    deviation = np.sqrt((values**2).mean(axis=0))
    usable = deviation > 1e-6
    values[:, usable] /= deviation[usable]
    values[:, ~usable] = 0
    weights = pairwise_weights(values, grades, offsets, l2=l2, seed=seed)
    weights *= _SPREAD / max(float((values @ weights).std()), 1e-9)
    weights[0] = max(weights[0], _LEAST)
    weights = np.where(usable, weights / np.where(usable, deviation, 1.0), 0.0)
    with torch.no_grad():
        if not usable[0]:
            pass  # the network's own scores are all the same, whatever their scale
        elif network.sizes.normalized:
            network.scale.mul_(float(weights[0]))
        else:
            weights = weights / weights[0]
        feature_weights = torch.from_numpy(weights[1:].astype(np.float32))
        network.feature_weights.copy_(feature_weights.to(network.feature_weights.device))
