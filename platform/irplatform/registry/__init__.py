"""Finds plugins and resolves names to what they registered."""
