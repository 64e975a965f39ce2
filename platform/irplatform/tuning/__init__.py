"""Choosing options on training topics: `platform tune`.

`tune` reads as the story: try a design of settings on all topics, choose, and estimate by
cross-validation what the choice is worth.
"""

from irplatform.tuning.over import read_space
from irplatform.tuning.report import TuneReport
from irplatform.tuning.search import Outcome, Plan
from irplatform.tuning.tune import tune, usable_topics
from irplatform.tuning.tuned_system import TunedSystem

__all__ = [
    "Outcome",
    "Plan",
    "TuneReport",
    "TunedSystem",
    "read_space",
    "tune",
    "usable_topics",
]
