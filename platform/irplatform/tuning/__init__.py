"""Choosing options on training topics: `platform tune`.

`tune` reads as the story: try a design of settings on all topics, choose, and estimate by
cross-validation what the choice is worth.
"""
