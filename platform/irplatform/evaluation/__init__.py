"""Scoring of runs: judgments, measures and significance."""
