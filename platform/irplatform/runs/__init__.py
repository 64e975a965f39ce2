"""Runs: what every retriever and reranker returns, and the TREC files that carry them.

Names are imported when they are first used: the modules behind them load numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.system.on_demand import on_demand

if TYPE_CHECKING:
    from irplatform.runs.run import Ranking as Ranking
    from irplatform.runs.run import Run as Run
    from irplatform.runs.trec import Problem as Problem
    from irplatform.runs.trec import read_run as read_run
    from irplatform.runs.trec import write_run as write_run

_MODULES = {
    "Problem": "irplatform.runs.trec",
    "Ranking": "irplatform.runs.run",
    "Run": "irplatform.runs.run",
    "read_run": "irplatform.runs.trec",
    "write_run": "irplatform.runs.trec",
}
__getattr__, __dir__ = on_demand(__name__, _MODULES)
