"""Runs: what every retriever and reranker returns, and the TREC files that carry them.

Names are imported when they are first used: the modules behind them load numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irplatform.runs.checks import validate_run as validate_run
    from irplatform.runs.run import Ranking as Ranking
    from irplatform.runs.run import Run as Run
    from irplatform.runs.trec import Problem as Problem
    from irplatform.runs.trec import read_run as read_run
    from irplatform.runs.trec import write_run as write_run

_MODULES = {
    "Problem": "trec",
    "Ranking": "run",
    "Run": "run",
    "read_run": "trec",
    "validate_run": "checks",
    "write_run": "trec",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
