"""Measures of trec_eval, one a file."""
