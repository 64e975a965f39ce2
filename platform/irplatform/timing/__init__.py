"""How fast rerankers are on this machine: `platform bench rerankers`."""

from irplatform.timing.bench import BenchSettings, time_rerankers
from irplatform.timing.measure import Timing

__all__ = ["BenchSettings", "Timing", "time_rerankers"]
