"""Learned sparse vectors of texts: weights of a vocabulary's words, as SPLADE makes them."""
