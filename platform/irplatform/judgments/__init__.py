"""Judgments that are built rather than made by assessors: from click logs and citations."""
