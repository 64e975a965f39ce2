"""Measures that model a user, one a file; see `evaluation.user`."""
