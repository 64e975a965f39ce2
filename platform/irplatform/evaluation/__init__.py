"""Scoring of runs: judgments and measures."""
