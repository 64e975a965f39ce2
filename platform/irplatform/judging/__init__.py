"""Judgments that are made here: pools, who judges them, and how well judges agree."""
