"""Runs: what every retriever and reranker returns, and the TREC files that carry them.

Names are imported when they are first used: the modules behind them load numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.system.packages import on_demand

if TYPE_CHECKING:
    from irplatform.runs.run import Ranking as Ranking
    from irplatform.runs.run import Run as Run
    from irplatform.runs.trec import Problem as Problem
    from irplatform.runs.trec import read_run as read_run
    from irplatform.runs.trec import write_run as write_run

__getattr__, __dir__, __all__ = on_demand(__name__)
