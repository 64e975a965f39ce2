"""Finished runs: evaluated, compared, reported, fused, cited, verified, repeated."""
