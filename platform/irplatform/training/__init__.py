"""Shared parts of trainable rerankers: a base class, sampling, losses, the loop, weight files.

Importing this package loads no torch.
"""
