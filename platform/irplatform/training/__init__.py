"""What trainable rerankers share: sampling, losses, the training loop, weight files.

Importing this package loads no torch; its functions do.
"""

from irplatform.training.loop import LoopSettings, Task, run_loop
from irplatform.training.sampling import Pairs, PairSampler, PairSettings
from irplatform.training.validation import Validator
from irplatform.training.weights import load_weights, save_weights

__all__ = [
    "LoopSettings",
    "PairSampler",
    "PairSettings",
    "Pairs",
    "Task",
    "Validator",
    "load_weights",
    "run_loop",
    "save_weights",
]
