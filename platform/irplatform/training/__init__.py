"""Shared parts of trainable rerankers: a base class, sampling, losses, the loop, weight files.

Importing this package loads no torch.
"""

from irplatform.training.list_samplers import (
    Groups,
    GroupSampler,
    GroupSettings,
    Lists,
    ListSampler,
    ListSettings,
)
from irplatform.training.loop import (
    LoopSettings,
    StepSettings,
    run_loop,
)
from irplatform.training.neural import NeuralReranker
from irplatform.training.samplers import (
    Pairs,
    PairSampler,
    PairSettings,
    Points,
    PointSampler,
    PointSettings,
)
from irplatform.training.validation import Validator
from irplatform.training.weights import WeightFile

__all__ = [
    "GroupSampler",
    "GroupSettings",
    "Groups",
    "ListSampler",
    "ListSettings",
    "Lists",
    "LoopSettings",
    "NeuralReranker",
    "PairSampler",
    "PairSettings",
    "Pairs",
    "PointSampler",
    "PointSettings",
    "Points",
    "StepSettings",
    "Validator",
    "WeightFile",
    "run_loop",
]
