"""Postings on disk, searched by compiled code: Lucene's, copied, and those of sparse vectors.

`search` ranks documents for many topics. Its loops are in `kernel`, which numba compiles.
"""
