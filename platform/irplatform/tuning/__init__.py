"""Choosing options on training topics: `platform tune`."""
