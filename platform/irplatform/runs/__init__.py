"""Runs: what every retriever and reranker returns, and the TREC files that carry them."""

from irplatform.runs.checks import validate_run
from irplatform.runs.run import Ranking, Run
from irplatform.runs.trec import Problem, read_run, write_run

__all__ = ["Problem", "Ranking", "Run", "read_run", "validate_run", "write_run"]
