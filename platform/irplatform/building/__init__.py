"""Judgments that are built rather than made by assessors: of clicks and citations."""
