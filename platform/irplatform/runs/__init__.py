"""Runs: what every retriever and reranker returns, and the TREC files that carry them."""

from irplatform.runs.run import Ranking, Run

__all__ = ["Ranking", "Run"]
